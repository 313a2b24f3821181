package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"hermes/core/provider"
)

// Thoughts of Gemini's compatible end point. It gives them when a request asks for them beside the
// standard fields, and takes reasoning_effort or its own field, never both. They come as content:
// each delta with one is marked, the first begins with a tag, and the answer begins with its end.
// https://ai.google.dev/gemini-api/docs/openai#thinking

const (
	thoughtBegins = "<thought>"
	thoughtEnds   = "</thought>"
)

// thoughtTokens are the budgets that the vendor names for the efforts, for models that take no
// level.
var thoughtTokens = map[string]int{
	"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576, "max": 24576,
}

// asks reports whether the request asks for thoughts in the vendor's own field.
func (f *format) asks(r provider.Request) bool {
	return f.Endpoint.Thoughts() == provider.ThoughtsGoogle && r.Effort != "none" &&
		!f.Refuses(noAsking+r.Model)
}

// asked is the vendor's own field for a request.
func (f *format) asked(r provider.Request) map[string]any {
	config := map[string]any{"include_thoughts": true}
	levels := provider.Known(f.Endpoint, r.Model).Efforts
	switch tokens, known := thoughtTokens[r.Effort]; {
	case r.Effort == "" || f.noEffort.Load():
	case slices.Contains(levels, r.Effort):
		config["thinking_level"] = r.Effort
	case len(levels) > 0 && known:
		config["thinking_level"] = nearestLevel(levels, tokens)
	case known:
		config["thinking_budget"] = tokens
	}
	return map[string]any{"google": map[string]any{"thinking_config": config}}
}

// nearestLevel is the least of the levels that thinks as long as tokens do, else the last one.
func nearestLevel(levels []string, tokens int) string {
	for _, l := range levels {
		if thoughtTokens[l] >= tokens {
			return l
		}
	}
	return levels[len(levels)-1]
}

// extra is what the vendor says of a delta beside the standard fields.
type extra struct{ thought bool }

// UnmarshalJSON never fails: an unknown form says nothing.
func (e *extra) UnmarshalJSON(b []byte) error {
	var in struct {
		Google struct {
			Thought bool `json:"thought"`
		} `json:"google"`
	}
	if json.Unmarshal(b, &in) == nil {
		e.thought = in.Google.Thought
	}
	return nil
}

// unwrapThought makes a thought of content that is marked as one, and takes the tags away.
func (a *assembler) unwrapThought(d *delta) {
	text := d.Content.text
	switch {
	case d.Extra.thought:
		if !a.marked {
			text = strings.TrimPrefix(text, thoughtBegins)
		}
		thought, answer, ended := strings.Cut(text, thoughtEnds)
		d.Content.thought, d.Content.text = d.Content.thought+thought, answer
		a.marked = !ended
	case a.marked && text != "":
		d.Content.text = strings.TrimPrefix(text, thoughtEnds)
		a.marked = false
	}
}
