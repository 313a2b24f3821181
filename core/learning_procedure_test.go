package core

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/core/learn"
	"hermes/core/learn/learntest"
	"hermes/skills"
)

const proposeLearn = "learning: {mode: propose, interval: 0s, max_reviews_per_day: 1000, max_open: 100}\n"

const mayImprove = "  improvement: {track_metrics: [success_rate, failed_steps], min_samples_for_update: 5}\n"

// ownProcedure writes a procedure into the person's folder.
func ownProcedure(x *program, text string) string {
	x.t.Helper()
	file := filepath.Join(x.Config().Paths().SkillsDir, "release_site.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.Skills.Changed()
	return file
}

// The loop closes on the wire for a procedure: a word that stands in one version of its YAML
// decides whether its runs come out well. After as many bad runs as it says itself a change is
// proposed, accepted, followed, and taken back after it did worse.
func TestTheLoopClosesForAProcedure(t *testing.T) {
	x, w, server := gatePlace(t, proposeLearn, learntest.Runner)
	defer x.close()
	wrong, second, third := learntest.NewWord(), learntest.NewWord(), learntest.NewWord()
	file := ownProcedure(x, learntest.Procedure(wrong, mayImprove))
	ctx, key := context.Background(), skills.ProcedureKey("release_site")
	turns := 0
	run := func(want bool) {
		t.Helper()
		turns++
		if release(x, fmt.Sprint("run", turns)) != want {
			t.Fatalf("run %d: want %v", turns, want)
		}
		judged(x, turns)
	}
	proposed := func(kind, why string, n int) learn.Proposal {
		t.Helper()
		e := wait(x, func(e event.LearnProposed) bool { return e.Kind == kind && e.ID == fmt.Sprint("p", n) })
		p, err := x.Learn.Find(e.ID)
		if err != nil || p.Skill != key || p.State != learn.StateOpen || !strings.Contains(p.Why, why) {
			t.Fatalf("%+v %v", p, err)
		}
		return p
	}
	accept := func(p learn.Proposal, version int) {
		t.Helper()
		if p, err := x.Learn.Accept(ctx, p.ID, "user", nil); err != nil || p.Version != version {
			t.Fatalf("%+v %v", p, err)
		}
	}
	w.Put(".gate", second)
	w.Put("told.txt", "the word is "+second)
	for range 4 {
		run(false)
	}
	if st, err := x.Learn.Status(ctx); err != nil || st.Due+st.Open > 0 {
		t.Fatalf("after four runs: %+v %v", st, err)
	}
	run(false)
	p := proposed(learn.KindChange, "The word of the gate has changed.", 1)
	if !strings.Contains(p.Diff, "+        command: ./release.sh "+second) || len(p.Sources) != 5 || p.Waits != "" {
		t.Fatalf("%+v", p)
	}
	run(false) // nothing was written unasked
	accept(p, 1)
	w.Drop("told.txt")
	for range 6 {
		run(true)
	}
	e := wait(x, func(e event.SkillLoaded) bool { return e.Version == 1 })
	if e.Name != key || e.By != "model" {
		t.Errorf("%+v", e)
	}
	ran := wait(x, func(e event.ProcedureRan) bool { return e.End == "done" })
	if ran.Hash != e.Hash || ran.Held != 1 || len(ran.Steps) != 3 || ran.Steps[1].Exit == nil {
		t.Errorf("%+v", ran)
	}
	w.Put(".gate", third)
	w.Put("told.txt", "the word is "+third)
	run(false) // the seventh judged run of this version, the first bad one
	accept(proposed(learn.KindChange, "The word of the gate has changed.", 2), 2)
	w.Drop("told.txt")
	run(true)
	w.Put(".gate", second) // now the change makes it worse, and nothing says why
	for range 6 {
		run(false)
	}
	back := proposed(learn.KindRollback, "worse with a probability of", 3)
	accept(back, 3)
	run(true)
	if text, err := os.ReadFile(file); err != nil || string(text) != learntest.Procedure(second, mayImprove) {
		t.Errorf("%v\n%s", err, text)
	}
	if h, err := x.Skills.Edits.History(key); err != nil || string(h.Text(0)) != learntest.Procedure(wrong, mayImprove) || string(h.Text(2)) != learntest.Procedure(third, mayImprove) {
		t.Errorf("the versions are not kept: %v", err)
	}
	seen := ""
	for _, r := range server.Requests() {
		if len(r.Tools) == 0 {
			seen += r.Messages[len(r.Messages)-1].Text()
		}
	}
	for _, want := range []string{"The procedure release_site, with line numbers", "step Open the gate: failed, exit code 1", "measured over its turns: success_rate 0 (5)"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the model was not shown %q:\n%s", want, seen)
		}
	}
}

// Without learning, without the section improvement, with the procedure switched off, pinned or
// refused for good, nothing is proposed and nothing works.
func TestProceduresAreLeftAlone(t *testing.T) {
	const turns = 7
	for what, arm := range map[string]struct {
		settings, more string
		counted        float64
	}{
		"off":            {strings.Replace(proposeLearn, "propose", "off", 1), mayImprove, 0},
		"no improvement": {proposeLearn, "", turns},
		"disabled":       {proposeLearn + "skills: {disabled: [release_site]}\n", mayImprove, 0},
		"pinned":         {strings.Replace(proposeLearn, "{", "{pinned: [release_site], ", 1), mayImprove, turns},
		"auto alone":     {strings.Replace(proposeLearn, "propose", "auto", 1), "", turns},
	} {
		t.Run(what, func(t *testing.T) {
			x, w, server := gatePlace(t, arm.settings, learntest.Runner)
			defer x.close()
			before := learntest.Procedure(learntest.NewWord(), arm.more)
			file := ownProcedure(x, before)
			word := learntest.NewWord()
			w.Put(".gate", word)
			w.Put("told.txt", "the word is "+word)
			for i := range turns {
				if release(x, fmt.Sprint("s", i)) {
					t.Fatal("it works")
				}
			}
			if !strings.Contains(arm.settings, "mode: off") {
				judged(x, turns)
			}
			uses, err := x.Learn.Outcomes(skills.ProcedureKey("release_site"))
			if u := uses[skills.HashOf([]byte(before))]; err != nil || u.Bad != arm.counted {
				t.Errorf("%+v %v", uses, err)
			}
			st, err := x.Learn.Status(context.Background())
			list, _ := x.Learn.Proposals()
			if err != nil || st.Due+len(list) > 0 {
				t.Errorf("%+v %+v %v", st, list, err)
			}
			for _, r := range server.Requests() {
				if len(r.Tools) == 0 {
					t.Error("a model was asked to look")
				}
			}
			if text, err := os.ReadFile(file); err != nil || string(text) != before {
				t.Errorf("%v %s", err, text)
			}
		})
	}
}
