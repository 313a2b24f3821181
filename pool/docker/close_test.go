package docker

import (
	"context"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
)

// Whenever a program ends, in the middle of a first use too: nothing of it stays.
func TestClosingInTheMiddleOfAStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	img := dockertest.Busybox(t)
	for i := range 12 {
		p, err := pool.New(pool.Config{Kind: Name, Backends: map[string]pool.Spec{"default": {Image: img}}}, map[string]pool.Kind{Name: r.kind}, r.bus)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = p.Exec(context.Background(), backend.Request{Session: "s", Command: "true"}) }()
		time.Sleep(time.Duration(i) * 40 * time.Millisecond)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		list, err := r.kind.List(t.Context())
		if err != nil || len(list) != 0 {
			t.Errorf("closed after %d ms: %v %+v", i*40, err, list)
		}
	}
}
