package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/ui"
)

// Issue 13, section 3: nothing is hidden, by the whole program.

// A window that neither the settings nor the catalogue nor the server know hides no context.
func TestWithoutAWindowTheContextIsToldInTokens(t *testing.T) {
	t.Parallel()
	m := modeltest.NewScript(t, modeltest.Script{
		Models: []modeltest.Model{{ID: "test-model"}},
		Turns:  []modeltest.Turn{{Text: "Hello.", Usage: &modeltest.Usage{Input: 9000, Output: 1000}}},
	})
	h := newHome(t, serverSettings(m))
	s := h.open()
	say(s, "hi")
	s.WaitFor("Hello.")
	waitBottom(s, "10k tokens")
	say(s, "/status")
	s.WaitFor("10,000 tokens used; the window of this model is not known")
	s.Type(esc)
	leave(t, s)
}

// At rest the right column says what the context is made of, what is to be done, which files have
// changed and what runs; the status row counts what runs.
func TestAtRestTheRightColumnSaysHowTheSessionStands(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t,
		modeltest.Turn{Calls: []modeltest.Call{
			calling("todo", map[string]any{"todos": []map[string]string{{"id": "1", "content": "water the beans", "status": "in_progress"}}}),
			calling("write_file", map[string]any{"path": "beds.txt", "content": "beans\npeas\n"}),
			calling("terminal", map[string]any{"command": "sleep 3517", "background": true}),
		}},
		modeltest.Turn{Text: "All set."})
	s := h.open()
	say(s, "set it up")
	s.WaitFor("All set.")
	waitBottom(s, "1 in background")
	for _, want := range []string{"tools: definitions", "water the beans", "beds.txt", "+2 -0", "sleep 3517"} {
		s.Wait(want+" in the right column", func(p string) bool { return strings.Contains(column(p, "─ 3 Output"), want) })
	}
	s.Resize(80, 24) // without the column the last lines of a command stand in the conversation
	say(s, "$ seq 100")
	s.WaitFor("│       100 ")
	leave(t, s)
}

func TestASessionIsNamedByTheModelForTitles(t *testing.T) {
	t.Parallel()
	titles := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Beans and 水"}}})
	h, server := homeWith(t, modeltest.Turn{Text: "Twice a day."})
	h.configure(serverSettings(server) + "  titles:\n    base_url: " + titles.URL + "\n    api_key: other\nauxiliary:\n  title: {model: titles/t}\n")
	s := h.open()
	say(s, "how often do beans need water?")
	s.WaitFor("Twice a day.")
	s.WaitFor("─ 2 Beans and 水")
	s.Wait("the title in the list", func(p string) bool { return strings.Contains(list(p), "Beans and 水") })
	leave(t, s)
	if r := h.run("sessions", "list"); !strings.Contains(r.out, "Beans and 水") {
		t.Errorf("the list on the command line: %+v", r)
	}
}

// What gh looks for and does not get is said by its name, with the setting that passes it, once a
// session, on the screen and by hermes run.
func TestAWithheldTokenIsSaidOnceASession(t *testing.T) {
	const said = "GITHUB_TOKEN (gh would use it)"
	t.Setenv("GITHUB_TOKEN", "canary-7d1f")
	h := newHome(t, "")
	bin := filepath.Join(h.work, "gh")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\necho token is ${GITHUB_TOKEN:-none}\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := h.open()
	say(s, "$ ./gh pr list")
	s.WaitFor("token is none")
	picture := s.WaitFor(said)
	if !strings.Contains(unwrapped(picture), "terminal.env_passthrough: [GITHUB_TOKEN]") {
		t.Errorf("the setting is not named:\n%s", picture)
	}
	say(s, "$ ./gh issue list")
	s.Wait("the second one", func(p string) bool { return strings.Count(p, "token is none") > 2 })
	if n := strings.Count(s.Settle(), said); n > 2 { // in the conversation, and beside it in the output
		t.Errorf("it is said %d times", n)
	}
	leave(t, s)
	if r := h.run("run", "$ "+bin+" pr list"); !strings.Contains(r.err, said) || strings.Contains(r.out+r.err, "canary") {
		t.Errorf("hermes run: %+v", r)
	}
	h.configure("terminal: {env_passthrough: [GITHUB_TOKEN]}\n")
	if r := h.run("run", "$ "+bin+" pr list"); strings.Contains(r.err, said) || !strings.Contains(r.out, "token is") || strings.Contains(r.out, "none") {
		t.Errorf("let through: %+v", r)
	}
}

// unwrapped is what a picture says without its line breaks and borders.
func unwrapped(picture string) string {
	return strings.Join(strings.FieldsFunc(picture, func(r rune) bool { return strings.ContainsRune("│ \n", r) }), " ")
}

func TestIdleSessionsAreFoundAmongThoseThatAreDone(t *testing.T) {
	t.Parallel()
	_, s := two(t)
	s.Type("s")
	s.Wait("both of them", func(p string) bool {
		return strings.Contains(list(p), "[done]") && strings.Contains(list(p), "网络") && strings.Contains(list(p), "docker")
	})
	s.Type("s")
	s.Wait("no archived one", func(p string) bool {
		return strings.Contains(list(p), "[archived]") && strings.Contains(p, "No session here")
	})
	s.Type("s")
	s.Wait("all", func(p string) bool { return !strings.Contains(list(p), "[") && strings.Contains(list(p), "docker") })
	s.Type("a")
	s.Wait("the archived one gone", func(p string) bool { return strings.Count(list(p), "echo") == 1 })
	s.Type("ss")
	s.Wait("the archived one", func(p string) bool {
		return strings.Contains(list(p), "[archived]") && strings.Count(list(p), "echo") == 1
	})
	leave(t, s)
}

