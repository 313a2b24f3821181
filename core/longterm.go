package core

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"hermes/core/config"
	"hermes/core/deadline"
	"hermes/core/provider"
	"hermes/core/recall"
	"hermes/core/tool"
	"hermes/core/tool/longterm"
)

// OpenRecall opens the long-term memory of a profile for one command. What it remembers is found by
// meaning when the settings name a model for embeddings.
func OpenRecall(ctx context.Context, c *config.Config) (*recall.Store, error) {
	known, _ := loadCatalogue(c.Paths()) // what is wrong with the files was said at the start
	set := provider.NewSet(modelSettings(c, known, "", false))
	e := &embedder{config: func() *config.Config { return c }, models: func() *provider.Set { return set }}
	return openRecall(ctx, c, recall.Options{Embedder: e})
}

func openRecall(ctx context.Context, c *config.Config, o recall.Options) (*recall.Store, error) {
	o.Namespace, o.TimeScale = c.Memory.Namespace, time.Duration(c.Memory.RecencyHours)*time.Hour
	return recall.Open(ctx, recallPath(c), o)
}

func recallPath(c *config.Config) string {
	return filepath.Join(c.Paths().Home, "memories", "recall.db")
}

// longTermPart is what was stored for good. Its file is opened when somebody first asks; from then
// on vectors are made beside the work, where a model for them is set up.
type longTermPart struct {
	a     *App
	mu    sync.Mutex
	store *recall.Store

	embedder *embedder
	vectors  follower
	kick     chan struct{} // something may need vectors

	told map[string]map[int64]bool // what was brought up unasked, by session
}

func (p *longTermPart) Start(context.Context) error {
	p.kick = make(chan struct{}, 1)
	p.embedder = &embedder{config: p.a.Config, models: func() *provider.Set { return p.a.Models.set.Load() }}
	return nil
}

func (p *longTermPart) Tools() []tool.Tool {
	return longterm.Tools(longterm.Deps{
		Open: func() (longterm.Store, error) { return p.openStore() },
		Settings: func() longterm.Settings {
			m := p.a.Config().Memory
			return longterm.Settings{Enabled: m.Recall, Ask: m.WriteApproval}
		},
	})
}

// openStore is safe for any goroutine. What is kept too long goes at the first opening.
func (p *longTermPart) openStore() (*recall.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store != nil {
		return p.store, nil
	}
	ctx := context.Background() // the store outlives the call
	c := p.a.opts.Config
	s, err := openRecall(ctx, c, recall.Options{
		Embedder: p.embedder, Changed: p.wakeEmbedding,
		Notice: func(text string) { p.a.log.Warn("long-term memory", "what", text) },
	})
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
	ctx, stop := context.WithCancel(ctx)
	p.vectors.startFollowing("vectors of long-term memory", stop, func() { p.embedMissing(ctx, s) })
	p.wakeEmbedding()
	return s, nil
}

// wakeEmbedding says that there may be work for embedMissing.
func (p *longTermPart) wakeEmbedding() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func (p *longTermPart) Changed(config.Change) { p.wakeEmbedding() }

const (
	embedStep    = 256
	firstPause   = time.Minute
	longestPause = 30 * time.Minute
)

// embedMissing makes the vectors that are missing, whenever something may be.
func (p *longTermPart) embedMissing(ctx context.Context, s *recall.Store) {
	wait := firstPause
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.kick:
		}
		made, err := s.Embed(ctx, embedStep)
		if made > 0 {
			p.a.log.Info("long-term memory: vectors made", "items", made)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			p.a.log.Warn("long-term memory: no vectors were made", "err", err, "again_in", wait)
			deadline.Sleep(ctx, wait)
			wait = min(2*wait, longestPause)
			p.wakeEmbedding()
		case made == embedStep:
			p.wakeEmbedding()
			wait = firstPause
		default:
			wait = firstPause
		}
	}
}

// LongTerm is what was stored for good.
func (a *App) LongTerm() (*recall.Store, error) { return a.longTerm.openStore() }

func (p *longTermPart) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store == nil {
		return nil
	}
	if err := p.vectors.stopFollowing(ctx,
		"vectors of long-term memory were still being made"); err != nil {
		return err
	}
	p.embedder.closeAll()
	return p.store.Close()
}
