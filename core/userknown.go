package core

import (
	"context"
	"sync"
	"time"

	"hermes/core/agent"
	"hermes/core/crash"
	"hermes/core/usermodel"
)

// userPart counts what a person's messages tell of them, beside the turns.
type userPart struct {
	quiet
	a     *App
	store *usermodel.Store
	work  sync.WaitGroup
}

func (p *userPart) Start(context.Context) error {
	p.store = usermodel.New(p.a.opts.Config.Paths().Home)
	return nil
}

// takeMessage takes a message that was sent.
func (p *userPart) takeMessage(uid string, in agent.Input) {
	if !in.From.IsPerson() || !p.a.Config().Memory.UserProfile {
		return
	}
	text := in.Text
	if in.Own != nil {
		text = *in.Own
	}
	p.work.Add(1)
	crash.Go("user model", func() {
		defer p.work.Done()
		if err := p.store.Observe(uid, text, time.Now()); err != nil {
			p.a.log.Warn("the user model was not kept", "err", err)
		}
	})
}

// promptText is what a new session's prompt says of the person.
func (p *userPart) promptText(session string) string {
	if !p.a.Config().Memory.UserProfile {
		return ""
	}
	m, err := p.store.Load()
	if err != nil {
		p.a.log.Warn("the user model is left out of the prompt", "err", err)
		return ""
	}
	return m.Prompt(session)
}

func (p *userPart) Close(context.Context) error {
	p.work.Wait() // a write of a small file
	return nil
}

// UserModel is what is known of the person.
func (a *App) UserModel() *usermodel.Store { return a.user.store }
