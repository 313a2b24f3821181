package mcp

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hermes/core/clip"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Question is what a server asks the person.
type Question struct {
	Server  string
	Session string // of the call that it asks in
	Turn    string
	CallID  string
	Text    string
	URL     *url.URL // to be opened; nil asks for the fields
	Fields  []Field  // of a form
}

// Field is one value that a server asks for.
type Field struct {
	Name     string
	Title    string
	Help     string
	Kind     string   // "string", "number", "integer", "boolean"
	Choices  []string // empty: any value
	Required bool
}

// Value is a text as the field wants it.
func (f Field) Value(text string) (any, error) {
	text = strings.TrimSpace(text)
	switch f.Kind {
	case "boolean":
		switch strings.ToLower(text) {
		case "yes", "y", "true":
			return true, nil
		case "no", "n", "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither yes nor no", text)
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", text)
		}
		return n, nil
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", text)
		}
		return n, nil
	}
	if len(f.Choices) > 0 && !slices.Contains(f.Choices, text) {
		return nil, fmt.Errorf("%q is none of %s", text, joinNames(f.Choices))
	}
	return text, nil
}

// Answer is what the person said: "accept", "decline" or "cancel", and the values of the fields.
type Answer struct {
	Action string
	Values map[string]any
}

const (
	maxFields   = 20
	maxQuestion = 2000
	maxChoice   = 300 // bytes
)

// askPerson puts a server's question before the person, in the session of the call that it came
// with. The clock of the call stands still meanwhile.
func (s *server) askPerson(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	me := s.newestCall()
	if me == nil || s.m.o.Ask == nil {
		s.log.addNote("it asked something outside of a call: nobody was told")
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	q, err := questionOf(r.Params)
	if err != nil {
		s.log.addNote("it asked something that nobody was told: " + err.Error())
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	q.Server, q.Session, q.Turn, q.CallID = s.currentSettings().Name, me.session, me.turn, me.id
	defer me.holdClock()()
	a, err := s.m.o.Ask(ctx, q)
	if err != nil {
		s.log.addNote("its question was not answered: " + err.Error())
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	return &sdk.ElicitResult{Action: cmp.Or(a.Action, "cancel"), Content: a.Values}, nil
}

// newestCall is the newest call that is on its way.
func (s *server) newestCall() *calling {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.active) == 0 {
		return nil
	}
	return s.active[len(s.active)-1]
}

// questionOf is what a request asks, as far as a person can answer it.
func questionOf(p *sdk.ElicitParams) (Question, error) {
	q := Question{Text: clip.Runes(plainText(p.Message), maxQuestion, "…")}
	if p.Mode == "url" || p.URL != "" {
		u, err := url.Parse(p.URL)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
			return q, fmt.Errorf("the address %q is not one to open", clip.Runes(plainText(p.URL), 200, "…"))
		}
		q.URL = u
		return q, nil
	}
	schema := asObject(p.RequestedSchema)
	props, _ := schema["properties"].(map[string]any)
	if len(props) > maxFields {
		return q, fmt.Errorf("it asks for %d values at once", len(props))
	}
	needed := requiredArguments(schema)
	for _, name := range sortedKeys(props) {
		one, _ := props[name].(map[string]any)
		text := func(key string) string { t, _ := one[key].(string); return clip.Runes(plainText(t), 300, "…") }
		f := Field{Name: name, Title: cmp.Or(text("title"), plainText(name)), Help: text("description"), Kind: cmp.Or(text("type"), "string"), Required: slices.Contains(needed, name)}
		f.Choices = choicesOf(one)
		q.Fields = append(q.Fields, f)
	}
	slices.SortStableFunc(q.Fields, func(a, b Field) int { return slices.Index(needed, b.Name) - slices.Index(needed, a.Name) })
	return q, nil
}

func isLoopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// choicesOf are the values of an enumeration, in its two forms.
func choicesOf(schema map[string]any) []string {
	var out []string
	add := func(v any) {
		if t, ok := v.(string); ok && len(out) < maxFields && len(t) <= maxChoice {
			out = append(out, plainText(t))
		}
	}
	for _, key := range []string{"enum", "oneOf", "anyOf"} {
		list, _ := schema[key].([]any)
		for _, v := range list {
			if m, ok := v.(map[string]any); ok {
				v = m["const"]
			}
			add(v)
		}
	}
	return out
}
