package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/chat"
	"hermes/core/clip"
)

const (
	maxOffered = 1000    // prompts or resources of one server
	maxText    = 100_000 // characters of a prompt or a resource that reach a message
)

// Prompt is a text that a server has ready for a person to use.
type Prompt struct {
	Server  string
	Name    string // as the server calls it
	Command string // as it is called here: mcp__server__name
	About   string
	Args    []PromptArg
}

// PromptArg is one of its arguments.
type PromptArg struct {
	Name     string
	Required bool
}

// Resource is something that a server lets be read.
type Resource struct {
	Server string
	URI    string
	Name   string
	About  string
}

// Mention is how a resource is named in a message: @server:uri.
func (r Resource) Mention() string { return r.Server + ":" + r.URI }

// lookAround reads what a server offers beside tools. What fails is left out: the tools are worth
// more.
func (s *server) lookAround(ctx context.Context, c *connection) {
	set, has := s.currentSettings(), c.session.InitializeResult().Capabilities
	var prompts []*sdk.Prompt
	var resources []*sdk.Resource
	if has != nil && has.Prompts != nil && set.Tools.Prompts != "no" {
		prompts = readPages(s, "prompts", c.session.Prompts(ctx, nil))
	}
	if has != nil && has.Resources != nil && set.Tools.Resources != "no" {
		resources = readPages(s, "resources", c.session.Resources(ctx, nil))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts, s.resources = prompts, resources
}

// readPages reads a list of pages up to a bound, so that one that never ends does.
func readPages[T any](s *server, what string, pages func(func(*T, error) bool)) []*T {
	var out []*T
	for v, err := range pages {
		if err != nil {
			s.log.addNote("its " + what + " could not be read: " + err.Error())
			break
		}
		if out = append(out, v); len(out) >= maxOffered {
			s.log.addNote(fmt.Sprintf("it has more than %d %s: the rest is left out", maxOffered, what))
			break
		}
	}
	return out
}

// Prompts lists the prompts of all servers that are connected.
func (m *Manager) Prompts() []Prompt {
	var out []Prompt
	for _, s := range m.serversNamed(nil) {
		s.mu.Lock()
		var names []string
		for _, p := range s.prompts {
			names = append(names, p.Name)
		}
		commands := toolNames(s.all, s.set.Name, names)
		for _, p := range s.prompts {
			one := Prompt{Server: s.set.Name, Name: p.Name, Command: commands[p.Name], About: clip.Runes(plainText(firstSet(p.Description, p.Title, p.Name)), 200, "…")}
			for _, a := range p.Arguments {
				one.Args = append(one.Args, PromptArg{plainText(a.Name), a.Required})
			}
			out = append(out, one)
		}
		s.mu.Unlock()
	}
	return out
}

func firstSet(list ...string) string {
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}

// Prompt has a server make one of its prompts. What it says goes to the model as a part of a
// message, for these are not the person's words.
func (m *Manager) Prompt(ctx context.Context, server, name, args string) ([]chat.Part, error) {
	s, err := m.findServer(server)
	if err != nil {
		return nil, err
	}
	all := m.Prompts() // the server may offer others at any time
	i := slices.IndexFunc(all, func(p Prompt) bool { return p.Server == server && p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("the server %s has no prompt %q any more", server, name)
	}
	values, err := parseArguments(all[i], args)
	if err != nil {
		return nil, err
	}
	conn, err := s.connectionOf(ctx)
	if err != nil {
		return nil, err
	}
	res, err := conn.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: values})
	if err != nil {
		return nil, fmt.Errorf("the prompt %s of %s: %w", name, server, err)
	}
	var texts []string
	var parts []chat.Part
	t := &remote{set: s.currentSettings(), def: definition{Name: name}}
	for _, msg := range res.Messages {
		text, part := t.contentOf(msg.Content)
		if text != "" {
			texts = append(texts, text)
		}
		if part != nil {
			parts = append(parts, *part)
		}
	}
	whole := chat.Part{Kind: chat.PartResource, Name: plainText(server + " " + name), URI: plainText("mcp:" + server + "/prompts/" + name), Text: clip.Runes(strings.Join(texts, "\n\n"), maxText, "…"), Foreign: true}
	return append([]chat.Part{whole}, parts...), nil
}

