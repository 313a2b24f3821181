package builtin

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"hermes/core/backend"
	"hermes/core/session"
	"hermes/core/tool"
	"hermes/core/tool/ask"
	"hermes/core/tool/plan"
)

type noPool struct{ backend.Pool }

func all(t *testing.T) []tool.Tool {
	t.Helper()
	return All(Deps{
		Home: t.TempDir(), Pool: noPool{}, Sessions: (*session.Service)(nil), Todos: plan.InMeta(nil),
		Ask: func(context.Context, ask.Question) (string, error) { return "", nil },
	})
}

// Every tool keeps the promises that models and people rely on.
func TestEveryTool(t *testing.T) {
	t.Parallel()
	tools := all(t)
	reg, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	const names = "clarify patch process read_file search_files session_search terminal todo write_file"
	if got := strings.Join(reg.Names(), " "); got != names {
		t.Errorf("tools are %s, want %s", got, names)
	}
	total := 0
	for _, x := range tools {
		s := x.Spec()
		var schema jsonschema.Schema
		if err := json.Unmarshal(s.Schema, &schema); err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if schema.Type != "object" || schema.AdditionalProperties == nil {
			t.Errorf("%s: the schema must be a closed object", s.Name)
		}
		if s.Description == "" || s.Gist == nil || s.Toolset == "" {
			t.Errorf("%s lacks a description, a gist or a toolset", s.Name)
		}
		if !s.ReadOnly && s.Reads == nil && s.Preview == nil {
			t.Errorf("%s changes things and has no preview for the approval", s.Name)
		}
		if g := s.Gist(json.RawMessage(`{`)); strings.Contains(g, "{") {
			t.Errorf("%s: broken arguments ended up in the gist %q", s.Name, g)
		}
		if _, err := reg.Validate(s.Name, json.RawMessage(`{"no_such_argument":1}`)); err == nil {
			t.Errorf("%s took an unknown argument", s.Name)
		}
		total += len(s.Schema) + len(s.Description)
	}
	// Every request carries all of it: about four bytes make a token.
	if total > 14_000 {
		t.Errorf("descriptions and schemas have %d bytes", total)
	}
}

func TestMissingNeedsLeaveToolsOut(t *testing.T) {
	t.Parallel()
	if n := len(All(Deps{})); n != 4 {
		t.Errorf("%d tools without any back end or store, want the four for files", n)
	}
}
