package servers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// did records what the overlay asked for.
type did struct{ list []string }

func (d *did) actions() Actions {
	note := func(format string, args ...any) tea.Cmd {
		d.list = append(d.list, fmt.Sprintf(format, args...))
		return nil
	}
	return Actions{
		Again:   func() tea.Cmd { return note("again") },
		Restart: func(name string) tea.Cmd { return note("restart %s", name) },
		Log: func(name string) tea.Cmd {
			return func() tea.Msg { return LogRead{name, []string{"2026 stderr: \x1b[31mlistening", "2026 hermes: ready"}} }
		},
		Review: func(name string) tea.Cmd {
			return func() tea.Msg {
				return Reviewed{name, []mcp.Review{{Tool: "search", State: mcp.Changed, Why: "the server changed its definition", Hash: "h", Diff: "--- a\n+++ b\n@@ -1 +1 @@\n-Searches.\n+Sends \u202eeverything.\n"}}}
			}
		},
		Accept: func(name string, seen []mcp.Review) tea.Cmd { return note("accept %s %s", name, seen[0].Hash) },
		Toggle: func(s mcp.Status) tea.Cmd { return note("toggle %s", s.Name) },
		Login: func(name string) tea.Cmd {
			return func() tea.Msg {
				return LoginShown{
					Name: name, Address: "https://login.example/authorize?state=x\x1b[31m", Paste: func(text string) { note("paste %s", text) },
					Stop: func() { note("stop") }, Wait: func() tea.Msg { return nil },
				}
			}
		},
		Trust: func(b *mcp.Brought, yes bool) tea.Cmd { return note("trust %s %v", b.Folder, yes) },
	}
}

func someServers() Listed {
	listed := func(name, rule string, pin mcp.Pin) mcp.Listed {
		return mcp.Listed{Name: "mcp__github__" + name, Tool: name, Gist: "Does " + name + ".\x1b[31m", Rule: rule, State: pin, Tokens: 40}
	}
	shell := mcp.Settings{Name: "build", From: mcp.ProjectFile}
	shell.Command, shell.Args, shell.Env = "sh", []string{"-c", "make serve"}, map[string]string{"PORT": "1"}
	return Listed{
		Rows: []mcp.Status{
			{Name: "database", State: mcp.StateFailed, Where: "npx postgres", From: "mcp_config.json:20", Transport: "stdio", LastError: "DATABASE_URL is not set"},
			{
				Name: "github", State: mcp.StateReady, Where: "npx -y @modelcontextprotocol/server-github", From: "config.yaml:3", Transport: "stdio", Backend: "default",
				Server: "github 1.0", Protocol: "2025-11-25", Tokens: 120, Calls: 2, Hidden: 1, Changed: 1, Warning: "npx runs the newest one", Instructions: "Be brief.\nAlways.",
				Tools: []mcp.Listed{listed("list_issues", "allowed", mcp.Pinned), listed("merge_pull_request", "confirmed", mcp.Pinned), listed("search", "asked", mcp.Changed)},
			},
			{Name: "notes", State: mcp.StateOff, Where: "https://notes.example/mcp", From: "config.yaml:9", Transport: "http"},
		},
		Brought: &mcp.Brought{Folder: "/p", Hash: "x", State: mcp.Unasked, Servers: []mcp.Settings{shell}},
	}
}

func press(v *Overlay, keys ...string) (done bool) {
	for _, k := range keys {
		var cmd tea.Cmd
		cmd, done = v.Update(uitest.Key(k))
		if cmd != nil {
			v.Update(cmd())
		}
	}
	return done
}

