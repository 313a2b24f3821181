package kindtest

import (
	"context"
	"runtime"
	"testing"
	"time"

	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/conformance"
	"hermes/pool/kinds"
	"hermes/pool/runner"
)

const (
	grace    = 400 * time.Millisecond
	patience = testwait.Hang
)

// A kind that is one package and one registration behaves like every other.
func TestConformance(t *testing.T) {
	t.Cleanup(kinds.Register(Declared(), func(string) pool.Kind { return New(runner.Options{Grace: grace}) }))
	conformance.RunBehaviour(t, func(t testing.TB) conformance.Place {
		home, root := t.TempDir(), t.TempDir()
		c, problems := config.Load(config.Options{Home: home, Flags: map[string]string{"terminal.backends.shelf.root": root}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		p, err := kinds.Open(event.NewBus(), c, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := p.Close(ctx); err != nil {
				t.Error(err)
			}
		})
		return conformance.Place{
			Pool: p, Backend: "shelf", Grace: grace, Fresh: t.TempDir, Sweeps: runtime.GOOS == "linux", Home: root + "/s1/shelf",
		}
	})
}
