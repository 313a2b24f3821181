package core

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/agent"
	"hermes/core/mcp"
	"hermes/core/provider/modeltest"
	"hermes/core/session"
)

// skillOf writes a skill that names the server tracker, and one that is not set up.
func (p place) skillOf(name string) {
	p.t.Helper()
	dir := filepath.Join(p.home, "skills", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	text := "---\nname: " + name + "\ndescription: Works with issues.\nmcp_servers: [{name: tracker, tools: [list]}, other]\n---\nList the issues.\n"
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// A skill says which servers it works with.
func TestASkillNamesItsServers(t *testing.T) {
	p := newPlace(t)
	p.skillOf("issues")
	x := p.open(nil)
	defer x.close()
	part, err := x.Skill(t.Context(), p.cwd, "issues")
	if err != nil || !strings.Contains(part.Text, "servers of tools tracker, other") {
		t.Errorf("%q %v", part.Text, err)
	}
}

// tracker is a server of tools that counts its calls.
func tracker(t *testing.T) (address string, calls *atomic.Int32) {
	t.Helper()
	calls = &atomic.Int32{}
	s := sdk.NewServer(&sdk.Implementation{Name: "tracker", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "list", Description: "Lists issues.", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			calls.Add(1)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "no issues"}}}, nil
		})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web.URL, calls
}

// A skill that is loaded starts the server that it names, for its session: another one neither sees
// nor calls its tools. It ends with the last of its sessions, and starts again with one that is
// taken up by the next process.
func TestASkillStartsItsServerForItsSession(t *testing.T) {
	const name = "mcp__tracker__list"
	address, calls := tracker(t)
	use := modeltest.Turn{Calls: []modeltest.Call{{ID: "c", Name: name, Args: `{}`}}}
	model := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{use, {Text: "done"}}, Loop: true})
	p := aided(t, "approvals: {mode: 'off'}\nmcp_discovery_timeout: 20\nmcp_servers:\n  tracker: {url: \""+address+"\", start: skill}\n", map[string]*modeltest.Server{"main": model})
	p.skillOf("issues")
	x := p.openWith("")
	begin := func() string {
		info, err := x.Sessions.Create(t.Context(), session.NewSession{Source: "tui", Cwd: p.cwd})
		if err != nil {
			t.Fatal(err)
		}
		return info.UID
	}
	has := func(want bool, done int32) {
		t.Helper()
		list := model.Requests()
		if got := slices.Contains(list[len(list)-1].Tools, name); got != want || calls.Load() != done {
			t.Errorf("it has the tool: %v; %d calls", got, calls.Load())
		}
	}
	skilled, other := begin(), begin()
	x.talk(other, "list them")
	has(false, 0)
	if err := x.SubmitSkill(t.Context(), skilled, "issues", agent.Input{}); err != nil {
		t.Fatal(err)
	}
	if err := x.Wait(t.Context(), skilled); err != nil {
		t.Fatal(err)
	}
	has(true, 1)
	x.talk(other, "list them")
	has(false, 1)
	if d, err := x.Agent.TakeTools(t.Context(), other); err != nil || slices.Contains(d.Added, name) {
		t.Errorf("it is offered: %+v %v", d, err)
	}
	x.talk(begin(), "list them")
	has(false, 1)
	x.close()

	x = p.openWith("")
	defer x.close()
	x.talk(other, "list them")
	has(false, 1)
	x.talk(skilled, "list them")
	has(true, 2)
	if err := x.ArchiveSession(t.Context(), skilled, true); err != nil {
		t.Fatal(err)
	}
	if s, err := x.MCP.Status("tracker"); err != nil || s.State != mcp.StateIdle {
		t.Errorf("%+v %v", s, err)
	}
}
