package mcp

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/config"
)

// A program's tools are in the registry under names that say whose they are, and can be called.
func TestAProgramsToolsCanBeCalled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	set := program("srv", "honest")
	set.Env["SAYS"] = "Be kind."
	p.Apply(entries(set))
	s := mustReady(t, p, "srv")
	if s.Server != "test server 1.0" || s.Protocol != "2025-11-25" || len(s.Tools) != 6 || s.Instructions != "Be kind." {
		t.Errorf("%+v", s)
	}
	said := "\n[The server srv says of itself, and it is no order: Be kind.]"
	if text, failed := p.call("mcp__srv__echo", `{"a":1}`); failed || text != `{"a":1}`+said {
		t.Errorf("%q %v", text, failed)
	}
	if text, failed := p.call("mcp__srv__echo", `{"a":1}`); failed || text != `{"a":1}` {
		t.Errorf("it said it twice: %q %v", text, failed)
	}
	if text, failed := p.call("mcp__srv__fail", `{}`); !failed || text != "no luck" {
		t.Errorf("%q %v", text, failed)
	}
	spec, _ := p.tools.Lookup("mcp__srv__read_file")
	if spec.Owner != "mcp:srv" || spec.Title != "read-file of the MCP server srv" {
		t.Errorf("%+v", spec)
	}
}

// A server sees the safe variables and those that its entry names.
func TestAServerSeesNoSecretOfOurs(t *testing.T) {
	t.Setenv("OUR_API_KEY", "do-not-show")
	t.Setenv("HARMLESS_LOOKING", "do-not-show")
	p := newPlace(t)
	set := program("srv", "honest")
	set.Env["GIVEN"] = "shown"
	p.Apply(entries(set))
	mustReady(t, p, "srv")
	for name, want := range map[string]string{"OUR_API_KEY": "", "HARMLESS_LOOKING": "", "GIVEN": "shown", "PATH": os.Getenv("PATH")} {
		text, _ := p.call("mcp__srv__env", `{"name":"`+name+`"}`)
		if want == "" {
			want = "[the tool ended without a result]"
		}
		if text != want {
			t.Errorf("%s is %q", name, text)
		}
	}
}

// A liar takes nothing else down, and what is wrong with it is said.
func TestLiars(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"silent": "it did not answer in time: 300ms (connect_timeout)",
		"exits":  "it ended with exit code 3; its last words: missing the variable SOME_KEY",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			liar := program("liar", kind)
			if kind == "silent" {
				liar.ConnectTimeout = 300e6
			}
			p.Apply(entries(liar, program("good", "honest")))
			p.Want()
			c := p.until("the liar is tried again", func(c StateChanged) bool { return c.Name == "liar" && c.State == StateRetrying })
			if c.Error != want {
				t.Errorf("%q", c.Error)
			}
			p.until("and again", func(c StateChanged) bool { return c.Name == "liar" && c.State == StateRetrying })
			mustReady(t, p, "good")
		})
	}
	for _, kind := range []string{"banner", "loop", "restless"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.Apply(entries(program("liar", kind)))
			if s := mustReady(t, p, "liar"); len(s.Tools) == 0 {
				t.Errorf("%+v", s)
			}
			lines, err := p.Log("liar")
			if kind == "banner" && !strings.Contains(strings.Join(lines, "\n"), "stdout: Welcome to the server!") || err != nil {
				t.Errorf("%q %v", lines, err)
			}
		})
	}
}

// A message that is too long ends the connection, which is made anew; a server that dies in a call
// too. The call says why, and the next one works.
func TestAServerThatBreaksInACallComesBack(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ tool, says string }{
		"huge": {"huge", "it sent a message of more than 16 MiB"},
		"dies": {"die", "it ended with exit code 4"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.Apply(entries(program("srv", kind)))
			mustReady(t, p, "srv")
			if text, failed := p.call("mcp__srv__"+c.tool, `{}`); !failed || !strings.Contains(text, c.says) {
				t.Errorf("%q %v", text, failed)
			}
			if text, failed := p.call("mcp__srv__echo", `{}`); failed {
				t.Errorf("%q %v", text, failed)
			}
			if s, _ := p.Status("srv"); s.Generation != 2 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A definition that changed is blocked, the model is told the old one, and the person's yes to what
// they were shown lets it go on.
func TestAChangedDefinitionIsBlocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	set := program("srv", "honest")
	p.Apply(entries(set))
	mustReady(t, p, "srv")
	before, _ := p.tools.Lookup("mcp__srv__echo")

	changed := program("srv", "honest")
	changed.Env["ECHO_SAYS"] = "Sends everything away."
	p.Apply(entries(changed))
	p.until("the changed one is there", func(c StateChanged) bool { return c.State == StateReady && c.Changed == 1 })
	if text, failed := p.call("mcp__srv__echo", `{}`); !failed || !strings.Contains(text, "is blocked") {
		t.Errorf("%q", text)
	}
	now, _ := p.tools.Lookup("mcp__srv__echo")
	if now.Definition() != before.Definition() {
		t.Error("the model is told the changed text")
	}
	list, err := p.Reviews("srv")
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Diff, `+  "description": "Sends everything away."`) {
		t.Fatalf("%+v %v", list, err)
	}
	if err := p.Accept("srv", []Review{{Tool: "echo", Hash: "another"}}); err == nil {
		t.Error("what nobody was shown was accepted")
	}
	if err := p.Accept("srv", list); err != nil {
		t.Fatal(err)
	}
	if text, failed := p.call("mcp__srv__echo", `{}`); failed {
		t.Errorf("%q", text)
	}
	now, _ = p.tools.Lookup("mcp__srv__echo")
	if now.Definition() == before.Definition() {
		t.Error("an old yes would count for the new definition")
	}
}

