package core

import (
	"encoding/json"
	"testing"

	"hermes/core/agent"
	"hermes/core/backend"
)

// places is a pool that only says what back ends there are.
type places struct{ backend.Pool }

func (places) List(string) []backend.Status {
	return []backend.Status{
		{Name: "default", Kind: "local"},
		{Name: "far", Kind: "ssh"},
		{Name: "alone", Kind: "docker"},
		{Name: "shares", Kind: "docker", Mounts: []string{"/other:/x", "/proj:/work:ro"}},
	}
}

func TestWhatACallMayChange(t *testing.T) {
	t.Parallel()
	run := func(command string) json.RawMessage {
		data, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	k := checkpoints{pool: places{}}
	for name, c := range map[string]struct {
		in   agent.FileChange
		want string
	}{
		"a file tool names its paths": {agent.FileChange{Tool: "write_file", Toolset: "file", Paths: []string{"/proj/a"}}, ""},
		"memory":                      {agent.FileChange{Tool: "memory", Toolset: "memory"}, ""},
		"a broken patch":              {agent.FileChange{Tool: "patch", Toolset: "file"}, ""},
		"a command here":              {agent.FileChange{Tool: "terminal", Toolset: "terminal", Backend: "default", Dir: "/proj/sub", Args: run("make")}, "/proj/sub"},
		"one that only reads":         {agent.FileChange{Tool: "terminal", Toolset: "terminal", Backend: "default", Dir: "/proj", Args: run("grep -rn x . | head")}, ""},
		"a redirect":                  {agent.FileChange{Tool: "terminal", Toolset: "terminal", Backend: "default", Dir: "/proj", Args: run("grep x a > b")}, "/proj"},
		"a script":                    {agent.FileChange{Tool: "execute_code", Toolset: "code_execution", Backend: "default", Dir: "/proj"}, "/proj"},
		"input for a process":         {agent.FileChange{Tool: "process", Toolset: "terminal"}, "/proj"},
		"another machine":             {agent.FileChange{Tool: "terminal", Toolset: "terminal", Backend: "far", Dir: "/home/x", Args: run("make")}, ""},
		"a container by itself":       {agent.FileChange{Tool: "terminal", Toolset: "terminal", Backend: "alone", Dir: "/work", Args: run("make")}, ""},
		"a container with the folder": {agent.FileChange{Tool: "terminal", Toolset: "terminal", Backend: "shares", Dir: "/work", Args: run("make")}, "/proj"},
		"a tool of somebody else":     {agent.FileChange{Tool: "mcp_x", Toolset: "mcp"}, "/proj"},
	} {
		c.in.Cwd = "/proj"
		if got := k.change(c.in).Dir; got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