// Sessions stand under their projects, with the model, tokens, cost and folder of each. A search
// counts each once, however often it is found.
func TestTheListSaysProjectModelTokensAndCost(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "Beans, beans and beans.", Usage: &modeltest.Usage{Input: 9000, Output: 1000}})
	h.configure(serverSettings(server) + "    models:\n      test-model: {context_length: 20000, price_in: 10, price_out: 10}\n")
	s := h.open()
	say(s, "which beans?")
	s.WaitFor("Beans, beans and beans.")
	waitBottom(s, "ready")
	leave(t, s)
	h.work = filepath.Join(t.TempDir(), "garden")
	if err := os.Mkdir(h.work, 0o700); err != nil {
		t.Fatal(err)
	}
	s = h.open()
	say(s, "$ echo beans")
	s.WaitFor("✓ $ ")
	s.Type(altOne)
	s.Wait("both projects", func(p string) bool { return strings.Contains(list(p), "/garden") && strings.Contains(list(p), "/work") })
	s.Type("/")
	s.Type("beans")
	s.Wait("each session once", func(p string) bool {
		return strings.Contains(list(p), "2 sessions, 4 places") && strings.Contains(list(p), "── 2 ─")
	})
	s.Type(altZ)
	s.Wait("the hit in the preview", func(p string) bool { return strings.Contains(p, "found here") })
	s.Type(esc)
	s.WaitFor("esc all")
	s.Type(esc)
	s.WaitFor("2 messages, test-model, 10k tokens, $0.100")
	s.Type("\x1b[B")
	s.Wait("the same and its folder in the preview", func(p string) bool {
		return strings.Contains(p, "· scripted/test-model · 10k tokens · $0.100") && strings.Contains(p, "│ /")
	})
	leave(t, s)
}

// A back end that cannot start says all of why, and one that two sessions share who uses it.
func TestABackEndSaysAllOfItsFailureAndWhoUsesIt(t *testing.T) {
	t.Parallel()
	h := newHome(t, "terminal:\n  fallback: error\n  backends:\n    far: {host: 127.0.0.1, port: 1, user: nobody}\n")
	s := h.open()
	say(s, "/backend far")
	waitBottom(s, "in far")
	say(s, "$ true")
	s.Wait("all of it in the pane", func(p string) bool { return strings.Contains(column(p, "─ 4 Back ends"), "is the port right?") })
	s.Type(altFour)
	s.WaitFor("w why")
	s.Type("w")
	s.WaitFor("─ far ─")
	s.WaitFor("right? (dial tcp 127.0.0.1:1: connect: connection refused) ")
	s.Type(esc)
	s.Type(altTwo)
	say(s, "/backend default")
	s.WaitFor("run in default")
	say(s, "$ sleep 3517")
	s.WaitFor("running sleep 3517")
	s.Type(ctrlN)
	s.WaitFor("New conversation")
	s.WaitFor("used by another session")
	leave(t, s)
}

func TestTheStatusCardNamesItsSession(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	s := h.open()
	say(s, "$ echo hello")
	s.WaitFor("✓ $ ")
	r := h.run("sessions", "list", "--json")
	var rows []struct{ UID string }
	if err := json.Unmarshal([]byte(r.out), &rows); err != nil || len(rows) != 1 || rows[0].UID == "" {
		t.Fatalf("%v %+v", err, r)
	}
	say(s, "/status")
	s.WaitFor(rows[0].UID)
	s.Type(esc)
	leave(t, s)
}

// An agent without the tools that the settings name by mistake says so when it starts.
func TestAToolsetThatThereIsNotIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	const said = `unknown toolset "terminl" (did you mean terminal?)`
	h, server := homeWith(t, modeltest.Turn{Text: "Hello."})
	h.configure(serverSettings(server) + "toolsets: [terminl]\n")
	if r := h.run("run", "hi"); !strings.Contains(r.err, said) {
		t.Errorf("hermes run: %+v", r)
	}
	if r := h.run("run", "--toolsets", "file", "hi"); strings.Contains(r.err, said) {
		t.Errorf("hermes run with others: %+v", r)
	}
	s := h.open()
	s.Wait("it", func(p string) bool { return strings.Contains(unwrapped(p), said) })
	leave(t, s)
}

// So is a provider: its model would be asked for elsewhere.
func TestAProviderThatThereIsNotIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "Hello."})
	h.configure(strings.Replace(serverSettings(server), "provider: scripted", "provider: scriptd", 1))
	if r := h.run("run", "hi"); !strings.Contains(r.err, `config.yaml:2: model.provider: there is no provider "scriptd", did you mean scripted?`) {
		t.Errorf("hermes run: %+v", r)
	}
}

// One key goes through every level, and says each in words.
func TestOneKeyGoesThroughEveryLevel(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	s := h.screen(120, 40, ui.Options{}, "")
	waitBottom(s, "asks for risky things")
	s.Type(altA)
	s.WaitFor("Ask for nothing")
	s.Type("nothing")
	s.WaitGone("Stay")
	s.Type(enter)
	waitBottom(s, "asks for nothing")
	s.Type(altA)
	waitBottom(s, "plans only, changes nothing")
	s.Type(altA)
	waitBottom(s, "asks before any change")
	s.Type(altA)
	waitBottom(s, "asks for risky things")
	leave(t, s)
}
