package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"hermes/core/clip"
	"hermes/core/injection"
	"hermes/core/intent"
	"hermes/core/tool"
)

// remote is a tool of a server as the registry has it.
type remote struct {
	s     *server
	def   definition // as it is told to models: the one that was seen
	name  string     // for models
	rules *rules
	set   Settings
	pin   Pin
	why   string // it is blocked
	spec  tool.Spec
	gives func() *jsonschema.Resolved // what it says of its results; nil when that means nothing
}

// registerTools gives the registry the tools that the server offers, as the settings have them.
func (s *server) registerTools() {
	s.mu.Lock()
	set, all, offered := s.set, s.all, s.offered
	running := s.running
	s.mu.Unlock()
	var tools []*remote
	hidden := 0
	if running {
		seen, err := s.m.pins.pinsOf(set.Name, offered)
		if err != nil {
			s.log.addNote(err.Error())
		}
		tools, hidden = s.makeTools(set, all, offered, seen)
	}
	list := make([]tool.Tool, len(tools))
	for i, t := range tools {
		list[i] = t
	}
	if err := s.m.o.Replace(OwnerPrefix+set.Name, list); err != nil {
		s.log.addNote("its tools could not be taken: " + err.Error())
		s.m.o.Log.Error("tools of a server were refused", "server", set.Name, "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.hidden = tools, hidden
}

// makeTools builds the tools that the settings let the agent see.
func (s *server) makeTools(set Settings, all []string, offered []definition, seen map[string]pin) (tools []*remote, hidden int) {
	r, err := newRules(set.Permissions)
	if err != nil { // check said so: such a server does not run
		return nil, len(offered)
	}
	names := make([]string, len(offered))
	for i, d := range offered {
		names[i] = d.Name
	}
	given := toolNames(all, set.Name, names)
	for _, d := range offered {
		shown := len(set.Tools.Include) == 0 || matchesAny(set.Tools.Include, d.Name)
		if !shown || matchesAny(set.Tools.Exclude, d.Name) || r.whyDenied(d.Name) != "" {
			hidden++
			continue
		}
		t := &remote{s: s, def: d, name: given[d.Name], rules: r, set: set, pin: Pinned}
		t.judgeAgainst(seen)
		t.gives = sync.OnceValue(func() *jsonschema.Resolved { return resultSchema(t.def.Output) })
		t.spec = t.describeTool()
		tools = append(tools, t)
	}
	return tools, hidden
}

// judgeAgainst holds the definition against the one that was seen. What a model is told of a
// blocked tool is the one that was seen, or that it is blocked.
func (t *remote) judgeAgainst(seen map[string]pin) {
	known, has := seen[t.def.Name]
	switch {
	case has && known.Hash == t.def.contentHash():
		return
	case has:
		t.pin, t.why = Changed, "the server changed its definition since the person saw it"
		t.def = known.Def
	default:
		t.pin, t.why = Suspicious, "its text reads like orders to the agent ("+t.def.findOrders()+")"
		t.def = definition{Name: t.def.Name, Description: "Blocked until the person has looked at its description."}
	}
}

func (t *remote) describeTool() tool.Spec {
	d := t.def
	reads := d.Annotations != nil && d.Annotations.ReadOnlyHint && t.set.Trust
	description := strings.TrimSpace(d.Description)
	if description == "" {
		description = d.Title
	}
	if description == "" {
		description = "The tool " + d.Name + " of the server " + t.set.Name + "; it says nothing about itself."
	}
	return tool.Spec{
		Name: t.name, Toolset: Toolset(t.set.Name), Owner: OwnerPrefix + t.set.Name, Trusted: t.set.Trust,
		Title: d.Name + " of the " + t.set.kindWord() + " " + t.set.Name, Description: description, Schema: loosenSchema(d.Input),
		Consent: t.rules.consentFor(d.Name), Serial: false,
		Intent: func(args json.RawMessage) intent.Intent {
			return intent.Intent{Reads: reads, Gist: gistOf(t.set.Name, d.Name, args)}
		},
		Refuse: func(ctx context.Context, c tool.Call) string { return t.whyRefused(ctx, c.Args) },
	}
}

// Toolset is the name that a server's tools are chosen by. One that is called like a toolset of
// ours keeps its prefix.
func Toolset(server string) string {
	for _, t := range tool.Toolsets() {
		if t.Name == server {
			return OwnerPrefix + server
		}
	}
	return server
}

// gistOf is a call in one line.
func gistOf(server, name string, args json.RawMessage) string {
	text := string(args)
	if text == "{}" {
		text = ""
	}
	const most = 120
	text = clip.Runes(text, most, "…")
	return strings.TrimSpace(server + "." + name + " " + plainText(text))
}

// whyRefused says why a call does not reach the server.
func (t *remote) whyRefused(ctx context.Context, args json.RawMessage) string {
	if t.pin != Pinned {
		return fmt.Sprintf("%s is blocked: %s. Tell the person: they see the difference in /mcp or with `hermes mcp tools %s --review`. Go on without it.",
			t.def.Name, t.why, t.set.Name)
	}
	return t.rules.whyRefused(ctx, t.def.Name, args, t.s.filesSeen(t.set))
}

// Spec implements tool.Tool.
func (t *remote) Spec() tool.Spec { return t.spec }

// Run implements tool.Tool.
func (t *remote) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	if why := t.whyRefused(ctx, c.Args); why != "" { // what was asked about may have changed
		return tool.Fail("%s", why), nil
	}
	res, err := t.s.sendCall(ctx, t, c)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s of the server %s failed: %w", t.def.Name, t.set.Name, err)
	}
	out := t.resultOf(res)
	if c.Data != nil && !out.IsError {
		c.Data(asData(res, out.Text))
	}
	if why := t.findMisfit(res); why != "" {
		out.Text += "\n[This result is not what the tool says that it gives: " + why + ". Do not rely on its form.]"
	}
	if c.Data == nil { // a program would read it
		out.Text = strings.TrimSpace(out.Text + "\n" + t.s.m.About(c.Session, t.set.Name))
	}
	return out, nil
}

