package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/learn/learntest"
	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/ui"
	"hermes/ui/cli"
)

const releaseTask = "Release the site: release.sh has to pass."

// learnHome is a home whose model does what stands in its request, in a world that a word decides.
func learnHome(t *testing.T, more string) (*home, learntest.World) {
	t.Helper()
	server := modeltest.NewScript(t, modeltest.Script{Rule: learntest.Model, Keep: 50})
	h := newHome(t, serverSettings(server)+"approvals: {mode: off}\n"+more)
	return h, learntest.NewWorld(t, h.work)
}

const learnAlways = "learning: {mode: auto, interval: 0s, max_reviews_per_day: 1000, max_open: 100}\n"

// releases does the task by the command line and says whether it worked, and what else was said.
func (h *home) releases() (worked bool, said string) {
	h.t.Helper()
	r := h.run("run", "--output", "jsonl", releaseTask)
	if r.code != cli.ExitOK {
		h.t.Fatalf("hermes run: %d %s", r.code, r.err)
	}
	return strings.Contains(r.out, "gate opened"), r.err
}

// tells fails unless a command line says all of these.
func (h *home) tells(command string, want ...string) {
	h.t.Helper()
	r := h.run(strings.Fields(command)...)
	for _, w := range want {
		if r.code != cli.ExitOK || !strings.Contains(r.out+r.err, w) {
			h.t.Errorf("hermes %s does not say %q:\n%s%s", command, w, r.out, r.err)
		}
	}
}

// The loop closes in the whole program: a word that stands in one version of a skill only decides.
// It is learned by the third hermes run, chosen on the screen, changed after a failure, and taken
// back after it did worse; the screen and the command line show each step.
func TestTheLoopClosesInTheWholeProgram(t *testing.T) {
	t.Parallel()
	testskip.Long(t, "some thirty turns of the whole program")
	h, w := learnHome(t, learnAlways)
	first, second := learntest.NewWord(), learntest.NewWord()
	w.Put(".gate", first)
	w.Put("hint.txt", "the word is "+first)
	said := ""
	for range 3 {
		if strings.Contains(said, "learned:") {
			t.Errorf("it is learned too early: %s", said)
		}
		var ok bool
		if ok, said = h.releases(); !ok {
			t.Fatal("with the hint it fails")
		}
	}
	if !strings.Contains(said, "learned: create release-site, version 1") {
		t.Fatalf("the third run says %s", said)
	}
	w.Drop("hint.txt")
	h.tells("learn list --all", "accepted", "Three releases needed the same word.")
	h.tells("skills history release-site", "learned", "Three releases needed the same word.")
	for range 7 {
		if ok, _ := h.releases(); !ok {
			t.Fatal("with the skill it fails")
		}
	}
	h.chooseOnScreen(first)
	w.Put(".gate", second)
	w.Put("told.txt", "the word is "+second)
	if ok, said := h.releases(); ok || !strings.Contains(said, "learned: change release-site, version 2") {
		t.Fatalf("after a failure: %v %s", ok, said)
	}
	w.Drop("told.txt")
	if ok, _ := h.releases(); !ok {
		t.Fatal("with the better skill it fails")
	}
	h.tells("trace last", "release-site v2, chosen by the model", "outcome  good")
	w.Put(".gate", first)
	for range 8 {
		h.releases()
	}
	h.tells("skills history release-site", "rollback to 1", "version 2 came out good in 1 of 5 turns")
	h.tells("learn list --all --json", `"kind": "rollback"`, "worse with a probability of 0.9")
	if ok, _ := h.releases(); !ok {
		t.Fatal("after it was taken back it fails")
	}
	h.tells("trace last", "release-site v", "exit code 0 of ./release.sh "+first)
	h.seesOnScreen()
}

