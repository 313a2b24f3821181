package config

import (
	"bytes"
	"cmp"
	"time"
)

// Hook is a command that takes part in what the agent does.
type Hook struct {
	Name    string        `key:"name" live:"yes" doc:"what it is called when it says something; empty: the first word of command"`
	Matcher string        `key:"matcher" regexp:"yes" live:"yes" doc:"of the names of tools, as a regular expression for the whole name; empty: all"`
	Command string        `key:"command" short:"yes" live:"yes" doc:"what the shell runs; it reads JSON and answers with JSON or its exit code"`
	Timeout time.Duration `key:"timeout" min:"0" max:"300" live:"yes" doc:"longest time, then it is ended with all that it started; 0: 5 s where it can refuse something, else 30 s"`
	OnError string        `key:"on_error" oneof:"|deny|allow" live:"yes" doc:"what holds when it cannot run; empty: deny where it can refuse something"`
	Backend string        `key:"backend" live:"yes" doc:"back end that it runs in; empty: this machine"`
}

// String is the hook as settings are listed.
func (h Hook) String() string {
	out := h.Command
	if h.Matcher != "" {
		out = h.Matcher + ": " + out
	}
	for _, part := range []struct{ word, value string }{
		{"name", h.Name}, {"on_error", h.OnError}, {"backend", h.Backend}, {"timeout", renderDuration(h.Timeout)},
	} {
		if part.value != "" && part.value != "0s" {
			out += ", " + part.word + " " + part.value
		}
	}
	return out
}

// Hooks are the commands by what they take part in, in the order in which they run. Other spellings
// are those of the files that people already have.
type Hooks struct {
	SessionStart  []Hook `key:"on_session_start" also:"SessionStart" live:"yes" doc:"before the first turn of a session"`
	SessionEnd    []Hook `key:"on_session_end" also:"SessionEnd,on_session_finalize" live:"yes" doc:"when hermes closes a session"`
	MessageIn     []Hook `key:"on_message_in" also:"UserPromptSubmit" refuses:"hooks" live:"yes" doc:"a message came in; may refuse it, or add text for the model"`
	MessageOut    []Hook `key:"on_message_out" also:"Stop" live:"yes" doc:"the turn ended with an answer"`
	PreModelCall  []Hook `key:"pre_llm_call" refuses:"hooks" live:"yes" doc:"before each call of the model; may refuse it, or add text for it"`
	PostModelCall []Hook `key:"post_llm_call" live:"yes" doc:"after each call of the model"`
	PreToolCall   []Hook `key:"pre_tool_call" also:"PreToolUse" refuses:"hooks" live:"yes" doc:"before each call of a tool; may refuse it or change its arguments"`
	PostToolCall  []Hook `key:"post_tool_call" also:"PostToolUse" live:"yes" doc:"after each call of a tool; may add text to the result"`
	Compress      []Hook `key:"on_compress" also:"PreCompact" live:"yes" doc:"before older messages are replaced by a summary"`
}

// hookList is a key of Hooks with its list.
type hookList struct {
	key  string
	list []Hook
}

func (h Hooks) byEvent() []hookList {
	return []hookList{
		{"on_session_start", h.SessionStart},
		{"on_session_end", h.SessionEnd},
		{"on_message_in", h.MessageIn},
		{"on_message_out", h.MessageOut},
		{"pre_llm_call", h.PreModelCall},
		{"post_llm_call", h.PostModelCall},
		{"pre_tool_call", h.PreToolCall},
		{"post_tool_call", h.PostToolCall},
		{"on_compress", h.Compress},
	}
}

// Each gives every hook with what it takes part in, in the order of the settings.
func (h Hooks) Each(do func(event string, one Hook)) {
	for _, of := range h.byEvent() {
		for _, one := range of.list {
			do(of.key, one)
		}
	}
}

// checkHooks finds hooks without a command. What such a hook was to refuse is refused.
func (c *Config) checkHooks() []Problem {
	var out []Problem
	for _, of := range c.Hooks.byEvent() {
		key := "hooks." + of.key
		for _, one := range of.list {
			if one.Command != "" {
				continue
			}
			where := c.places[key]
			p := Problem{
				File: where.file, Line: where.line, Column: where.column, Text: cmp.Or(one.Name, one.Matcher, of.key),
				Why: "a hook without a command:", Fix: "write command: PROGRAM below it, or remove it",
			}
			out = append(out, p)
			c.markUnread(key, p)
		}
	}
	return out
}

// ProjectHooks reads the hooks that a project's file names. They are a stranger's until the person
// trusted them, and ${VAR} stays as it is written: the shell that runs a command puts in what
// programs may see, nobody's secrets.
func (c *Config) ProjectHooks(name string, data []byte) (Hooks, []Problem) {
	p := Defaults()
	p.env, p.paths, p.places, p.unused = environment{}, c.paths, map[string]place{}, map[string]place{}
	parsed := parse(name, bytes.ReplaceAll(data, []byte{'\t'}, []byte{' '}))
	problems := parsed.problems
	for _, root := range parsed.roots {
		problems = append(problems, p.addLayer(name, func(d *decoder) {
			for _, pair := range d.listPairs(root, 0) {
				if f, ok := fieldOf(configType, "hooks"); ok && pair.key.Value == f.name {
					d.decodeValue(f.valueIn(d.root), f, pair.value, f.name)
				}
			}
		})...)
	}
	return p.Hooks, append(problems, p.checkHooks()...)
}
