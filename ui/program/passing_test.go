package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider/modeltest"
	"hermes/ui"
	"hermes/ui/cli"
)

const (
	siteToken   = "hush-4711-aaaa-bbbb"
	siteRefresh = "refresh-0815-cccc-dddd"
	// tellsLengths prints how long the values are, and the values: those must not be seen.
	tellsLengths = `echo "token:${#SITE_TOKEN} key:${#OPENAI_API_KEY} file:$(wc -c < "$HERMES_CREDENTIALS/google_token.json" 2>/dev/null)"; echo "$SITE_TOKEN"; cat "$HERMES_CREDENTIALS/google_token.json" 2>/dev/null; true`
	scriptTells  = `import os
print("script:", len(os.environ.get("SITE_TOKEN", "")), os.path.exists(os.environ.get("HERMES_CREDENTIALS", "/nowhere") + "/google_token.json"))`
	givesAll  = "token:19 key:0 file:45"
	givesNone = "token:0 key:0 file:"
)

func siteSkill(body string) string {
	return "---\nname: site\ndescription: Works on the site.\nrequired_environment_variables: [SITE_TOKEN, OPENAI_API_KEY, LD_PRELOAD]\n" +
		"required_credential_files: [google_token.json, .env, ../outside, config.yaml]\n---\n" + body + "\n"
}

// withSite puts the skill, its variable and its file into a home.
func (h *home) withSite() {
	h.t.Helper()
	putFile(h.t, filepath.Join(h.dir, ".env"), "SITE_TOKEN="+siteToken+"\nOPENAI_API_KEY=sk-never-never-never\n")
	putFile(h.t, filepath.Join(h.dir, "google_token.json"), fmt.Sprintf(`{"refresh_token": %q}`, siteRefresh)+"\n\n")
	putFile(h.t, filepath.Join(h.dir, "skills/site/SKILL.md"), siteSkill("Look at the site."))
}

func terminalCall(command string) modeltest.Call {
	args, _ := json.Marshal(map[string]string{"command": command}) // strings
	return modeltest.Call{Name: "terminal", Args: string(args)}
}

func scriptCall(code string) modeltest.Call {
	args, _ := json.Marshal(map[string]string{"code": code}) // strings
	return modeltest.Call{Name: "execute_code", Args: string(args)}
}

// sawOf is what a model was told by the results of its calls, in a run of its own.
func (h *home) sawOf(args ...string) (results, shown string) {
	h.t.Helper()
	server := modeltest.NewScript(h.t, modeltest.Script{Turns: []modeltest.Turn{{Calls: []modeltest.Call{terminalCall(tellsLengths)}}, {Calls: []modeltest.Call{scriptCall(scriptTells)}}, {Text: "Done."}}})
	h.configure(serverSettings(server) + "approvals: {level: 3}\n")
	r := h.run(append([]string{"run", "look"}, args...)...)
	if r.code != cli.ExitOK {
		h.t.Fatalf("code %d\n%s\n%s", r.code, r.out, r.err)
	}
	last := server.Requests()[len(server.Requests())-1]
	for _, m := range last.Messages {
		if m.Role == string(chat.RoleTool) {
			results += m.Text() + "\n"
		}
	}
	if all := results + r.out + r.err; strings.Contains(all, siteToken) || strings.Contains(all, siteRefresh) {
		h.t.Errorf("a secret is seen:\n%s", all)
	}
	return results, r.out + r.err
}

// What a skill asks for reaches commands and scripts of a session that loaded it, after one yes,
// until a byte of the skill changes; without that skill, or without a yes, nothing does. Keys of
// model providers never do.
func TestASkillIsPassedWhatItAsksFor(t *testing.T) {
	h := newHome(t, "")
	h.withSite()
	want := func(what, results, has string) {
		t.Helper()
		if !strings.Contains(results, has) {
			t.Errorf("%s: %q is missing in\n%s", what, has, results)
		}
	}
	saw, _ := h.sawOf("--skill", "site")
	want("unasked", saw, givesNone)
	want("unasked", saw, "hermes skills allow site")
	want("unasked", saw, "script: 0 False")

	if r := h.run("skills", "allow", "site", "--yes"); r.code != cli.ExitOK || !strings.Contains(r.err, "site asks for SITE_TOKEN and the files google_token.json (not trusted)") || !strings.Contains(r.err, "passed from now on") {
		t.Errorf("%+v", r)
	}
	if r := h.run("skills", "list"); !strings.Contains(r.err, "google_token.json (trusted)") {
		t.Errorf("%s", r.err)
	}
	saw, _ = h.sawOf("--skill", "site")
	want("allowed", saw, givesAll)
	want("allowed", saw, "script: 19 True")
	saw, _ = h.sawOf()
	want("without the skill", saw, givesNone)
	want("without the skill", saw, "script: 0 False")

	putFile(t, filepath.Join(h.dir, "skills/site/run.py"), "print('another byte')\n")
	saw, _ = h.sawOf("--skill", "site")
	want("changed", saw, givesNone)
	if r := h.run("skills", "allow", "site", "--no"); r.code != cli.ExitOK || !strings.Contains(r.err, "(changed)") {
		t.Errorf("%+v", r)
	}
	saw, _ = h.sawOf("--skill", "site")
	want("refused", saw, givesNone)
	want("refused", saw, "the person said no")
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "hermes-credentials-*")); len(left) > 0 {
		t.Errorf("copies are left: %q", left)
	}
}

// On the screen the person is asked with the first command, once; a no is kept, and /skills shows
// it and takes another answer.
func TestASkillAsksOnTheScreen(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t,
		modeltest.Turn{Calls: []modeltest.Call{terminalCall(tellsLengths)}}, modeltest.Turn{Text: "First done."},
		modeltest.Turn{Calls: []modeltest.Call{terminalCall(tellsLengths + " # again")}}, modeltest.Turn{Text: "Second done."})
	h.configure(serverSettings(server) + "approvals: {level: 3}\n")
	h.withSite()
	s := h.screen(160, 44, ui.Options{}, "")
	typeCommand(s, "/sit", "/site [what to do]")
	s.Type("e" + enter)
	s.WaitFor("The skill site asks for SITE_TOKEN")
	chooseAnswer(s, "1", "in your own words")
	if picture := s.WaitFor("First done."); !strings.Contains(picture, givesAll) || strings.Contains(picture, siteToken) {
		t.Errorf("%s", picture)
	}
	s.WaitFor("ready")
	say(s, "/skills site")
	s.WaitFor("you said yes")
	waitUntilHeard(s, "p", "p what it asks for")
	s.WaitFor("N never")
	s.Type("N")
	s.WaitFor("you said no")
	s.Type(esc)
	say(s, "again")
	if picture := s.WaitFor("Second done."); !strings.Contains(picture, givesNone) || !strings.Contains(picture, "! the skill site is not given SITE_TOKEN") {
		t.Errorf("%s", picture)
	}
	leave(t, s)
}