// chooseOnScreen does the task on the screen, and looks at its trace.
func (h *home) chooseOnScreen(word string) {
	h.t.Helper()
	before := h.run("trace", "last").out
	s := h.screen(120, 36, ui.Options{}, "")
	s.WaitFor("asks for nothing")
	say(s, releaseTask)
	s.WaitFor("gate opened")
	s.WaitFor("That is all that I can do.")
	eventually(h.t, "the turn is judged", func() bool {
		now := h.run("trace", "last").out
		return now != before && strings.Contains(now, "outcome  good")
	})
	say(s, "/trace")
	picture := s.WaitFor("outcome  good")
	if !strings.Contains(picture, "release-site v1, chosen by the model") || !strings.Contains(picture, "./release.sh "+word) {
		h.t.Errorf("the trace:\n%s", picture)
	}
	s.Type(esc)
	s.WaitGone("outcome  good")
	leave(h.t.(*testing.T), s)
}

// seesOnScreen looks at what became of it.
func (h *home) seesOnScreen() {
	h.t.Helper()
	s := h.screen(80, 24, ui.Options{}, "")
	s.WaitFor("asks for nothing")
	say(s, "/learn")
	s.WaitFor("mode auto: what is clean is done at once")
	s.Type(esc)
	s.WaitGone("mode auto")
	leave(h.t.(*testing.T), s)
}

// Without learning, with the skill switched off, with another text and with the word elsewhere,
// nothing works. core's TestTheLoopNeedsTheSkill does so fifty times each.
func TestTheLoopNeedsTheSkillInTheWholeProgram(t *testing.T) {
	t.Parallel()
	testskip.Long(t, "turns of the whole program")
	word := learntest.NewWord()
	text := func(word string) string {
		return skillText("release-site", "How the site is released.", "1. Run ./release.sh "+word+".")
	}
	for what, arm := range map[string]struct {
		settings, skill, file string
		works                 bool
	}{
		"with the skill": {learnAlways, text(word), "", true},
		"off":            {"learning: {mode: off}\n", "", "", false},
		"disabled":       {learnAlways + "skills: {disabled: [release-site]}\n", text(word), "", false},
		"placebo":        {learnAlways, text(learntest.NewWord()), "", false},
		"elsewhere":      {learnAlways, "", "the word is " + word, false},
	} {
		t.Run(what, func(t *testing.T) {
			h, w := learnHome(t, arm.settings)
			w.Put(".gate", word)
			if arm.skill != "" {
				putFile(t, filepath.Join(h.dir, "skills/release-site/SKILL.md"), arm.skill)
			}
			if arm.file != "" {
				w.Put("notes.txt", arm.file)
			}
			for range 4 {
				if ok, said := h.releases(); ok != arm.works || strings.Contains(said, "learned:") {
					t.Errorf("worked: %v; %s", ok, said)
				}
			}
		})
	}
}

// A person marks turns by a key, a command and the command line, and takes it back; hermes run in
// mode propose asks no model after its answer.
func TestTurnsAreMarkedInTheWholeProgram(t *testing.T) {
	t.Parallel()
	h, w := learnHome(t, "learning: {mode: propose, min_alike: 1, interval: 0s}\n")
	w.Put(".gate", "no-word")
	w.Put("hint.txt", "the word is "+learntest.NewWord())
	if ok, said := h.releases(); ok || strings.Contains(said, "learn") {
		t.Errorf("hermes run: %v %s", ok, said)
	}
	outcome := func() string {
		var x struct {
			Turn struct{ Outcome string }
		}
		if err := json.Unmarshal([]byte(h.run("trace", "last", "--json").out), &x); err != nil {
			t.Fatal(err)
		}
		return x.Turn.Outcome
	}
	comes := func(want string) {
		t.Helper()
		eventually(t, want, func() bool { return outcome() == want })
	}
	comes("bad")
	h.tells("learn mark last good it is all right", "marked good: "+releaseTask, "the last one that is kept")
	h.tells("trace last", "good: the person marked it good: it is all right", "outcome  good")
	h.tells("learn mark last none", "no mark any more, bad")
	h.tells("learn status", "mode propose", "1 turns are kept, 0 marked by you")
	if r := h.run("learn", "mark", "last", "perfect"); r.code != cli.ExitUsage {
		t.Errorf("a mark of another kind: %+v", r)
	}
	s := h.screen(120, 36, ui.Options{}, "last")
	s.WaitFor("That is all that I can do.")
	s.WaitFor("asks for nothing")
	s.Type(esc)
	s.WaitFor("browsing")
	s.Type("+")
	s.WaitFor("marked good: Release the site")
	comes("good")
	s.Type("+")
	s.WaitFor("no mark any more, bad")
	comes("bad")
	s.Type("i")
	s.WaitGone("browsing")
	say(s, "/good worth it")
	s.WaitFor("marked good: Release the site")
	comes("good")
	say(s, "/takeback")
	comes("bad")
	say(s, "and again")
	s.Wait("a second turn", func(p string) bool { return strings.Count(p, "That is all that I can do.") > 1 })
	eventually(t, "two turns are kept", func() bool { return strings.Contains(h.run("learn", "status").out, "2 turns are kept") })
	say(s, "/trace")
	s.WaitFor("Trace 2 of 2")
	s.Type("\x1b[D")
	s.WaitFor("Trace 1 of 2")
	s.Type("\x1b[C")
	s.WaitFor(fmt.Sprintf("asked    %s", "and again"))
	s.Type(esc)
	s.WaitGone("Trace 2 of 2")
	leave(t, s)
}

