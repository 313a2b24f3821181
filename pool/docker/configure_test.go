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
)

// Settings that change while the program runs: what they did not change stays, what they did is
// made anew, once nobody uses it.
func TestSettingsThatChange(t *testing.T) {
	testskip.Long(t, "real containers")
	r := newRig(t)
	image := dockertest.Busybox(t)
	settings := func(change func(*pool.Spec)) pool.Config {
		s := pool.Spec{Options: &Settings{Image: image}}
		if change != nil {
			change(&s)
		}
		return pool.Config{Kind: Name, IdleTTL: -1, Backends: map[string]pool.Spec{"default": {Options: &Settings{Image: image}}, "a": s}}
	}
	p, err := pool.New(settings(nil), map[string]pool.Kind{Name: r.kind}, r.bus)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	defer func() {
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	run := func(command string) backend.Result {
		t.Helper()
		res, err := p.Exec(ctx, backend.Request{Session: "s", Backend: "a", Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	run("echo kept > /kept")
	if err := p.Configure(settings(func(s *pool.Spec) { s.IdleTTL = time.Hour })); err != nil {
		t.Fatal(err)
	}
	if res := run("cat /kept"); string(res.Output) != "kept\n" {
		t.Errorf("another idle time: %q, %q", res.Output, res.Warnings)
	}
	if err := p.Configure(settings(func(s *pool.Spec) { own(s).Network = "none" })); err != nil {
		t.Fatal(err)
	}
	res := run("ls /kept /sys/class/net")
	if strings.Contains(string(res.Output), "eth0") || !strings.Contains(string(res.Output), "lo") || len(res.Warnings) == 0 {
		t.Errorf("another network: %q, %q", res.Output, res.Warnings)
	}
	if err := p.Configure(pool.Config{Kind: Name, Backends: map[string]pool.Spec{"default": {Options: &Settings{Image: image}}}}); err != nil {
		t.Fatal(err)
	}
	run("echo default runs it")
}
