package mcp

import (
	"encoding/json"
	"testing"
)

// Schemas of any draft become such that arguments can be checked by; none loses its arguments.
func TestLoosen(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)"}},"required":["a","b"]}`:                                                `{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`,
		`{"properties":{"a":{"minimum":1,"exclusiveMinimum":true,"required":true}}}`:                                                                    `{"properties":{"a":{"exclusiveMinimum":1}},"type":"object"}`,
		`{"$id":"x/y","properties":{"a":{"$ref":"https://evil.example/s.json"},"b":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"integer"}}}`: `{"$defs":{"n":{"type":"integer"}},"properties":{"a":{},"b":{"$ref":"#/$defs/n"}},"type":"object"}`,
		`{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`:                                                     `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"type":"object"}`,
		`null`: `{"properties":{},"type":"object"}`,
		`"x"`:  `{"properties":{},"type":"object"}`,
		`{"properties":{"a":{"type":"nonsense","description":"d"}}}`: `{"properties":{"a":{"description":"d"}},"type":"object"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(given), &v); err != nil {
			t.Fatal(err)
		}
		got := loosenSchema(v)
		if string(got) != want && !schemaCompiles(got) {
			t.Errorf("%s\n  gave %s\n  want %s", given, got, want)
		} else if string(got) != want {
			t.Logf("%s gave %s", given, got)
		}
	}
}

func FuzzLoosen(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`)
	f.Add(`{"allOf":[{"$ref":"#"}],"patternProperties":{"(":{}}}`)
	f.Fuzz(func(t *testing.T, given string) {
		var v any
		if json.Unmarshal([]byte(given), &v) != nil {
			return
		}
		if got := loosenSchema(v); !schemaCompiles(got) {
			t.Errorf("%s gave %s", given, got)
		}
	})
}
