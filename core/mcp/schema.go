package mcp

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxDepth is how deep a schema may nest; what is deeper allows anything.
const maxDepth = 40

// loosenSchema makes a server's schema one that our validator and models' servers take. A tool is
// never hidden for its schema: what cannot be kept is dropped, which allows more, and the server
// judges the arguments itself.
func loosenSchema(raw any) json.RawMessage {
	root := asObject(raw)
	l := &loosener{root: root}
	l.renameDefinitions(root, 0)
	out := l.loosenSchema(root, 0)
	flattenAlternatives(out)
	out["type"] = "object"
	if _, ok := out["properties"].(map[string]any); !ok {
		out["properties"] = map[string]any{}
	}
	data, err := json.Marshal(out)
	if err != nil || !schemaCompiles(data) {
		return bareSchema(out)
	}
	return data
}

// resultSchema is a server's schema of its results as our validator reads it; nil when there is
// none that it can read.
func resultSchema(raw any) *jsonschema.Resolved {
	root := asObject(raw)
	if len(root) == 0 {
		return nil
	}
	l := &loosener{root: root}
	l.renameDefinitions(root, 0)
	data, err := json.Marshal(l.loosenSchema(root, 0))
	var s jsonschema.Schema
	if err != nil || json.Unmarshal(data, &s) != nil {
		return nil
	}
	out, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return out
}

// asObject is a copy of a schema as a JSON object; anything else is the empty one.
func asObject(raw any) map[string]any {
	data, err := json.Marshal(raw)
	if err != nil {
		return map[string]any{}
	}
	var out map[string]any
	if json.Unmarshal(data, &out) != nil || out == nil {
		return map[string]any{}
	}
	return out
}

func schemaCompiles(data []byte) bool {
	var s jsonschema.Schema
	if json.Unmarshal(data, &s) != nil {
		return false
	}
	_, err := s.Resolve(nil)
	return err == nil
}

// bareSchema keeps the names and descriptions of the arguments only.
func bareSchema(schema map[string]any) json.RawMessage {
	props := map[string]any{}
	given, _ := schema["properties"].(map[string]any)
	for name, p := range given {
		one := map[string]any{}
		if m, ok := p.(map[string]any); ok {
			if d, ok := m["description"].(string); ok {
				one["description"] = d
			}
		}
		props[name] = one
	}
	data, _ := json.Marshal(map[string]any{"type": "object", "properties": props}) // strings only
	return data
}

type loosener struct{ root map[string]any }

// renameDefinitions turns definitions of older drafts into $defs, references to them too.
func (l *loosener) renameDefinitions(v any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if old, ok := v["definitions"].(map[string]any); ok && depth == 0 {
			defs, _ := v["$defs"].(map[string]any)
			if defs == nil {
				defs = map[string]any{}
			}
			maps.Copy(defs, old)
			v["$defs"] = defs
			delete(v, "definitions")
		}
		if ref, ok := v["$ref"].(string); ok {
			v["$ref"] = strings.Replace(ref, "#/definitions/", "#/$defs/", 1)
		}
		for _, x := range v {
			l.renameDefinitions(x, depth+1)
		}
	case []any:
		for _, x := range v {
			l.renameDefinitions(x, depth+1)
		}
	}
}

// Keywords by what stands below them.
var (
	schemaMaps  = []string{"properties", "patternProperties", "$defs", "dependentSchemas"}
	schemaLists = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	schemaOnes  = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems"}
	dropped     = []string{"$schema", "$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$comment", "nullable", "dependencies", "contentSchema"}
)

// loosenSchema returns a schema without what cannot be kept.
func (l *loosener) loosenSchema(in map[string]any, depth int) map[string]any {
	if depth > maxDepth {
		return map[string]any{}
	}
	out := maps.Clone(in)
	for _, key := range dropped {
		delete(out, key)
	}
	for _, key := range schemaMaps {
		l.mapOf(out, key, depth)
	}
	for _, key := range schemaLists {
		l.listOf(out, key, depth)
	}
	for _, key := range schemaOnes {
		switch v := out[key].(type) {
		case map[string]any:
			out[key] = l.loosenSchema(v, depth+1)
		case bool, nil:
		default: // items as a list of older drafts
			delete(out, key)
		}
	}
	l.dropValues(out)
	return out
}

func (l *loosener) mapOf(out map[string]any, key string, depth int) {
	given, ok := out[key].(map[string]any)
	if !ok {
		delete(out, key)
		return
	}
	kept := make(map[string]any, len(given))
	for name, v := range given {
		if key == "patternProperties" && !isPattern(name) {
			continue
		}
		switch v := v.(type) {
		case map[string]any:
			kept[name] = l.loosenSchema(v, depth+1)
		case bool:
			kept[name] = v
		}
	}
	out[key] = kept
}

func (l *loosener) listOf(out map[string]any, key string, depth int) {
	given, ok := out[key].([]any)
	if !ok || len(given) == 0 {
		delete(out, key)
		return
	}
	var kept []any
	for _, v := range given {
		switch v := v.(type) {
		case map[string]any:
			kept = append(kept, l.loosenSchema(v, depth+1))
		case bool:
			kept = append(kept, v)
		}
	}
	out[key] = kept
}

// dropValues drops keywords whose values mean nothing in the draft that we read.
func (l *loosener) dropValues(out map[string]any) {
	if ref, ok := out["$ref"]; ok && !l.refResolves(ref) {
		delete(out, "$ref")
	}
	for bound, open := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		if on, ok := out[open].(bool); ok {
			delete(out, open)
			if v, has := out[bound]; has && on {
				out[open] = v
				delete(out, bound)
			}
		}
	}
	if p, ok := out["pattern"]; ok {
		if text, is := p.(string); !is || !isPattern(text) {
			delete(out, "pattern")
		}
	}
	if _, ok := out["required"]; ok {
		out["required"] = requiredArguments(out)
		if len(out["required"].([]string)) == 0 {
			delete(out, "required")
		}
	}
}

// requiredArguments are the required arguments that there are.
func requiredArguments(schema map[string]any) []string {
	list, _ := schema["required"].([]any)
	props, _ := schema["properties"].(map[string]any)
	kept := []string{}
	for _, v := range list {
		name, ok := v.(string)
		if _, there := props[name]; ok && there && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	return kept
}

func isPattern(text string) bool {
	_, err := regexp.Compile(text)
	return err == nil
}

// refResolves reports whether a reference leads to a part of the same schema.
func (l *loosener) refResolves(ref any) bool {
	text, ok := ref.(string)
	path, local := strings.CutPrefix(text, "#/")
	if !ok || !local {
		return false
	}
	var at any = l.root
	for part := range strings.SplitSeq(path, "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return false
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if at, ok = m[part]; !ok {
			return false
		}
	}
	_, object := at.(map[string]any)
	return object
}

// flattenAlternatives brings the arguments of alternatives up: some models' servers take none at
// the top.
func flattenAlternatives(schema map[string]any) {
	props, _ := schema["properties"].(map[string]any)
	if props == nil {
		props = map[string]any{}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := schema[key].([]any)
		for _, v := range list {
			m, _ := v.(map[string]any)
			more, _ := m["properties"].(map[string]any)
			for name, p := range more {
				if _, has := props[name]; !has {
					props[name] = p
				}
			}
		}
		delete(schema, key)
	}
	for _, key := range []string{"not", "enum", "const", "$ref", "if", "then", "else"} {
		delete(schema, key)
	}
	schema["properties"] = props
}
