package learn

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/skills"
)

const bakeEvals = `{"skill_name": "bake", "evals": [{"id": 7, "prompt": "Bake it.", "check": {
	"setup": ["mkdir oven"], "with": ["Heat."], "without": ["Eat."], "verify": ["test -e oven"]}}]}`

// toCheck has a learned skill with a check of its own and a model that proposes a change of a line.
// Try says how the check ends with a text that has this in it.
func toCheck(t *testing.T, from, to string, try func(Trial) (int, error)) *desk {
	t.Helper()
	d, _ := baked(t, Auto)
	dir := d.o.Library.Catalog(t.Context(), "").Find("bake").Dir
	if err := os.MkdirAll(filepath.Join(dir, "evals"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, skills.EvalsFile), []byte(bakeEvals), 0o600); err != nil {
		t.Fatal(err)
	}
	d.o.Library.Changed()
	raw, err := d.ownText("bake").read()
	if err != nil {
		t.Fatal(err)
	}
	d.o.Try = func(_ context.Context, x Trial) (int, error) { return try(x) }
	line := 0
	for i, l := range splitLines(string(raw)) {
		if strings.TrimSpace(l) == from {
			line = i + 1
		}
	}
	d.says = func(string) (string, error) {
		return `{"do": "change", "why": "It was better so.", "deltas": [{"op": "replace", "line": ` + strconv.Itoa(line) + `, "was": "` + from + `", "text": "` + to + `"}]}`, nil
	}
	d.turn(20, "bake bread, make test has to pass", "make test", 1, event.TurnEnded{})
	if err := d.file.editState(func(st *state) error {
		st.Due = []Due{{
			Kind: "change", Skill: "bake",
			Experiences: []string{st.findTurn(named("t20")).ID},
		}}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

// checked is toCheck after the review.
func checked(t *testing.T, from, to string, try func(Trial) (int, error)) (*desk, *Proposal) {
	t.Helper()
	d := toCheck(t, from, to, try)
	p, err := d.ReviewNext(context.Background(), true)
	if err != nil || p == nil || len(p.Checks) != 1 {
		t.Fatalf("%+v %v", p, err)
	}
	return d, p
}

// A review whose time is over while its checks run proposes nothing, and is done again later.
func TestAReviewThatEndsDuringItsChecksIsDoneAgain(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	d := toCheck(t, "2. Wait.", "2. Wait long.", func(Trial) (int, error) {
		stop()
		return 0, errors.New("it was interrupted")
	})
	if p, err := d.ReviewNext(ctx, true); p != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v %v", p, err)
	}
	d.o.Try = func(context.Context, Trial) (int, error) { return 0, nil }
	p, err := d.ReviewNext(context.Background(), true)
	if err != nil || p == nil || p.State != StateAccepted {
		t.Errorf("%+v %v", p, err)
	}
}

// A version that fails a check of its skill which the one before passed is not activated unasked,
// and the proposal says so; one that passes is.
func TestAVersionThatFailsWhatTheOldPassedWaits(t *testing.T) {
	t.Parallel()
	passes := func(Trial) (int, error) { return 0, nil }
	fails := func(Trial) (int, error) { return 1, nil }
	calls := 0
	worse := func(x Trial) (int, error) { calls++; return calls - 1, nil }
	none := func(Trial) (int, error) { return 0, errors.New("this machine cannot keep a check in") }
	for what, c := range map[string]struct {
		from, to string
		try      func(Trial) (int, error)
		state    State
		says     string
	}{
		"passes":         {"2. Wait.", "2. Wait long.", passes, StateAccepted, "check 7 (Bake it.): passes before, passes now"},
		"failed before":  {"2. Wait.", "2. Wait long.", fails, StateAccepted, "fails before, fails now"},
		"fails now":      {"2. Wait.", "2. Wait long.", worse, StateOpen, "passes before, fails now"},
		"drops the line": {"1. Heat.", "1. Cool.", passes, StateOpen, "passes before, fails now: the text does not say Heat."},
		"not run":        {"2. Wait.", "2. Wait long.", none, StateOpen, "not run before, not run now: this machine cannot keep a check in"},
	} {
		calls = 0
		d, p := checked(t, c.from, c.to, c.try)
		if p.State != c.state || !strings.Contains(p.Checks[0].Words(), c.says) {
			t.Errorf("%s: %s, %s", what, p.State, p.Checks[0].Words())
		}
		if p.State != StateOpen {
			continue
		}
		raw, err := d.ownText("bake").read()
		if err != nil || strings.Contains(string(raw), "long") {
			t.Errorf("%s: it is active all the same: %v\n%s", what, err, raw)
		}
		if _, err := d.Accept(context.Background(), p.ID, "auto", nil); err == nil {
			t.Errorf("%s: it is carried out unasked", what)
		}
		if _, err := d.Accept(context.Background(), p.ID, "user", nil); err != nil {
			t.Errorf("%s: the person cannot have it: %v", what, err)
		}
	}
}

// Ablation counts turns with and without a skill, and runs its checks both ways.
func TestAblation(t *testing.T) {
	t.Parallel()
	d, _ := checked(t, "2. Wait.", "2. Wait long.", func(x Trial) (int, error) {
		if strings.Contains(x.Script, "Eat.") {
			return 1, nil
		}
		return 0, nil
	})
	raw, err := d.ownText("bake").read()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		d.turn(30+i, "bake bread, make test has to pass", "make test", 0, event.TurnEnded{})
		if err := d.file.editState(func(st *state) error {
			x := &st.Experiences[len(st.Experiences)-1]
			x.Skills = []Loaded{{Name: "bake", Hash: skills.HashOf(raw)}}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := d.Ablate(context.Background(), "bake")
	if err != nil || len(a.Checks) != 1 || a.Checks[0].With != Passes || a.Checks[0].Without != Fails || a.With.Good != 4 || a.Other.Good != 3 || a.Other.Bad != 1 || a.Better == nil {
		t.Errorf("%+v %v", a, err)
	}
	if words := strings.Join(a.Words(), "\n"); !strings.Contains(words, "passes with the skill, fails without it") || !strings.Contains(words, "turns that used it: 4 good, 0 bad, 0 unknown") {
		t.Error(words)
	}
	if _, err := d.Ablate(context.Background(), "no-such-skill"); err == nil {
		t.Error("a skill that is not there was ablated")
	}
}