// A procedure of the person's is improved in the whole program: its runs fail, the screen says that
// something was learned, shows the change and makes it by one key; the next run works, the command
// line has the versions and takes the change back.
func TestAProcedureIsImprovedInTheWholeProgram(t *testing.T) {
	t.Parallel()
	server := modeltest.NewScript(t, modeltest.Script{Rule: learntest.Runner, Keep: 50})
	h := newHome(t, serverSettings(server)+"approvals: {mode: off}\nlearning: {mode: propose, interval: 0s}\n")
	w := learntest.NewWorld(t, h.work)
	first, second := learntest.NewWord(), learntest.NewWord()
	w.Put(".gate", second)
	w.Put("told.txt", "the word is "+second)
	file := filepath.Join(h.dir, "skills/release_site.yaml")
	putFile(t, file, learntest.Procedure(first, "  improvement: {track_metrics: [success_rate], min_samples_for_update: 2}\n"))
	if r := h.run("skills", "run", "release_site", "--yes", "--cwd", h.work); r.code == cli.ExitOK || !strings.Contains(r.out+r.err, "closed") {
		t.Fatalf("%+v", r)
	}
	h.tells("trace last", "procedure:release_site, chosen by the person", "Open the gate: failed, exit code 1", "outcome  bad")
	s := h.screen(120, 36, ui.Options{}, "")
	s.WaitFor("asks for nothing")
	sayCommand(s, "/release_site")
	s.WaitFor("1 learned: /learn")
	say(s, "/learn")
	picture := s.WaitFor("The word of the gate has changed.")
	for _, want := range []string{"change   procedure:release_site", "from 2 turns", "./release.sh " + first, "./release.sh " + second} {
		if !strings.Contains(picture, want) {
			t.Errorf("the proposal does not show %q:\n%s", want, picture)
		}
	}
	s.Type("y")
	s.WaitFor("Nothing waits for a word.")
	s.Type(esc)
	s.WaitGone("Nothing waits for a word.")
	w.Drop("told.txt")
	say(s, "/release_site")
	s.WaitFor("gate opened")
	eventually(t, "the turn is judged", func() bool { return strings.Contains(h.run("trace", "last").out, "outcome  good") })
	h.tells("trace last", "procedure:release_site v1, chosen by the person", "what must be true afterwards is (1 checks)")
	h.tells("skills history release_site", "edit release_site.yaml", "learned", "1/0", "version 1, 1 turn: success_rate 1")
	h.tells("skills history release_site --json", `"measured"`, `"name": "success_rate"`)
	h.tells("learn show p1", "change procedure:release_site  accepted", "+        command: ./release.sh "+second)
	leave(t, s)
	h.tells("skills undo release_site", "taken back: edit of release_site/release_site.yaml")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), first) {
		t.Errorf("it is not taken back: %v %s", err, text)
	}
}
