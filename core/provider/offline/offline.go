// Package offline stands in when no language model is connected, and says so plainly. It is not a
// model and does not pretend to be one: it turns explicit requests ("$ ls", "read PATH", a fenced
// shell block ...) into real tool calls through the same stream that a model uses, so that a
// newcomer without any key sees every part of the program at work on real results. To anything else
// it answers that nobody is there, and how to connect a model.
//
// It uses no network, is deterministic, and never runs what was not asked for word for word.
package offline

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/provider"
)

//go:embed help.md
var helpText string

//go:embed nomodel.md
var noModelText string

// Provider implements provider.Provider.
type Provider struct {
	// pace is the pause before a piece of text, so that the eye can follow; longest bounds the sum.
	pace, longest time.Duration
}

// New makes the provider.
func New() *Provider { return &Provider{pace: 4 * time.Millisecond, longest: 200 * time.Millisecond} }

// Make is a provider.Maker; the endpoint does not matter.
func Make(provider.Endpoint) (provider.Provider, error) { return New(), nil }

// Name returns "offline".
func (*Provider) Name() string { return provider.Offline }

// Models lists the one pseudo model. Its window is unknown: nothing reads the conversation.
func (*Provider) Models(context.Context) ([]provider.Model, error) {
	return []provider.Model{{ID: provider.Offline, Provider: provider.Offline, Name: "no model: explicit commands only", Priced: true, Tools: true}}, nil
}

// Stream answers the last user message, or reports on the tool results after it.
func (p *Provider) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		text, calls := answer(r)
		if !p.speak(ctx, text, yield) {
			return
		}
		finish := chat.FinishStop
		for i, c := range calls {
			finish = chat.FinishToolCalls
			if !yield(provider.Chunk{Kind: provider.ChunkToolStart, Index: i, CallID: c.ID, Name: c.Name}, nil) ||
				!yield(provider.Chunk{Kind: provider.ChunkToolArgs, Index: i, Text: string(c.Args)}, nil) {
				return
			}
		}
		yield(provider.Chunk{Kind: provider.ChunkEnd, Finish: finish, Usage: chat.Usage{CostKnown: true}, Model: provider.Offline}, nil)
	}
}

// speak yields the text in pieces and reports whether to go on.
func (p *Provider) speak(ctx context.Context, text string, yield func(provider.Chunk, error) bool) bool {
	var spent time.Duration
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for _, piece := range pieces(text) {
		if spent < p.longest && p.pace > 0 {
			spent += p.pace
			timer.Reset(p.pace)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			yield(provider.Chunk{}, provider.Transport(provider.Offline, provider.Offline, ctx.Err()))
			return false
		}
		if !yield(provider.Chunk{Kind: provider.ChunkText, Text: piece}, nil) {
			return false
		}
	}
	return true
}

// pieces cuts a text after spaces and line ends, so that each piece has about 20 bytes. They join
// to the text.
func pieces(text string) []string {
	const size = 20
	var out []string
	for text != "" {
		n := len(text)
		if n > size {
			n = size
			for n < len(text) && (text[n-1] != ' ' && text[n-1] != '\n' || !utf8.RuneStart(text[n])) {
				n++
			}
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// answer is what to say and what to call.
func answer(r provider.Request) (string, []chat.ToolCall) {
	at := len(r.Messages) - 1
	for at >= 0 && r.Messages[at].Role == chat.RoleSystem {
		at--
	}
	switch {
	case at < 0:
		return noModelText, nil
	case r.Messages[at].Role == chat.RoleTool:
		return report(r.Messages[:at+1]), nil
	default:
		return plan(parse(said(r.Messages[at])), r.Tools, at)
	}
}

// said is what a person wrote with what they pasted under it: a long paste is an attachment, but
// meant all the same.
func said(m chat.Message) string {
	text := m.Text
	for _, a := range m.Parts {
		if a.Kind == chat.PartPaste {
			text += "\n" + a.Text
		}
	}
	return text
}

// plan turns requests into calls of the tools that are offered, and says what it does.
func plan(requests []request, tools []provider.ToolSpec, at int) (string, []chat.ToolCall) {
	var say []string
	var calls []chat.ToolCall
	for _, q := range requests {
		switch q.kind {
		case kindFree:
			return noModelText, nil
		case kindHelp:
			return helpText, nil
		default:
		}
		name, doing, args := q.call()
		if !slices.ContainsFunc(tools, func(t provider.ToolSpec) bool { return t.Name == name }) {
			say = append(say, fmt.Sprintf("%s is not possible here: this session has no tool called `%s`.", doing, name))
			continue
		}
		raw, err := json.Marshal(args)
		if err != nil { // strings and lists of strings always marshal
			continue
		}
		say = append(say, doing+".")
		calls = append(calls, chat.ToolCall{ID: fmt.Sprintf("offline_%d_%d", at, len(calls)), Name: name, Args: raw})
	}
	return strings.Join(say, "\n\n") + "\n", calls
}

// todo is an item of the todo list as the tool takes it.
type todo struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

// call is the tool that a request needs, what it does in words, and the arguments.
func (q request) call() (name, doing string, args map[string]any) {
	switch q.kind {
	case kindRun:
		args = map[string]any{"command": q.text}
		if q.backend == "" {
			return "terminal", "Running " + code(q.text), args
		}
		args["backend"] = q.backend
		return "terminal", "Running " + code(q.text) + " on " + code(q.backend), args
	case kindPython:
		args = map[string]any{"code": q.text}
		if q.backend != "" {
			args["backend"] = q.backend
		}
		return "execute_code", "Running the Python block", args
	case kindRead:
		return "read_file", "Reading " + code(q.path), map[string]any{"path": q.path}
	case kindFind:
		args = map[string]any{"pattern": regexp.QuoteMeta(q.text)} // the tool takes an expression, people type text
		if q.path != "" {
			args["path"] = q.path
		}
		return "search_files", "Searching the files for " + code(q.text), args
	case kindPast:
		return "session_search", "Searching past conversations for " + code(q.text), map[string]any{"query": q.text}
	case kindRemember:
		return "memory", "Keeping a note", map[string]any{"action": "add", "target": "memory", "content": q.text}
	case kindWrite:
		return "write_file", "Writing " + code(q.path), map[string]any{"path": q.path, "content": q.text}
	case kindProcedure:
		return "skill_run", "Running the procedure " + code(q.run.Name+q.run.Resume), q.run.Args()
	case kindTodo:
		items := make([]todo, 0, len(q.items))
		for i, s := range q.items {
			items = append(items, todo{ID: fmt.Sprint(i + 1), Content: s, Status: "pending"})
		}
		return "todo", "Setting the todo list", map[string]any{"todos": items}
	default:
		args = map[string]any{"question": q.text}
		if len(q.items) > 0 {
			args["choices"] = q.items
		}
		return "clarify", "Asking you", args
	}
}

// code is one line in backticks, shortened.
func code(s string) string {
	line, more, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(s), "`", "'"), "\n")
	const longest = 80
	if r := []rune(line); len(r) > longest || more != "" {
		line = string(r[:min(len(r), longest)]) + " …"
	}
	return "`" + line + "`"
}
