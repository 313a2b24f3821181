package stream

import (
	"testing"
	"time"

	"hermes/core/provider"
)

func TestWhatIsConfiguredWins(t *testing.T) {
	got := resolve(provider.Endpoint{})
	want := times{connect: 10 * time.Second, first: time.Minute, firstThinking: 5 * time.Minute, idle: 90 * time.Second, idleThinking: 5 * time.Minute}
	if got != want {
		t.Errorf("defaults: %+v", got)
	}
	got = resolve(provider.Endpoint{Timeouts: provider.Timeouts{FirstByte: time.Second, Idle: 2 * time.Second}})
	if got.first != time.Second || got.firstThinking != time.Second || got.idle != 2*time.Second || got.idleThinking != 2*time.Second {
		t.Errorf("configured: %+v", got)
	}
}

func TestWhoThinks(t *testing.T) {
	for _, c := range []struct {
		base, effort string
		want         bool
	}{
		{"https://api.openai.com/v1", "", false},
		{"https://api.openai.com/v1", "none", false},
		{"https://api.openai.com/v1", "high", true},
		{"http://127.0.0.1:11434/v1", "", true},
		{"http://localhost:1234/v1", "", true},
	} {
		p := newClient(provider.Endpoint{BaseURL: c.base}, nil, nil)
		if got := p.thinks(provider.Request{Effort: c.effort}); got != c.want {
			t.Errorf("%s with effort %q: %v", c.base, c.effort, got)
		}
	}
}
