package core

import (
	"context"

	"hermes/core/audit"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/store"
)

// auditPart records what was decided, unless the settings say no.
type auditPart struct {
	quiet
	a      *App
	writer *audit.Writer
}

func (p *auditPart) Start(context.Context) error {
	c := p.a.opts.Config
	if err := c.Paths().Ensure(); err != nil {
		p.a.publishNotice(event.Warn, err.Error(), "what belongs there cannot be kept; HERMES_HOME or --home choose another folder")
	}
	if c.Security.AuditLog {
		p.writer = audit.Open(c.Paths().AuditDir, p.a.Bus, p.a.log)
		p.a.Gate.OnRecord(p.writer.Decided)
	}
	return nil
}

func (p *auditPart) Close(ctx context.Context) error {
	if p.writer == nil {
		return nil
	}
	return p.writer.Close(ctx)
}

// storePart is the database and the sessions in it.
type storePart struct {
	quiet
	a *App
}

func (p *storePart) Start(ctx context.Context) (err error) {
	a := p.a
	o := store.Options{Progress: a.rebuildProgress}
	if a.Store, err = store.Open(ctx, a.opts.Config.Paths().DB, o); err != nil {
		return err
	}
	a.Sessions = session.New(a.Store, a.Bus)
	return nil
}

func (p *storePart) Forget(session string) { p.a.open.Delete(session) }

func (p *storePart) Close(context.Context) error {
	if p.a.Store == nil {
		return nil
	}
	return p.a.Store.Close()
}

func (a *App) rebuildProgress(done, total int64) {
	a.Bus.Publish(event.Header{}, event.Progress{ID: "index", Label: "search index", Done: done, Total: total, Unit: "messages"})
}
