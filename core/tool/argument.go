package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// coerceValue mends a value of the wrong type when only one reading is possible: "5" and 5.0 for an
// integer, "true" for a boolean, a JSON text or a single item for an array. ok is false when v
// stays as it is.
func coerceValue(p *jsonschema.Schema, v any) (any, bool) {
	if fitsSchema(p, v) {
		return v, false
	}
	for _, t := range schemaTypes(p) {
		if w, ok := coerceTo(t, p, v); ok && len(describeProblem("", p, w)) == 0 {
			return w, true
		}
	}
	return v, false
}

func coerceTo(t string, p *jsonschema.Schema, v any) (any, bool) {
	text, isText := v.(string)
	switch t {
	case "integer":
		i, err := strconv.ParseInt(text, 10, 64)
		return i, isText && err == nil
	case "number":
		f, err := strconv.ParseFloat(text, 64)
		return f, isText && err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	case "boolean":
		b, ok := map[string]bool{"true": true, "false": false}[strings.ToLower(text)]
		return b, isText && ok
	case "array":
		var list []any
		if isText && strings.HasPrefix(strings.TrimSpace(text), "[") && json.Unmarshal([]byte(text), &list) == nil {
			return numbersOf(list), true
		}
		if p.Items != nil && fitsSchema(p.Items, v) {
			return []any{v}, true
		}
	}
	return nil, false
}

// numbersOf gives a decoded list the number types of parseArgs.
func numbersOf(list []any) []any {
	for i, v := range list {
		if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			list[i] = int64(f)
		}
	}
	return list
}

func schemaTypes(p *jsonschema.Schema) []string {
	if p.Type != "" {
		return []string{p.Type}
	}
	return p.Types
}

func allowsType(p *jsonschema.Schema, t string) bool { return slices.Contains(schemaTypes(p), t) }

// fitsSchema reports whether v has one of p's types. A schema without a type fits everything.
func fitsSchema(p *jsonschema.Schema, v any) bool {
	want := schemaTypes(p)
	return len(want) == 0 || slices.ContainsFunc(want, func(t string) bool { return hasType(t, v) })
}

func hasType(t string, v any) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case string:
		return t == "string"
	case bool:
		return t == "boolean"
	case int64:
		return t == "integer" || t == "number"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

// describeProblem says what is wrong with the value of the argument key: at most one sentence.
func describeProblem(key string, p *jsonschema.Schema, v any) []string {
	say := func(why string) []string {
		return []string{fmt.Sprintf("%s %s: %s was given, allowed is %s", key, why, showJSON(v), allowedText(p))}
	}
	switch {
	case !fitsSchema(p, v):
		return say("has the wrong type")
	case len(p.Enum) > 0 && !slices.Contains(p.Enum, v):
		return say("is none of the choices")
	}
	if f, ok := asFloat(v); ok && (p.Minimum != nil && f < *p.Minimum || p.Maximum != nil && f > *p.Maximum) {
		return say("is out of range")
	}
	if n, ok := valueLength(v); ok {
		low, high := cmp.Or(p.MinLength, p.MinItems), cmp.Or(p.MaxLength, p.MaxItems)
		switch {
		case low != nil && n < *low:
			return say(fmt.Sprintf("is too short (%d)", n))
		case high != nil && n > *high:
			return say(fmt.Sprintf("is too long (%d)", n))
		}
	}
	return nil
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func valueLength(v any) (int, bool) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), true
	case []any:
		return len(v), true
	}
	return 0, false
}

// allowedText describes a property in a few words.
func allowedText(p *jsonschema.Schema) string {
	if len(p.Enum) > 0 {
		return oneOf(p.Enum)
	}
	text := cmp.Or(strings.Join(schemaTypes(p), " or "), "any value")
	if p.Minimum != nil && p.Maximum != nil {
		text += fmt.Sprintf(" %v-%v", *p.Minimum, *p.Maximum)
	} else if p.Minimum != nil {
		text += fmt.Sprintf(" from %v", *p.Minimum)
	}
	if low := cmp.Or(p.MinLength, p.MinItems); low != nil && *low > 0 {
		text += fmt.Sprintf(" of at least %d", *low)
	}
	if high := cmp.Or(p.MaxLength, p.MaxItems); high != nil {
		text += fmt.Sprintf(" of at most %d", *high)
	}
	if p.Items != nil {
		text += " of " + allowedText(p.Items)
	}
	return text
}

func oneOf(values []any) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, showJSON(v))
	}
	return "one of " + strings.Join(parts, " | ")
}

// showJSON writes a value as JSON, clipped.
func showJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return kindName(v)
	}
	return clipRunes(string(raw), 80)
}

func kindName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64, float64, json.Number:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}

// clipRunes shortens s to n characters.
func clipRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-3]) + "..."
}

func joinNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
