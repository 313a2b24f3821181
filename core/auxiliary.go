package core

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/provider"
	"hermes/core/secret"
	"hermes/core/session"
)

// errand is a piece of work for a model beside the conversation: no tools, no history.
type errand struct {
	task    string // what it is for, where usage is summed up: "title", "approval"
	session string // "" for none
	system  string
	text    string
	most    int           // tokens of the answer
	bytes   int           // that are read of it; 0: all
	time    time.Duration // for all that is tried, when the settings say nothing
	again   bool          // an equal errand within an hour gets the same answer
	own     bool          // the session's own model stands in when no other one answers
}

// aside has a model do an errand: the one that the settings name for it, then its fallbacks, then
// the session's own. The error is that of every model that failed.
func (a *App) aside(ctx context.Context, m config.AuxiliaryModel, e errand) (string, error) {
	limit := m.Timeout
	if limit <= 0 {
		limit = e.time
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	refs := m.Refs()
	if e.own {
		ref, err := a.Agent.Model(ctx, e.session)
		if err != nil && len(refs) == 0 {
			return "", err
		}
		if err == nil {
			refs = append(refs, ref)
		}
	}
	var failed []error
	for _, ref := range refs {
		said, err := a.errandTo(ctx, ref, e)
		if err == nil {
			return said, nil
		}
		failed = append(failed, fmt.Errorf("%s: %w", ref, err))
		if ctx.Err() != nil {
			break
		}
		a.log.Info("a model beside the conversation failed", "task", e.task, "model", ref, "err", err)
	}
	if len(failed) == 0 {
		return "", errors.New("no model is set up for it")
	}
	return "", errors.Join(failed...)
}

// errandTo has one model do an errand. What it used is counted, and charged to the session.
func (a *App) errandTo(ctx context.Context, ref string, e errand) (string, error) {
	p, m, err := a.Models.Resolve(ctx, ref)
	if err != nil {
		return "", err
	}
	if p.Name() == provider.Offline {
		return "", errors.New("that is no language model")
	}
	r := provider.Request{
		Model: m.ID, System: e.system, Session: e.session, MaxTokens: e.most, Effort: m.Effort,
		Messages: []chat.Message{{Role: chat.RoleUser, Status: chat.StatusFinal, Text: secret.Clean(e.text)}},
	}
	key := answerKey(p.Name(), r)
	if said, ok := a.answers.find(key); ok && e.again {
		return said, nil
	}
	said, usage, err := hearOut(ctx, p, r, e.bytes)
	a.spentAside(ctx, e, p.Name(), m, usage)
	if err == nil && e.again {
		a.answers.keep(key, said)
	}
	return said, err
}

// hearOut is the text of an answer, the first bytes of it when bytes is not 0.
func hearOut(ctx context.Context, p provider.Provider, r provider.Request, bytes int) (string, chat.Usage, error) {
	var said strings.Builder
	var usage chat.Usage
	for chunk, err := range p.Stream(ctx, r) {
		switch {
		case err != nil:
			return "", usage, err
		case chunk.Kind == provider.ChunkText:
			said.WriteString(chunk.Text)
		case chunk.Kind == provider.ChunkEnd:
			usage = chunk.Usage
		}
		if bytes > 0 && said.Len() > bytes {
			break // more is no answer to what was asked
		}
	}
	if strings.TrimSpace(said.String()) == "" && ctx.Err() == nil {
		return "", usage, errors.New("it answered with nothing")
	}
	return said.String(), usage, ctx.Err()
}

// spentAside charges an errand to its session.
func (a *App) spentAside(ctx context.Context, e errand, name string, m provider.Model, u chat.Usage) {
	if e.session == "" || u.Empty() {
		return
	}
	ctx = context.WithoutCancel(ctx)
	err := a.Sessions.CountUsage(ctx, e.session, session.Spent{Provider: name, Model: m.ID, Purpose: e.task, Usage: m.Charge(u)})
	if err != nil {
		a.log.Warn("what a model beside the conversation used was not counted", "session", e.session, "task", e.task, "err", err)
	}
}

// answers are what models said to errands that may be asked again, in memory only.
type answers struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]answer
	now  func() time.Time // nil: the clock
}

type answer struct {
	text string
	at   time.Time
}

const (
	answerTime = 3600 * time.Second
	maxAnswers = 500
)

// answerKey stands for everything that an answer depends on.
func answerKey(provider string, r provider.Request) [sha256.Size]byte {
	r.Session = ""
	data, err := json.Marshal([]any{provider, r.Model, r.System, r.Messages, r.MaxTokens, r.Effort})
	if err != nil {
		panic(err) // plain texts and numbers
	}
	return sha256.Sum256(data)
}

func (a *answers) clock() time.Time {
	if a.now != nil {
		return a.now()
	}
	return time.Now()
}

func (a *answers) find(key [sha256.Size]byte) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x, ok := a.kept[key]
	if !ok || a.clock().Sub(x.at) >= answerTime {
		return "", false
	}
	return x.text, true
}

// keep drops what is too old, and the oldest when there are too many.
func (a *answers) keep(key [sha256.Size]byte, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil {
		a.kept = map[[sha256.Size]byte]answer{}
	}
	now := a.clock()
	type aged struct {
		key [sha256.Size]byte
		at  time.Time
	}
	var ages []aged
	for k, x := range a.kept {
		if now.Sub(x.at) >= answerTime {
			delete(a.kept, k)
			continue
		}
		ages = append(ages, aged{k, x.at})
	}
	if len(ages) >= maxAnswers {
		oldest := slices.MinFunc(ages, func(x, y aged) int { return x.at.Compare(y.at) })
		delete(a.kept, oldest.key)
	}
	a.kept[key] = answer{text: text, at: now}
}
