package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"hermes/core/nearest"
)

// schema checks arguments in two passes: our own over the shallow rules that models get wrong, with
// sentences that they can act on, then the full validator for everything else that a schema can
// say.
type schema struct {
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
}

func compileSchema(raw json.RawMessage) (*schema, error) {
	s := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, err
	}
	res, err := s.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return &schema{root: s, resolved: res}, nil
}

// checkArguments validates args for the tool called name and returns them, mended where the intent
// is beyond doubt.
func (s *schema) checkArguments(name string, args json.RawMessage) (json.RawMessage, error) {
	obj, err := parseArgs(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w. Arguments: %s", name, err, s.usageText())
	}
	mended := false
	for key, p := range s.root.Properties {
		v, given := obj[key]
		if !given {
			continue
		}
		if v == nil && !slices.Contains(s.root.Required, key) && !allowsType(p, "null") {
			delete(obj, key) // null for an optional argument means that it was left out
			mended = true
			continue
		}
		if w, ok := coerceValue(p, v); ok {
			obj[key] = w
			mended = true
		}
	}
	if problems := s.listProblems(obj); len(problems) > 0 {
		return nil, fmt.Errorf("%s: %s. Arguments: %s", name, strings.Join(problems, "; "), s.usageText())
	}
	if err := s.resolved.Validate(obj); err != nil {
		return nil, fmt.Errorf("%s: %w. Arguments: %s", name, err, s.usageText())
	}
	if !mended {
		return normalArguments(args), nil
	}
	return json.Marshal(obj)
}

// normalArguments gives "no arguments" one form.
func normalArguments(args json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(args)) == 0 {
		return json.RawMessage("{}")
	}
	return args
}

func parseArgs(args json.RawMessage) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(normalArguments(args)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON (%w); send one JSON object", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the arguments have text after the JSON object; send one JSON object")
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the arguments are %s; send one JSON object", kindName(v))
	}
	return plainNumbers(obj).(map[string]any), nil
}

// plainNumbers turns json.Number into int64 or float64, which is what the validator and our checks
// compare.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return v.String() // a number beyond float64 is no number that any tool can use
		}
		return f
	case map[string]any:
		for k, x := range v {
			v[k] = plainNumbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plainNumbers(x)
		}
	}
	return v
}

// listProblems lists what is wrong, in a fixed order.
func (s *schema) listProblems(obj map[string]any) []string {
	var out []string
	known := slices.Sorted(maps.Keys(s.root.Properties))
	for _, key := range slices.Sorted(maps.Keys(obj)) {
		p, ok := s.root.Properties[key]
		switch {
		case ok:
			out = append(out, describeProblem(key, p, obj[key])...)
		case s.root.AdditionalProperties != nil:
			out = append(out, unknownArg(key, known))
		}
	}
	for _, key := range s.root.Required {
		if _, ok := obj[key]; !ok {
			out = append(out, fmt.Sprintf("%s is required and was not given", key))
		}
	}
	return out
}

func unknownArg(key string, known []string) string {
	text := fmt.Sprintf("there is no argument %q", clipRunes(key, 60))
	if near, ok := nearest.Name(key, known); ok {
		text += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return text
}

// usageText lists the arguments: "path* string, limit integer 1-2000". A star marks what is
// required.
func (s *schema) usageText() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(s.root.Properties)) {
		star := ""
		if slices.Contains(s.root.Required, key) {
			star = "*"
		}
		parts = append(parts, key+star+" "+allowedText(s.root.Properties[key]))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
