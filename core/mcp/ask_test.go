package mcp

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
)

// What the program asks of a server is answered whether the agent is told of the tool or not.
func TestAsk(t *testing.T) {
	p := newPlace(t)
	s := program("one", "honest")
	s.Tools.Exclude = []string{"*"}
	p.Apply(entries(s))
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
	defer cancel()
	text, err := p.Ask(ctx, "one", "echo", []byte(`{"a":1}`))
	if text != `{"a":1}` || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if n := len(p.List()[0].Tools); n > 0 {
		t.Errorf("the agent is told of %d tools", n)
	}
	for tool, want := range map[string]string{"fail": "no luck", "nothing": "nothing"} {
		if _, err := p.Ask(ctx, "one", tool, []byte(`{}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if _, err := p.Ask(ctx, "two", "echo", nil); err == nil {
		t.Error("there is no such server")
	}
}

// A plugin that does not answer is ended; after some failures in a row it is stopped and says why.
func TestPluginsAreStopped(t *testing.T) {
	for kind, why := range map[string]string{"hangs": "did not answer", "exits": "SOME_KEY"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			s := program("bad", kind)
			s.Plugin, s.Tries = true, 3
			p.Apply(entries(s))
			for st, _ := p.Status("bad"); st.State != StateFailed; st, _ = p.Status("bad") {
				ctx, cancel := context.WithTimeout(t.Context(), testwait.Within(2*time.Second))
				if text, err := p.Ask(ctx, "bad", "hang", []byte(`{}`)); err == nil {
					t.Errorf("it said %q", text)
				}
				cancel()
			}
			st, err := p.Status("bad")
			if err != nil || !strings.Contains(st.LastError, why) || !strings.Contains(st.LastError, "after 3 failures") {
				t.Errorf("%+v %v", st, err)
			}
			if n := p.pool.living(); n > 0 {
				t.Errorf("%d programs are left", n)
			}
		})
	}
}
