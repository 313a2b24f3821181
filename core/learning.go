package core

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/learn"
	"hermes/core/skill"
	"hermes/core/store"
)

// OpenLearning returns what was learned in a data folder, for the command line: it asks no model.
func OpenLearning(c *config.Config, lib *skill.Library) *learn.Learner {
	return learn.New(learningOptions(c.Paths(), lib, func() *config.Config { return c }))
}

func learningOptions(paths config.Paths, lib *skill.Library, now func() *config.Config) learn.Options {
	const day = 24 * time.Hour
	return learn.Options{
		Dir: filepath.Join(paths.Home, "learning"), Library: lib,
		Settings: func() learn.Settings {
			s := now().Learning
			return learn.Settings{
				Mode: learn.Mode(s.Mode), Calls: s.Calls, Alike: s.Alike, Every: s.Every, Open: s.MaxOpen, PerDay: s.MaxReviews, Cost: s.MaxCost, Share: s.MaxShare,
				Stale: time.Duration(s.StaleDays) * day, Archived: time.Duration(s.ArchDays) * day, Pinned: s.Pinned,
			}
		},
	}
}

// learnPart makes skills of experience, beside everything else. It starts before the agent, so that
// it hears the end of the last turn.
type learnPart struct {
	quiet
	follower
	a       *App
	scripts *scriptsPart
}

const (
	learnTask   = "learn" // where usage is summed up
	learnTokens = 2000
	learnBytes  = 64 << 10
	learnTime   = 2 * time.Minute
)

func (p *learnPart) Start(context.Context) error {
	a := p.a
	o := learningOptions(a.opts.Config.Paths(), a.Skills, a.Config)
	o.Ask, o.Spent, o.Log, o.Try = p.askModel, p.spentToday, a.log, p.tryCheck
	o.Wait = a.opts.Brief
	o.Publish = func(h event.Header, e event.Event) { a.Bus.Publish(h, e) }
	a.Learn = learn.New(o)
	box := a.Bus.Subscribe(event.Limits{})
	ctx, stop := context.WithCancel(context.Background())
	p.startFollowing("learn", stop, func() { a.Learn.Follow(ctx, box) })
	return nil
}

func (p *learnPart) askModel(ctx context.Context, uid, system, text string) (string, error) {
	return p.a.runErrand(ctx, p.a.Config().Auxiliary.Learning, errand{
		task: learnTask, session: uid, system: system, text: text, most: learnTokens, bytes: learnBytes, time: learnTime, own: true,
	})
}

// spentToday is what models cost today.
func (p *learnPart) spentToday(ctx context.Context) (out learn.Spent, err error) {
	year, month, day := time.Now().Date()
	rows, err := p.a.Store.UsageBy(ctx, store.UsagePurpose, store.UsageFilter{Since: time.Date(year, month, day, 0, 0, 0, 0, time.Local)})
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		out.All += r.Usage.Cost
		if cmp.Or(r.Key, r.Name) == learnTask {
			out.Reviews += r.Usage.Cost
		}
	}
	return out, nil
}

func (p *learnPart) Close(ctx context.Context) error {
	return p.stopFollowing(ctx, "what was learned was still being written")
}

// Learning is what was learned.
func (a *App) Learning() *learn.Learner { return a.Learn }