// parseArguments reads name=value words; a text without one is the first argument.
func parseArguments(p Prompt, text string) (map[string]string, error) {
	out := map[string]string{}
	rest := strings.TrimSpace(text)
	for rest != "" {
		name, after, ok := strings.Cut(rest, "=")
		known := slices.ContainsFunc(p.Args, func(a PromptArg) bool { return a.Name == name })
		if !ok || !known {
			if len(out) > 0 || len(p.Args) == 0 {
				return nil, fmt.Errorf("%q is no argument of %s; write %s", clip.Runes(rest, 60, "…"), p.Name,
					promptUsage(p))
			}
			out[p.Args[0].Name] = rest
			break
		}
		out[name], rest = takeValue(after)
	}
	for _, a := range p.Args {
		if _, given := out[a.Name]; a.Required && !given {
			return nil, fmt.Errorf("%s wants %s", p.Name, promptUsage(p))
		}
	}
	return out, nil
}

// takeValue takes the text up to a blank, or the one in quotes, and what follows.
func takeValue(text string) (v, rest string) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		v, rest, _ = strings.Cut(quoted, `"`)
	} else {
		v, rest, _ = strings.Cut(text, " ")
	}
	return v, strings.TrimSpace(rest)
}

func promptUsage(p Prompt) string {
	var out []string
	for _, a := range p.Args {
		word := a.Name + "=..."
		if !a.Required {
			word = "[" + word + "]"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// Usage says how the arguments are written.
func (p Prompt) Usage() string { return promptUsage(p) }

// Resources lists what can be mentioned.
func (m *Manager) Resources() []Resource {
	var out []Resource
	for _, s := range m.serversNamed(nil) {
		s.mu.Lock()
		for _, r := range s.resources {
			out = append(out, Resource{Server: s.set.Name, URI: plainText(r.URI), Name: plainText(r.Name), About: clip.Runes(plainText(r.Description), 200, "…")})
		}
		s.mu.Unlock()
	}
	return out
}

// Mentioned reads the resources that a text names with @server:uri. One that cannot be read is a
// part that says so.
func (m *Manager) Mentioned(ctx context.Context, text string) []chat.Part {
	var out []chat.Part
	for _, word := range strings.Fields(text) {
		mention, ok := strings.CutPrefix(word, "@")
		name, uri, colon := strings.Cut(mention, ":")
		if !ok || !colon || uri == "" || len(out) >= chat.MaxParts {
			continue
		}
		s, err := m.findServer(name)
		if err != nil {
			continue // an address of mail, a word
		}
		parts, err := s.readResource(ctx, uri)
		if err != nil {
			parts = []chat.Part{{Kind: chat.PartResource, Name: mention, URI: uri, Text: "[it could not be read: " + plainText(err.Error()) + "]"}}
		}
		out = append(out, parts...)
	}
	return out
}

func (s *server) readResource(ctx context.Context, uri string) ([]chat.Part, error) {
	s.ensureRunning()
	ctx, cancel := context.WithTimeout(ctx, s.currentSettings().callLimit())
	defer cancel()
	conn, err := s.connectionOf(ctx)
	if err != nil {
		return nil, err
	}
	res, err := conn.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	var out []chat.Part
	for _, c := range res.Contents {
		if p := resourcePart(c); p != nil {
			p.Name = s.currentSettings().Name + ":" + p.Name
			p.Text = clip.Runes(p.Text, maxText, "…")
			out = append(out, *p)
		}
	}
	return out, nil
}