func TestGolden(t *testing.T) {
	for _, size := range uitest.Sizes() {
		for name, level := range map[string]style.Level{"colour": style.True, "none": style.None} {
			for what, keys := range map[string][]string{"list": nil, "tools": {"enter"}, "review": {"p"}, "trust": {"t"}, "log": {"l"}} {
				if what != "list" && size.W != 80 {
					continue
				}
				v := New((&did{}).actions(), someServers(), "github")
				v.Restyle(uitest.Styles(t, level))
				press(v, keys...)
				w, h := v.Size(size.W, size.H)
				view := v.View(w, h)
				uitest.CheckBlock(t, view, w, h)
				if strings.Contains(view, "\u202e") || strings.Contains(view, "\x1b[31mlistening") {
					t.Error("what a server says reaches the terminal as it is")
				}
				uitest.Golden(t, fmt.Sprintf("servers-%s-%s-%dx%d", what, name, size.W, size.H), view)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want []string
		done bool
	}{
		{[]string{"r"}, []string{"restart github"}, false},
		{[]string{"down", "d"}, []string{"toggle notes"}, false},
		{[]string{"up", "up", "r"}, []string{"restart database"}, false},
		{[]string{"p", "y"}, nil, false},
		{[]string{"p", "Y"}, []string{"accept github h"}, false},
		{[]string{"p", "esc", "Y"}, nil, false},
		{[]string{"up", "p", "Y"}, nil, false},
		{[]string{"t", "Y"}, []string{"trust /p true"}, false},
		{[]string{"t", "N"}, []string{"trust /p false"}, false},
		{[]string{"enter", "esc"}, nil, false},
		{[]string{"esc"}, nil, true},
	} {
		d := &did{}
		v := New(d.actions(), someServers(), "github")
		v.Restyle(uitest.Styles(t, style.None))
		v.View(80, 20)
		if done := press(v, c.keys...); done != c.done || !slices.Equal(d.list, c.want) {
			t.Errorf("%v: did %q, done %v", c.keys, d.list, done)
		}
	}
}

// A yes is for what is on the screen: when the file changed under it, the question is gone.
func TestTrustIsForWhatIsShown(t *testing.T) {
	d := &did{}
	v := New(d.actions(), someServers(), "github")
	v.Restyle(uitest.Styles(t, style.None))
	press(v, "t")
	changed := someServers()
	changed.Brought.Hash = "another"
	v.Update(changed)
	if press(v, "Y"); len(d.list) > 0 {
		t.Errorf("%q", d.list)
	}
	if v.Observe(event.Envelope{Event: event.ServerChanged{Name: "github"}}); !slices.Contains(d.list, "again") {
		t.Errorf("%q", d.list)
	}
}

// A login shows the address and its host, takes what is pasted, and ends with a word of how.
func TestLogin(t *testing.T) {
	d := &did{}
	list := someServers()
	list.Rows[2].State = mcp.StateLogin
	v := New(d.actions(), list, "github")
	v.Restyle(uitest.Styles(t, style.None))
	press(v, "a")
	if v.mode != listing {
		t.Error("a program wants no login")
	}
	press(v, "down")
	if !strings.HasPrefix(v.Hint(), "a log in") && !strings.Contains(v.Hint(), "a log in") {
		t.Error(v.Hint())
	}
	press(v, "a")
	if out := v.View(100, 20); v.Title() != "Log in to notes" || !strings.Contains(out, "https://login.example/authorize") || !strings.Contains(out, "an address of login.example.") || strings.Contains(out, "\x1b[31m") {
		t.Errorf("%s\n%s", v.Title(), out)
	}
	cmd, _ := v.Update(tea.KeyMsg{Type: tea.KeyTab})
	if cmd == nil {
		t.Fatal("the address cannot be copied")
	}
	if m, ok := cmd().(ui.CopyText); !ok || !strings.HasPrefix(m.Text, "https://login.example/authorize") {
		t.Errorf("%+v", m)
	}
	press(v, "q", "x", "enter", "enter")
	v.Update(LoginEnded{Listed: list, Name: "notes", Err: "the server said no"})
	if out := v.View(100, 20); v.mode != listing || !strings.Contains(out, "the server said no") {
		t.Error(out)
	}
	press(v, "a", "esc")
	v.Update(LoginEnded{Listed: list, Name: "notes", Err: "given up"})
	if out := v.View(100, 20); strings.Contains(out, "given up") {
		t.Error(out)
	}
	if want := []string{"paste qx", "stop"}; !slices.Equal(d.list, want) {
		t.Errorf("%q", d.list)
	}
}

// A click chooses a server, a second one opens its tools, and there the whole of what a tool says
// is.
func TestTheMouseChoosesAServer(t *testing.T) {
	rows := someServers()
	rows.Rows[1].Tools[0].Says = "Lists issues.\n\nArgs:\n    state: open or \u202eclosed"
	v := New((&did{}).actions(), rows, "database")
	v.Restyle(uitest.Styles(t, style.None))
	for _, w := range []int{80, 40} {
		v.at = "database"
		uitest.Click(t, v, w, 20, "notes")
		uitest.Click(t, v, w, 20, "github")
		if v.at != "github" || v.mode != listing {
			t.Fatalf("%d wide: %s, %v", w, v.at, v.mode)
		}
		uitest.Click(t, v, w, 20, "list_issues") // what is below the list is no row
		if v.mode != listing {
			t.Errorf("a click on a tool of the preview does something")
		}
		uitest.Click(t, v, w, 20, "github")
		if view := text.Sanitize(v.View(w, 20)); v.mode != tools || !strings.Contains(view, "state: open or closed") || !strings.Contains(view, "          Args:") {
			t.Errorf("%d wide: a click on the chosen server:\n%s", w, view)
		}
		uitest.Click(t, v, w, 20, "merge_pull_request")
		if v.mode != tools {
			t.Error("a click in the text does something")
		}
		press(v, "esc")
	}
}
