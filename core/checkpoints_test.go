package core

import (
	"testing"

	"hermes/core/agent"
	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/intent"
)

// places is a pool that only says what back ends there are.
type places struct{ backend.Pool }

func (places) List(string) []backend.Status {
	return []backend.Status{
		{Name: "default", Kind: "local", Traits: event.Traits{Local: true}},
		{Name: "far", Kind: "ssh"},
		{Name: "alone", Kind: "docker"},
		{Name: "shares", Kind: "docker", Mounts: []string{"/other:/x", "/proj:/work:ro"}},
	}
}

func TestWhatACallMayChange(t *testing.T) {
	t.Parallel()
	run := func(command string) intent.Intent { return intent.Intent{Shell: &intent.Shell{Command: command}} }
	only := func(paths ...string) intent.Intent { return intent.Intent{Paths: paths, OnlyPaths: true} }
	k := checkpoints{pool: places{}}
	for name, c := range map[string]struct {
		in   agent.FileChange
		want string
	}{
		"a file tool names its paths": {agent.FileChange{Tool: "write_file", Intent: only("/proj/a")}, ""},
		"memory":                      {agent.FileChange{Tool: "memory", Intent: only()}, ""},
		"a broken patch":              {agent.FileChange{Tool: "patch", Intent: only()}, ""},
		"a command here":              {agent.FileChange{Tool: "terminal", Backend: "default", Dir: "/proj/sub", Intent: run("make")}, "/proj/sub"},
		"one that only reads":         {agent.FileChange{Tool: "terminal", Backend: "default", Dir: "/proj", Intent: run("grep -rn x . | head")}, ""},
		"a redirect":                  {agent.FileChange{Tool: "terminal", Backend: "default", Dir: "/proj", Intent: run("grep x a > b")}, "/proj"},
		"a script":                    {agent.FileChange{Tool: "execute_code", Backend: "default", Dir: "/proj"}, "/proj"},
		"input for a process":         {agent.FileChange{Tool: "process"}, "/proj"},
		"another machine":             {agent.FileChange{Tool: "terminal", Backend: "far", Dir: "/home/x", Intent: run("make")}, ""},
		"a container by itself":       {agent.FileChange{Tool: "terminal", Backend: "alone", Dir: "/work", Intent: run("make")}, ""},
		"a container with the folder": {agent.FileChange{Tool: "terminal", Backend: "shares", Dir: "/work", Intent: run("make")}, "/proj"},
		"a tool of somebody else":     {agent.FileChange{Tool: "mcp_x"}, "/proj"},
	} {
		c.in.Cwd = "/proj"
		if got := k.checkpointOf(c.in).Dir; got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
