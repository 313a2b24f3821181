package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/tool"
)

// nest is a session with tools, as a tool sees it.
type nest struct {
	tools  []tool.Spec
	called []tool.NestedCall
}

func (n *nest) Tools() []tool.Spec { return n.tools }

func (n *nest) Call(_ context.Context, c tool.NestedCall) tool.NestedResult {
	n.called = append(n.called, c)
	return tool.NestedResult{ToolResult: chat.ToolResult{Text: "called"}}
}

func manyTools() []tool.Spec {
	spec := func(owner, name, about string) tool.Spec {
		return tool.Spec{Name: name, Owner: owner, Description: about, Schema: json.RawMessage(`{"type":"object"}`)}
	}
	return []tool.Spec{
		spec("", "read_file", "Reads a file of this machine."),
		spec("mcp:github", "mcp__github__create_issue", "Opens an issue in a repository."),
		spec("mcp:github", "mcp__github__list_issues", "Lists issues."),
		spec("mcp:drive", "mcp__drive__readFile", "Gives the content of a document."),
	}
}

// Definitions that take too much of a window are left out, and found by a search instead.
func TestDeferred(t *testing.T) {
	t.Parallel()
	specs := manyTools()
	if listed, found := Deferred(500, 0.05, specs); len(found) != 3 || len(listed) != 4 || listed[0].Name != "read_file" || listed[1].Name != "tool_call" {
		t.Errorf("%d listed, %d found", len(listed), len(found))
	}
	for _, window := range []int{0, 100_000} {
		if listed, found := Deferred(window, 0.05, specs); len(found) != 0 || len(listed) != 4 {
			t.Errorf("%d: %d listed, %d found", window, len(listed), len(found))
		}
	}
}

func TestToolsAreFoundAndCalled(t *testing.T) {
	t.Parallel()
	r, err := tool.NewRegistry(SearchTools(func(session, server string) string {
		return "about " + server + " in " + session
	})...)
	if err != nil {
		t.Fatal(err)
	}
	n := &nest{tools: manyTools()}
	run := func(name, args string) string {
		return r.Run(t.Context(), name, tool.Call{Session: "s", Args: json.RawMessage(args), Nest: n}).Text
	}
	for query, first := range map[string]string{"open an issue": "mcp__github__create_issue", "read a file": "mcp__drive__readFile", "lists": "mcp__github__list_issues", "github": "mcp__github__"} {
		if got := run("tool_search", `{"query":"`+query+`"}`); !strings.HasPrefix(got, first) {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got := run("tool_search", `{"query":"weather"}`); !strings.Contains(got, "None of 3 tools fits. Servers: drive, github.") {
		t.Error(got)
	}
	if got := run("tool_describe", `{"names":["mcp__drive__readFile","none"]}`); !strings.Contains(got, "Gives the content") || !strings.Contains(got, "There is no such tool") || !strings.HasSuffix(got, "about drive in s") {
		t.Error(got)
	}
	if got := run("tool_call", `{"name":"mcp__drive__readFile","arguments":{"id":1}}`); got != "called" || len(n.called) != 1 || string(n.called[0].Args) != `{"id":1}` {
		t.Errorf("%s %+v", got, n.called)
	}
	if got := run("tool_call", `{"name":"read_file"}`); !strings.Contains(got, "There is no tool read_file of a server") || len(n.called) != 1 {
		t.Error(got)
	}
}