// maxGist bounds what lists show of a description, in characters.
const maxGist = 300

// countTokens counts about what the definition takes of a model's window.
func (t *remote) countTokens() int {
	const perToken = 4
	return (len(t.spec.Name) + len(t.spec.Description) + len(t.spec.Schema)) / perToken
}

func (t *remote) asListed() Listed {
	all := strings.TrimSpace(plainText(t.spec.Description))
	first, _, _ := strings.Cut(all, "\n")
	gist := clip.Runes(first, maxGist, "…")
	if all == gist {
		all = ""
	}
	return Listed{
		Name: t.name, Tool: t.def.Name, Gist: gist, Says: all, Rule: t.rules.ruleWord(t.def.Name), Tokens: t.countTokens(), State: t.pin, Why: t.why,
		Reads: t.def.Annotations != nil && t.def.Annotations.ReadOnlyHint,
	}
}

// plainText is a stranger's text without what nobody can see.
func plainText(text string) string {
	text, _ = injection.Clean(text)
	return text
}

// openReviews lists the definitions that wait for the person.
func (s *server) openReviews() []Review {
	s.mu.Lock()
	tools, offered := s.tools, s.offered
	s.mu.Unlock()
	now := map[string]definition{}
	for _, d := range offered {
		now[d.Name] = d
	}
	out := []Review{}
	for _, t := range tools {
		if t.pin == Pinned {
			continue
		}
		d, before := now[t.def.Name], ""
		if t.pin == Changed {
			before = t.def.readableText()
		}
		out = append(out, Review{Tool: d.Name, State: t.pin, Why: t.why, Hash: d.contentHash(), Diff: diffOf(d.Name, before, d.readableText())})
	}
	return out
}

// acceptReviews pins what was shown, if it is still that.
func (s *server) acceptReviews(seen []Review) error {
	s.mu.Lock()
	offered, name := s.offered, s.set.Name
	s.mu.Unlock()
	var list []definition
	for _, d := range offered {
		for _, r := range seen {
			if r.Tool == d.Name && r.Hash == d.contentHash() {
				list = append(list, d)
			}
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("nothing of %s was accepted: what was shown has changed again; look at it once more", name)
	}
	if err := s.m.pins.acceptSeen(name, list); err != nil {
		return err
	}
	s.registerTools()
	s.publishState()
	if len(list) < len(seen) {
		return fmt.Errorf("%d of %d definitions have changed again since they were shown; look at them once more", len(seen)-len(list), len(seen))
	}
	return nil
}
