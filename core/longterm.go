package core

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"hermes/core/config"
	"hermes/core/recall"
	"hermes/core/tool"
	"hermes/core/tool/longterm"
)

// OpenRecall opens the long-term memory of a profile. embedder may be nil: words only.
func OpenRecall(ctx context.Context, c *config.Config, embedder recall.Embedder) (*recall.Store, error) {
	return recall.Open(ctx, filepath.Join(c.Paths().Home, "memories", "recall.db"), recall.Options{
		Namespace: c.Memory.Namespace, TimeScale: time.Duration(c.Memory.RecencyHours) * time.Hour, Embedder: embedder,
	})
}

// longTermPart is what was stored for good. Its file is opened when somebody first asks.
type longTermPart struct {
	quiet
	a     *App
	mu    sync.Mutex
	store *recall.Store
}

func (p *longTermPart) Tools() []tool.Tool {
	return longterm.Tools(longterm.Deps{
		Open: func() (longterm.Store, error) { return p.open() },
		Settings: func() longterm.Settings {
			m := p.a.Config().Memory
			return longterm.Settings{Enabled: m.Recall, Ask: m.WriteApproval}
		},
	})
}

// open is safe for any goroutine. What is kept too long goes at the first opening.
func (p *longTermPart) open() (*recall.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store != nil {
		return p.store, nil
	}
	ctx := context.Background() // the store outlives the call
	c := p.a.opts.Config
	s, err := OpenRecall(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	keep := recall.Cleanup{MaxAge: time.Duration(c.Memory.RetentionDays) * 24 * time.Hour, KeepUsed: true}
	if gone, exported, err := s.CleanUp(ctx, keep); err != nil {
		p.a.log.Warn("long-term memory was not cleaned up", "err", err)
	} else if len(gone) > 0 {
		p.a.log.Info("long-term memory: expired", "items", len(gone), "exported", exported)
	}
	p.store = s
	return s, nil
}

// LongTerm is what was stored for good.
func (a *App) LongTerm() (*recall.Store, error) { return a.longTerm.open() }

func (p *longTermPart) Close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store == nil {
		return nil
	}
	return p.store.Close()
}
