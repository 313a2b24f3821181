package core

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
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
	parts   []chat.Part             // that belong to the text
	fit     func(said string) error // why an answer is of no use; nil: every one will do
	most    int                     // tokens of the answer
	bytes   int                     // that are read of it; 0: all
	time    time.Duration           // for all that is tried, when the settings say nothing
	again   bool                    // an equal errand within an hour gets the same answer
	own     bool                    // the session's own model stands in when no other one answers
}

// runErrand has a model do an errand: the one that the settings name for it, then its fallbacks,
// then the session's own, each with the retries and keys of a turn. The error is that of every
// model that failed.
func (a *App) runErrand(ctx context.Context, m config.AuxiliaryModel, e errand) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(max(0, m.Timeout), e.time))
	defer cancel()
	refs, own := m.Refs(), ""
	if e.own {
		ref, err := a.Agent.Model(ctx, e.session)
		if err != nil && len(refs) == 0 {
			return "", err
		}
		own = ref
	}
	key := answerKey(e, refs, own)
	if said, ok := a.answers.findFresh(key); ok && e.again {
		return said, nil
	}
	said, _, err := a.runAlongModels(ctx, e, refs, own)
	if err == nil && e.again {
		a.answers.keepAnswer(key, said)
	}
	return said, err
}

// runAlongModels does an errand along models, and tells which of them did it. What was used is
// counted, and charged to the session.
func (a *App) runAlongModels(ctx context.Context, e errand, refs []string, own string) (said, ref string, err error) {
	tries := cmp.Or(a.Config().Agent.APIMaxRetries, -1) // as in a turn
	route, err := a.Models.Aside(ctx, refs, own, tries)
	if err != nil {
		return "", "", err
	}
	defer route.Close()
	said, err = route.Run(ctx, provider.Errand{
		Bytes: e.bytes, Fit: e.fit,
		Request: func(l provider.Leg) provider.Request {
			return provider.Request{
				Model: l.Model.ID, System: e.system, Session: e.session, MaxTokens: e.most, Effort: l.Model.Effort,
				Messages: []chat.Message{{Role: chat.RoleUser, Status: chat.StatusFinal, Text: secret.Clean(e.text), Parts: e.parts}},
			}
		},
		Spent: func(l provider.Leg, u chat.Usage) { a.spentAside(ctx, e, l.Provider.Name(), l.Model, u) },
		Left: func(s provider.Step) {
			a.log.Info("a model beside the conversation failed", "task", e.task, "model", s.From.Ref(), "err", s.Cause, "again", s.Again)
		},
	})
	return said, route.Leg().Ref(), err
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
func answerKey(e errand, refs []string, own string) [sha256.Size]byte {
	data, err := json.Marshal([]any{e.task, refs, own, e.system, e.text, e.most})
	if err != nil {
		panic(err) // plain texts and numbers
	}
	return sha256.Sum256(data)
}

func (a *answers) timeNow() time.Time {
	if a.now != nil {
		return a.now()
	}
	return time.Now()
}

func (a *answers) findFresh(key [sha256.Size]byte) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x, ok := a.kept[key]
	if !ok || a.timeNow().Sub(x.at) >= answerTime {
		return "", false
	}
	return x.text, true
}

// keepAnswer drops what is too old, and the oldest when there are too many.
func (a *answers) keepAnswer(key [sha256.Size]byte, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil {
		a.kept = map[[sha256.Size]byte]answer{}
	}
	now := a.timeNow()
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
