package docker

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/testskip"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
)

// Whenever a program ends, in the middle of a first use too: nothing of it stays.
func TestClosingInTheMiddleOfAStart(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	img := dockertest.Busybox(t)
	for i := range 12 {
		p, err := pool.New(pool.Config{Kind: Name, Backends: map[string]pool.Spec{"default": {Options: &Settings{Image: img}}}}, map[string]pool.Kind{Name: r.kind}, r.bus)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = p.Exec(context.Background(), backend.Request{Session: "s", Command: "true"}) }()
		time.Sleep(time.Duration(i) * 40 * time.Millisecond)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		list, err := r.kind.Leftovers(t.Context(), nil)
		if err != nil || len(list) != 0 {
			t.Errorf("closed after %d ms: %v %+v", i*40, err, list)
		}
	}
}

// TERM and INT for the first process are somebody's wish to stop the container: it ends in order,
// and the next use starts it again with its files.
func TestACommandCanStopItsContainer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, command := range []string{"kill -15 1", "kill -INT 1"} {
		b := r.open(command, pool.Spec{})
		up(t, b)
		id := b.conn.id
		output(t, b, "echo kept >/root/x")
		res, err := b.Run(t.Context(), runner.Spec{Command: command + "; sleep 60"})
		if err == nil && res.Signal != "SIGTERM" { // the end of the command may be told, or that nobody is there to tell it
			t.Errorf("%s: %+v", command, res)
		}
		if cause := lost(t, b); !strings.Contains(cause, "stopped behind our back (exit code 0)") {
			t.Errorf("%s: %s", command, cause)
		}
		up(t, b)
		if got := output(t, b, "cat /root/x"); got != "kept\n" || b.conn.id != id {
			t.Errorf("%s: %q in another container: %v", command, got, b.conn.id != id)
		}
	}
}
