package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/event"
	"hermes/themes"
	"hermes/ui/cli/base"
	"hermes/ui/progress"
	"hermes/ui/style"
	"hermes/ui/text"
)

// advance shows what happens to back ends while a command waits for them.
type advance struct {
	w     *poolWork
	bars  bool
	meter progress.Meter
	drawn bool
	last  int // percent of the newest line
	lines time.Time
}

func (a *advance) showEvent(e event.Envelope) {
	switch x := e.Event.(type) {
	case event.BackendChanged:
		if x.From == x.To || e.Session != "" && e.Session != a.w.session {
			return
		}
		a.clearBar()
		a.w.c.Note("%s: %s%s", x.Name, x.To, causeText(x.Cause))
	case event.Progress:
		if len(x.ID) > 5 && x.ID[:5] == "pull:" {
			a.showProgress(e.At, x)
		}
	}
}

func causeText(cause string) string {
	if cause == "" {
		return ""
	}
	return ", " + base.OneLine(cause)
}

// showProgress draws a bar over the last one, or writes a line for every tenth.
func (a *advance) showProgress(at time.Time, p event.Progress) {
	if p.ID != a.meter.Last.ID {
		a.meter, a.last = progress.Meter{}, -10
	}
	a.meter.Add(at, p)
	if a.bars {
		t, err := themes.Load(themes.DefaultDark)
		if err != nil {
			return
		}
		s := style.New(t, style.Detect(a.w.c.Getenv), style.DetectASCII(a.w.c.Getenv))
		fmt.Fprint(a.w.c.Streams.Err, "\r\x1b[K"+text.Fit(a.meter.Line(s, 78), 78))
		a.drawn = true
		return
	}
	n, known := a.meter.Percent()
	if known && n >= a.last+10 || !known && at.Sub(a.lines) > 5*time.Second {
		a.last, a.lines = n, at
		words := ""
		for _, part := range a.meter.Parts() {
			words += ", " + part
		}
		a.w.c.Note("%s: pulling%s", p.ID[5:], words)
	}
}

// clearBar takes the bar away.
func (a *advance) clearBar() {
	if a.drawn {
		fmt.Fprint(a.w.c.Streams.Err, "\r\x1b[K")
		a.drawn = false
	}
}

func (c *command) poolEvents(f *poolFlags) *cobra.Command {
	var up []string
	cmd := &cobra.Command{
		Use: "events", Short: "Follow what happens to the back ends of this process, a JSON object a line", Args: cobra.NoArgs,
		Long: `Follow what happens to the back ends of this process, a JSON object a line, until ctrl+c: changes of state with their causes, pulls, load.
With --up it starts back ends itself and keeps them, as "pool up" does. A workbench shows its own in the pane of the back ends.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withPool(cmd, f, func(ctx context.Context,
				w *poolWork,
			) error {
				return w.printEvents(ctx, up)
			})
		},
	}
	cmd.Flags().StringSliceVar(&up, "up", nil, "start these back ends and keep them up")
	_ = cmd.RegisterFlagCompletionFunc("up", c.completeBackends)
	return cmd
}

func (w *poolWork) printEvents(ctx context.Context, names []string) error {
	box := w.app.Events().Subscribe(event.Limits{})
	defer box.Close()
	for _, s := range w.pool.List(w.session) { // where everything begins
		e := event.Envelope{Header: event.Header{At: time.Now(), Session: w.session}, Event: event.BackendChanged{Name: s.Name, Kind: s.Kind, From: s.State, To: s.State, Cause: s.Cause, Image: s.Image}}
		if err := base.WriteJSON(w.c.Streams.Out, e, false); err != nil {
			return err
		}
	}
	failures := make(chan error, 1)
	done := w.beginBeside(ctx, names, failures)
	defer done()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failures:
			return err
		case <-box.Ready():
		}
		for _, e := range box.Drain() {
			if !aboutBackends(e.Event) {
				continue
			}
			if err := base.WriteJSON(w.c.Streams.Out, e, false); err != nil {
				return err
			}
		}
	}
}

func aboutBackends(e event.Event) bool {
	switch e.(type) {
	case event.BackendChanged, event.BackendActivity, event.BackendStats, event.BackendSelected, event.Progress, event.ProcessEnded:
		return true
	default:
		return false
	}
}
