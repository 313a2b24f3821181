package shell

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
)

func TestTheModelIsToldOfTheBackEnds(t *testing.T) {
	t.Parallel()
	p := &fake{list: []backend.Status{
		{Name: "default", Kind: "docker", Image: "python:3.12", Default: true, Selected: true, Mounts: []string{"/data:/data:ro"}},
		{Name: "box", Kind: "ssh", Image: "far.example"},
		{Name: "here", Kind: "local", Traits: event.Traits{Local: true}},
	}}
	spec := Terminal(New(Options{Pool: p})).Spec()
	for _, want := range []string{
		"default (docker python:3.12, the default), box (ssh far.example), here (this machine)",
	} {
		if !json.Valid(spec.Schema) || !strings.Contains(string(spec.Schema), want) {
			t.Errorf("schema without %q: %s", want, spec.Schema)
		}
	}
	for _, want := range []string{"A back end has files of its own", "- default sees of this machine only /data:/data:ro", "- box sees nothing of this machine"} {
		if !strings.Contains(spec.Description, want) {
			t.Errorf("description without %q: %s", want, spec.Description)
		}
	}
	p.list = p.list[2:]
	if spec := Terminal(New(Options{Pool: p})).Spec(); spec.Description != terminalDoc || strings.Contains(string(spec.Schema), "There are") {
		t.Error("this machine alone needs no words")
	}
}

func TestABackEndMayHaveTimesOfItsOwn(t *testing.T) {
	t.Parallel()
	p := &fake{list: []backend.Status{
		{Name: "default", Default: true, Selected: true}, {Name: "slow", Timeout: 20 * time.Minute}, {Name: "quick", Timeout: time.Minute},
	}}
	p.exec = func(context.Context, backend.Request) (backend.Result, error) {
		return backend.Result{Backend: "default"}, nil
	}
	run := runner(t, p, nil)
	for name, want := range map[string]time.Duration{"": 3 * time.Minute, "slow": 20 * time.Minute, "quick": time.Minute} {
		run("terminal", map[string]any{"command": "x", "backend": name})
		if p.got.Timeout != want {
			t.Errorf("%q: %v, want %v", name, p.got.Timeout, want)
		}
	}
	run("terminal", map[string]any{"command": "x", "backend": "slow", "timeout": 1100})
	if p.got.Timeout != 1100*time.Second {
		t.Errorf("a longer time than usual: %v", p.got.Timeout)
	}
}

// A back end that is taken down under a command ends the command, not the turn.
func TestAForcedStopIsNoInterrupt(t *testing.T) {
	t.Parallel()
	f := &fake{exec: func(context.Context, backend.Request) (backend.Result, error) {
		return backend.Result{Backend: "here", Interrupted: true, ExitCode: 130, Output: []byte("half"), Warnings: []string{"backend 'here': stopped by hand while this ran"}}, nil
	}}
	got := runner(t, f, nil)("terminal", map[string]any{"command": "x"})
	want(t, got, true, "half\n[stopped before it ended", "[warning: backend 'here': stopped by hand while this ran]")
	if got.Interrupted {
		t.Error("it counts as an interrupt by the person")
	}
}
