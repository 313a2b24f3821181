package code

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/tool"
)

// hasPython asks a back end that is up.
func (r *runner) hasPython(ctx context.Context, session, name string) (has, asked bool) {
	res, err := r.o.Pool.Exec(ctx, backend.Request{
		Session: session, Backend: name, Command: "command -v python3 >/dev/null", Timeout: 10 * time.Second,
	})
	return res.ExitCode == 0, err == nil && res.Backend == name
}

// whoHasPython says that a back end has no Python, and which ones have. Those that are not up are
// not started for it.
func (r *runner) whoHasPython(ctx context.Context, c tool.Call, name string) string {
	var have, unknown []string
	for _, b := range r.o.Pool.List(c.Session) {
		switch {
		case b.Name == name:
		case b.Traits.Local:
			if _, err := r.o.Engine.Probe(ctx, ""); err == nil {
				have = append(have, b.Name)
			}
		case b.State != event.BackendReady || !b.Traits.Isolated:
			unknown = append(unknown, b.Name)
		default:
			if has, asked := r.hasPython(ctx, c.Session, b.Name); has && asked {
				have = append(have, b.Name)
			}
		}
	}
	text := fmt.Sprintf("there is no python3 in back end '%s'.", name)
	if len(have) > 0 {
		text += fmt.Sprintf(" There is one in: %s (backend=...).", strings.Join(have, ", "))
	}
	if len(unknown) > 0 {
		text += fmt.Sprintf(" Not looked at, because they are not up: %s.", strings.Join(unknown, ", "))
	}
	if len(have)+len(unknown) == 0 {
		text += " No other back end is configured: an image with Python is needed" + c.Advise(", or `terminal` does it without") + "."
	}
	return text
}
