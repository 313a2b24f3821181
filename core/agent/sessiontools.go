package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/secret"
	"hermes/core/tool"
)

// A session is given its tools when it begins, and keeps them byte for byte, over restarts too: a
// list that changes by itself costs the provider's cache, and a server could put words before the
// model that nobody has seen. What is different meanwhile is offered to the person. A change of the
// toolsets is the person's own act and counts at once.

// metaTools is the key under which a session keeps what it was given.
const metaTools = "tools"

// given is the list of a session.
type given struct {
	Toolsets []string    `json:"toolsets,omitempty"`
	Tools    []givenTool `json:"tools"`
	// Found are tools that the model is not told of and finds by a search: see Deps.Defer.
	Found []givenTool `json:"found,omitempty"`
}

// allTools are the tools of the session, whether the model is told of them or not.
func (g *given) allTools() []givenTool { return slices.Concat(g.Tools, g.Found) }

// givenTool is a tool as the session's model is told it. The schema is a string: JSON within JSON
// would not keep its bytes.
type givenTool struct {
	Name        string `json:"name"`
	Owner       string `json:"owner,omitempty"`
	Description string `json:"description"`
	Schema      string `json:"schema"`
}

func newGiven(toolsets []string, specs []tool.Spec) *given {
	return &given{Toolsets: slices.Clone(toolsets), Tools: asGiven(specs)}
}

func asGiven(specs []tool.Spec) []givenTool {
	out := make([]givenTool, len(specs))
	for i, s := range specs {
		out[i] = givenTool{s.Name, s.Owner, s.Description, string(s.Schema)}
		if s.Owner != "" {
			out[i].Description = secret.Clean(s.Description)
		}
	}
	return out
}

// providerSpecs is what goes to the model.
func (g *given) providerSpecs() []provider.ToolSpec {
	var out []provider.ToolSpec
	for _, t := range g.Tools {
		out = append(out, provider.ToolSpec{Name: t.Name, Description: t.Description, Schema: json.RawMessage(t.Schema)})
	}
	return out
}

// givenTools returns what a session was given; it is given the tools as they are now when it
// begins, or when the toolsets are others.
func (w *worker) givenTools(ctx context.Context, toolsets []string) (*given, error) {
	g := w.loadGiven(ctx)
	known := g != nil && slices.Equal(g.Toolsets, toolsets)
	if w.a.d.Await != nil {
		w.a.d.Await(ctx, w.uid, toolsets, !known)
	}
	if known {
		w.offerTools(g)
		return g, nil
	}
	return w.takeTools(ctx, toolsets)
}

// loadGiven returns what the session was given, nil when that is nothing yet. What cannot be read
// is given anew.
func (w *worker) loadGiven(ctx context.Context) *given {
	w.mu.Lock()
	g := w.given
	w.mu.Unlock()
	if g != nil {
		return g
	}
	text, err := w.a.d.Sessions.Meta(ctx, w.uid, metaTools)
	if err == nil && text != "" {
		g = &given{}
		err = json.Unmarshal([]byte(text), g)
	}
	if err != nil {
		w.a.d.Log.Warn("the session's tools are not known, it is given those of now", "session", w.uid, "err", err)
		return nil
	}
	w.setGiven(g)
	return g
}

func (w *worker) setGiven(g *given) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.given, w.offered = g, ""
}

// takeTools gives the session the tools as they are now.
func (w *worker) takeTools(ctx context.Context, toolsets []string) (*given, error) {
	specs, found := w.a.d.Tools.Specs(w.uid, toolsets), []tool.Spec(nil)
	if w.a.d.Defer != nil {
		specs, found = w.a.d.Defer(w.modelWindow(ctx), specs)
	}
	g := newGiven(toolsets, specs)
	if len(found) > 0 {
		g.Found = asGiven(found)
	}
	data, err := json.Marshal(g)
	if err == nil {
		err = w.a.d.Sessions.SetMeta(ctx, w.uid, metaTools, string(data))
	}
	if err != nil {
		return nil, fmt.Errorf("the session's tools could not be kept: %w", err)
	}
	w.setGiven(g)
	return g, nil
}

