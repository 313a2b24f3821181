package procedure

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Interactive is the one strategy that does something: the person is asked before each step that
// could change something.
const Interactive = "interactive"

// noEffect says why keys of the article that are read and checked do nothing.
var noEffect = map[string]string{
	"cron":            "nothing starts a procedure by itself: run it with hermes skills run, from your system's cron for one",
	"context":         "nothing looks at it: keywords are searched, and the person or the agent chooses",
	"context_signals": "nothing looks at it: keywords are searched, and the person or the agent chooses",
	"file_patterns":   "nothing looks at it: keywords are searched, and the person or the agent chooses",
	"optimization":    "a command is run as it is written",
}

// warnNoEffect says of a key that it is read and does nothing.
func (r *reader) warnNoEffect(key string, v *yaml.Node) {
	name := key[strings.LastIndexByte(key, '.')+1:]
	if why := noEffect[name]; why != "" && v.Tag != "!!null" {
		r.addWarning(v.Line, key, "it has no effect: "+why, "")
	}
}

// readNoEffect wraps the reader of a key that does nothing.
func (r *reader) readNoEffect(read func(string, *yaml.Node)) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		read(key, v)
		r.warnNoEffect(key, v)
	}
}

// readStrategy reads a word; only one of them does something.
func (r *reader) readStrategy(key string, v *yaml.Node) {
	if r.readText(&r.p.Strategy)(key, v); r.p.Strategy != "" && r.p.Strategy != Interactive {
		r.addWarning(v.Line, key, "it has no effect: only the strategy interactive does something, which asks before each step that runs a command, a tool or a built-in action", "")
	}
}

// lackingServer is the server of an action that is a tool of it, when the session does not have
// that tool: a model in its place would make something up.
func (p *Procedure) lackingServer(host Host, action string) (server string) {
	if _, there := host.Tool(action); there || action == "" || builtins[action] != nil {
		return ""
	}
	for _, s := range p.Servers {
		if slices.Contains(s.Tools, action) {
			return s.Name
		}
	}
	return ""
}

// asksFirst reports whether the person is asked before a step.
func (p *Procedure) asksFirst(host Host, s *Step) bool {
	if s.Confirm || p.Strategy != Interactive || s.Prompt != nil {
		return s.Confirm
	}
	_, isTool := host.Tool(s.Action)
	return s.Command != nil || isTool || s.builtin() != nil // a built-in may run a command
}