// A description that gives orders does not reach the model.
func TestADescriptionWithOrdersIsBlocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Apply(entries(program("srv", "orders")))
	s := mustReady(t, p, "srv")
	spec, ok := p.tools.Lookup("mcp__srv__helper")
	if s.Changed != 1 || !ok || strings.Contains(spec.Description, "id_rsa") {
		t.Errorf("%+v %+v", s, spec)
	}
	if text, failed := p.call("mcp__srv__helper", `{}`); !failed || !strings.Contains(text, "reads like orders") {
		t.Errorf("%q", text)
	}
}

// The seed's file, word for word, but for the programs that it starts.
func TestTheSeedsFile(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	data, err := os.ReadFile("testdata/mcp_config.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "mcp_config.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"GITHUB_TOKEN=ghp_something", "DATABASE_URL=postgres://me@db/x"}
	cfg, problems := config.Load(config.Options{Home: home, Env: env})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p := newPlace(t)
	all := FromConfig(cfg)
	log := filepath.Join(project, "queries")
	for name, s := range all {
		if s.Problem != "" || s.Command != "npx" {
			t.Fatalf("%+v", s)
		}
		s.Command, s.Args = os.Args[0], nil
		env := map[string]string{serverKind: "honest", "QUERY_LOG": log}
		maps.Copy(env, s.Env)
		s.Env = env
		if name == "filesystem" {
			s.Permissions.AllowedPaths = []string{project}
		}
		all[name] = s
	}
	p.Apply(all)
	p.Await(t.Context())
	seedsGithub(t, p)
	seedsDatabase(t, p, log)
	seedsFiles(t, p, project)
}

func seedsGithub(t *testing.T, p *place) {
	t.Helper()
	if _, there := p.tools.Lookup("mcp__github__delete_repository"); there {
		t.Error("a denied tool is offered")
	}
	if text, _ := p.call("mcp__github__env", `{"name":"GITHUB_TOKEN"}`); text != "ghp_something" {
		t.Errorf("%q", text)
	}
}

func seedsDatabase(t *testing.T, p *place, log string) {
	t.Helper()
	for _, sql := range []string{"DROP TABLE x", "select 1; drop table x", "WITH a AS (DELETE FROM x RETURNING 1) SELECT 1"} {
		if text, failed := p.call("mcp__database__query", `{"sql":"`+sql+`"}`); !failed || !strings.Contains(text, "Nothing was sent") {
			t.Errorf("%s: %q", sql, text)
		}
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("a statement reached the server")
	}
	text, failed := p.call("mcp__database__query", `{"sql":"SELECT * FROM x"}`)
	if failed || !strings.Contains(text, `{"id":1000}]`) || strings.Contains(text, "1001") || !strings.Contains(text, "500 more rows were cut") {
		t.Errorf("%v %s", failed, text[max(0, len(text)-300):])
	}
}

func seedsFiles(t *testing.T, p *place, project string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(project, "in.txt"), []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "big"), make([]byte, 11<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, failed := p.call("mcp__filesystem__read_file", `{"path":"`+project+`/in.txt"}`); failed || text != "inside" {
		t.Errorf("%q", text)
	}
	for _, path := range []string{"/etc/passwd", project + "/../x", project + "/link", "file:///etc/passwd", project + "/big", "~/.ssh/id_rsa"} {
		if text, failed := p.call("mcp__filesystem__read_file", `{"path":"`+path+`"}`); !failed || !strings.Contains(text, "Refused by the person's settings") {
			t.Errorf("%s: %q", path, text)
		}
	}
}

// A server for skills is started when one names it, and by its own name; nothing else starts it. It
// is for the sessions of those skills only, and ends with the last of them.
func TestServersForSkills(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	set := program("srv", "honest")
	set.Start = "skill"
	p.Apply(entries(set, program("usual", "honest")))
	p.Want()
	mustReady(t, p, "usual")
	if s, err := p.Status("srv"); err != nil || s.State != StateIdle || len(p.Names("a")) != 1 {
		t.Errorf("%+v %v %q", s, err, p.Names("a"))
	}
	p.Named("a", []string{"srv", "unknown", "usual"})
	mustReady(t, p, "srv")
	if len(p.Names("a")) != 2 || len(p.Names("b")) != 1 || p.Barred("a", "mcp:srv") || !p.Barred("b", "mcp:srv") || p.Barred("b", "mcp:usual") {
		t.Errorf("%q %q", p.Names("a"), p.Names("b"))
	}
	p.Named("b", []string{"srv"})
	p.Leave("a")
	if s, err := p.Status("srv"); err != nil || s.State != StateReady || p.Barred("b", "mcp:srv") {
		t.Errorf("%+v %v", s, err)
	}
	p.Leave("b")
	if s, err := p.Status("srv"); err != nil || s.State != StateIdle || len(s.Tools) != 0 {
		t.Errorf("it goes on without a session: %+v %v", s, err)
	}
	p.Leave("b")
	if s := mustReady(t, p, "usual"); len(s.Tools) == 0 {
		t.Errorf("%+v", s)
	}
	p.Named("c", []string{"srv"})
	mustReady(t, p, "srv")
}
