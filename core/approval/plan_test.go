package approval

import (
	"strings"
	"testing"

	"hermes/core/event"
)

// Who wants a plan is asked nothing: what reads runs, the rest is refused with words that ask for
// the plan.
func TestWhilePlanningOnlyWhatReadsRuns(t *testing.T) {
	d := newDesk()
	g := New(Policy{Mode: ModePlan, Level: LevelSensitive, Allow: []string{"make all"}}, nil)
	for cmd, runs := range map[string]bool{"ls -la": true, "git status": true, "touch x": false, "go test ./...": false, "make all": false, "rm x": false} {
		v, asked := decide(t, g, d, shell(d, cmd), event.DecisionSession)
		if v.Allowed != runs || asked {
			t.Errorf("%s: allowed %v, asked %v", cmd, v.Allowed, asked)
		}
		if !runs && !strings.Contains(v.Text, "a plan first") {
			t.Errorf("%s: the model reads %q", cmd, v.Text)
		}
	}
	typed := shell(d, "touch x")
	typed.Prompt = "$ touch x"
	if v, _ := decide(t, g, d, typed, event.DecisionOnce); !v.Allowed || v.By != event.ByUser {
		t.Errorf("the person's own command: %+v", v)
	}
	g.SetPolicy(Policy{Level: LevelRead})
	if v, _ := decide(t, g, d, shell(d, "touch x"), event.DecisionSession); !v.Allowed {
		t.Fatalf("%+v", v)
	}
	g.SetPolicy(Policy{Mode: ModePlan})
	if v, _ := decide(t, g, d, shell(d, "touch x"), event.DecisionOnce); v.Allowed {
		t.Error("what was allowed for the session before runs while planning")
	}
}