// modelWindow is the one of the session's model in tokens, 0 when it is not known.
func (w *worker) modelWindow(ctx context.Context) int {
	info, err := w.a.d.Sessions.Get(ctx, w.uid)
	if err != nil {
		return 0
	}
	_, m, err := w.a.d.Models.Resolve(ctx, w.a.modelRef(ctx, info))
	if err != nil {
		return 0
	}
	return m.Window
}

// toolChanges is what is not any more as the session was given it. A tool that is only hidden here,
// such as one that needs a person to be there, is not gone.
func (a *Agent) toolChanges(session string, g *given) event.ToolsChanged {
	var d event.ToolsChanged
	had := map[string]givenTool{}
	for _, t := range g.allTools() {
		had[t.Name] = t
		if s, ok := a.d.Tools.Lookup(t.Name); !ok || s.Owner != t.Owner {
			d.Removed = append(d.Removed, t.Name)
		}
	}
	for _, t := range newGiven(nil, a.d.Tools.Specs(session, g.Toolsets)).Tools {
		switch old, ok := had[t.Name]; {
		case !ok || old.Owner != t.Owner:
			d.Added = append(d.Added, t.Name)
		case old != t:
			d.Changed = append(d.Changed, t.Name)
		}
	}
	return d
}

// offerTools tells once what could be taken.
func (w *worker) offerTools(g *given) {
	d := w.a.toolChanges(w.uid, g)
	key := fmt.Sprintf("%q", [][]string{d.Added, d.Removed, d.Changed})
	w.mu.Lock()
	known := w.offered
	w.offered = key
	w.mu.Unlock()
	if key != known && (known != "" || !d.Empty()) {
		w.publish(d)
	}
}

// OfferTools tells the sessions that are at work what changed about their tools. Call it when the
// registry's list was replaced.
func (a *Agent) OfferTools() {
	a.mu.Lock()
	workers := make([]*worker, 0, len(a.workers))
	for _, w := range a.workers {
		workers = append(workers, w)
	}
	a.mu.Unlock()
	for _, w := range workers {
		w.mu.Lock()
		g := w.given
		w.mu.Unlock()
		if g != nil {
			w.offerTools(g)
		}
	}
}

// TakeTools gives an idle session the tools as they are now, and returns what that changes.
func (a *Agent) TakeTools(ctx context.Context, session string) (d event.ToolsChanged, err error) {
	err = a.whenIdle(ctx, session, func(w *worker) error {
		g := w.loadGiven(ctx)
		if g == nil {
			return nil // its first turn gives it those of then
		}
		d = a.toolChanges(session, g)
		toolsets := a.d.Settings(session).Toolsets
		if d.Empty() && slices.Equal(toolsets, g.Toolsets) {
			return nil
		}
		_, err := w.takeTools(ctx, toolsets)
		return err
	})
	return d, err
}

// callableTool returns the spec of a tool that the session was given, as it is now; the error is
// for the model.
func (t *turn) callableTool(name string) (tool.Spec, error) {
	all := t.tools.allTools()
	i := slices.IndexFunc(all, func(g givenTool) bool { return g.Name == name })
	s, ok := t.a.d.Tools.Lookup(name)
	switch {
	case i >= 0 && (!ok || s.Owner != all[i].Owner):
		return s, fmt.Errorf("the tool %s is gone: %s does not offer it any more. Go on without it", name, all[i].ownerName())
	case i >= 0:
		return s, nil
	}
	var names []string
	for _, g := range t.tools.Tools {
		names = append(names, g.Name)
	}
	if !ok {
		return s, tool.ExplainUnknown(name, names)
	}
	return s, fmt.Errorf("the tool %s is not part of this session. Yours are: %s", name, strings.Join(names, ", "))
}

func (g givenTool) ownerName() string {
	if g.Owner == "" {
		return "hermes"
	}
	return g.Owner
}

// toolSpecs are the tools of the session for a program that calls them: as the session was given
// them, with what they are now behind.
func (t *turn) toolSpecs() []tool.Spec {
	all := t.tools.allTools()
	specs := make([]tool.Spec, len(all))
	for i, g := range all {
		s, ok := t.a.d.Tools.Lookup(g.Name)
		if !ok || s.Owner != g.Owner {
			s = tool.Spec{Name: g.Name, Owner: g.Owner}
		}
		s.Description, s.Schema = g.Description, json.RawMessage(g.Schema)
		specs[i] = s
	}
	return specs
}
