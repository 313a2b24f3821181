package program

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/provider/modeltest"
	"hermes/ui"
	"hermes/ui/uitest"
)

// Skills in the whole program: the list of commands follows the disk, a skill goes into a turn as a
// chip, the model's own is asked about with its diff, and the project's are there once somebody
// said yes.
func TestSkillsInTheScreen(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t,
		modeltest.Turn{Text: "Released."},
		modeltest.Turn{Calls: []modeltest.Call{{Name: "skill_manage", Args: `{"action": "create", "name": "learned", "content": "---\nname: learned\ndescription: What was learned.\n---\nDo it so.\n"}`}}},
		modeltest.Turn{Calls: []modeltest.Call{{Name: "skill_view", Args: `{"name": "learned"}`}}},
		modeltest.Turn{Text: "All is kept."})
	h.configure(serverSettings(server))
	putFile(t, filepath.Join(h.work, ".git/HEAD"), "ref: refs/heads/main\n")
	putFile(t, filepath.Join(h.work, ".agents/skills/deploy/SKILL.md"), skillText("deploy", "How this is deployed.", "make deploy"))
	s := h.screen(160, 44, ui.Options{}, "")
	s.WaitFor("trusted (deploy)")
	putFile(t, filepath.Join(h.dir, "skills/release/SKILL.md"), skillText("release", "How releases are made.", "Run make MARK-BODY."))
	typeCommand(s, "/releas", "/release [what to do]")
	s.Type("e for version 2" + enter)
	picture := s.WaitFor("Released.")
	if !strings.Contains(picture, "for version 2") || !strings.Contains(picture, "[skill release]") || strings.Contains(picture, "MARK-BODY") {
		t.Errorf("the turn:\n%s", picture)
	}
	if body := string(server.Requests()[0].Body); !strings.Contains(body, "MARK-BODY") || !strings.Contains(body, "release: How releases are made.") {
		t.Errorf("the model was sent %s", body)
	}
	s.WaitFor("ready")
	say(s, "learn it")
	s.WaitFor("Keep the skill learned?")
	picture = s.WaitFor("[ Deny ]")
	if !strings.Contains(picture, "description: What was learned.") || !strings.Contains(picture, "steers later sessions") {
		t.Errorf("the question:\n%s", picture)
	}
	chooseAnswer(s, "o", "[ Once ]")
	picture = s.WaitFor("All is kept.")
	if !strings.Contains(picture, "skill_view  learned") {
		t.Errorf("the calls:\n%s", picture)
	}
	say(s, "/skills")
	s.WaitFor("Skills (5")
	s.Type("/")
	s.WaitFor("name, category, state")
	s.Type("learned")
	s.WaitFor("written by the agent")
	s.Type(enter) // done with typing
	s.WaitFor("t trust the project's")
	s.Type("t")
	s.WaitFor("How this is deployed.")
	s.Type("Y")
	s.WaitFor("t untrust")
	s.Type(esc)
	typeCommand(s, "/depl", "/deploy [what to do]")
	s.Type("\x15") // ctrl+u
	leave(t, s)
}

// sayCommand sends the command of a procedure once it is offered: they are read a moment after the
// start.
func sayCommand(s *uitest.Screen, command string) {
	typeCommand(s, command[:len(command)-1], command+" [key=value]") // a whole name is not completed
	s.Type("\x15")                                                   // ctrl+u
	say(s, command)
}

func putFile(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// typeCommand types the beginning of a command until its completion is offered: the disk was
// changed a moment ago.
func typeCommand(s *uitest.Screen, begin, offer string) {
	deadline := time.Now().Add(patience)
	for s.Type(begin); !strings.Contains(s.Settle(), offer) && time.Now().Before(deadline); s.Type(begin) {
		s.Type("\x15") // ctrl+u
		time.Sleep(50 * time.Millisecond)
	}
	s.WaitFor(offer)
}
