// Package workbench puts the screen and the program together: it boots the App behind the first
// frame and adapts it to the few methods that each pane asks for. It is wiring; rules live in core,
// drawing lives in ui and panes.
package workbench

import (
	"context"
	"sync"
	"time"

	"hermes/core"
	"hermes/core/crash"
)

// booting is an App that is still being opened. The first frame does not wait for it; what a person
// asks for does.
type booting struct {
	done chan struct{}
	app  *core.App
	err  error
	once sync.Once

	written written
}

// startBoot opens the App in the background.
func startBoot(ctx context.Context, o core.Options, ready func(*core.App, error)) *booting {
	b := &booting{done: make(chan struct{})}
	crash.Go("open", func() {
		b.app, b.err = core.Open(ctx, o)
		close(b.done)
		ready(b.app, b.err)
	})
	return b
}

// waitForApp waits for the App.
func (b *booting) waitForApp(ctx context.Context) (*core.App, error) {
	select {
	case <-b.done:
		return b.app, b.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// appIfReady returns the App if it is there.
func (b *booting) appIfReady() (*core.App, bool) {
	select {
	case <-b.done:
		return b.app, b.err == nil
	default:
		return nil, false
	}
}

// doInApp waits for the App and does something with it.
func (b *booting) doInApp(ctx context.Context, f func(*core.App) error) error {
	_, err := readFrom(ctx, b, func(app *core.App) (struct{}, error) { return struct{}{}, f(app) })
	return err
}

// readFrom waits for the App and reads something from it.
func readFrom[T any](ctx context.Context, b *booting, f func(*core.App) (T, error)) (none T, _ error) {
	app, err := b.waitForApp(ctx)
	if err != nil {
		return none, err
	}
	return f(app)
}

// quick bounds what a pane asks outside of a command: these calls touch at most one small row.
const quick = 2 * time.Second

// doQuickly is doInApp for what the event loop waits for.
func (b *booting) doQuickly(f func(context.Context, *core.App) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), quick)
	defer cancel()
	return b.doInApp(ctx, func(app *core.App) error { return f(ctx, app) })
}

// closeApp ends the App once it is open.
func (b *booting) closeApp(ctx context.Context) (err error) {
	b.once.Do(func() {
		app, openErr := b.waitForApp(ctx)
		if openErr != nil || app == nil {
			return
		}
		err = app.Close(ctx)
	})
	return err
}
