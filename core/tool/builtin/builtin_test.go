package builtin

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/execcode"
	"hermes/core/session"
	"hermes/core/tool"
	"hermes/core/tool/ask"
	"hermes/core/tool/code"
	"hermes/core/tool/file"
	"hermes/core/tool/plan"
	"hermes/core/tool/web"
)

type noPool struct{ backend.Pool }

// List is asked for the terminal tool's description.
func (noPool) List(string) []backend.Status {
	return []backend.Status{{Name: "default", Kind: "local", Traits: event.Traits{Local: true}, Default: true}}
}

func all(t *testing.T) Set {
	t.Helper()
	return All(Deps{
		Home: t.TempDir(), Pool: noPool{}, Sessions: (*session.Service)(nil), Todos: plan.InMeta(nil), Web: &web.Options{},
		Ask:    func(context.Context, ask.Question) (string, error) { return "", nil },
		See:    func(context.Context, string, chat.Part, string) (string, string, error) { return "", "", nil },
		Engine: execcode.New(execcode.Options{Env: func() []string { return nil }}), Code: func() code.Settings { return code.Settings{} },
	})
}

// Every tool keeps the promises that models and people rely on.
func TestEveryTool(t *testing.T) {
	t.Parallel()
	tools := all(t).Tools
	reg, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	const names = "clarify execute_code patch process read_file search_files session_search terminal todo vision_analyze web_extract web_search write_file"
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
		if s.Description == "" || s.Intent == nil || s.Toolset == "" || s.Owner != "" {
			t.Errorf("%s lacks a description, an intent or a toolset", s.Name)
		}
		if in := s.Means(json.RawMessage(`{`)); strings.Contains(in.Gist, "{") || in.Reads {
			t.Errorf("%s: broken arguments ended up in the intent %+v", s.Name, in)
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
	if n := len(All(Deps{}).Tools); n != 4 {
		t.Errorf("%d tools without any back end or store, want the four for files", n)
	}
}

// What is set reaches the tools, and a deleted session leaves nothing behind in them.
func TestLimitsAndForget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(strings.Repeat(strings.Repeat("x", 90)+"\n", 30)), 0o600); err != nil {
		t.Fatal(err)
	}
	set := All(Deps{Read: file.Limits{Lines: 20, LineLength: 80, Chars: 1000}})
	reg, err := tool.NewRegistry(set.Tools...)
	if err != nil {
		t.Fatal(err)
	}
	read := func(args string) string {
		return reg.Run(context.Background(), "read_file", tool.Call{Session: "s", Cwd: dir, Args: json.RawMessage(args)}).Text
	}
	cut := "9|" + strings.Repeat("x", 80) + "... [line cut]\n"
	for args, want := range map[string]string{
		`{"path":"f"}`:                       "more than the 1000 of one read",
		`{"path":"f","limit":21}`:            "20",
		`{"path":"f","offset":9,"limit":1}`:  cut,
		`{"path":"f","offset":10,"limit":1}`: "10|",
	} {
		if got := read(args); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	again := `{"path":"f","offset":10,"limit":1}`
	read(`{"path":"f","offset":1,"limit":1}`) // whatever the map's order made the last read above
	read(again)
	if got := read(again); !strings.Contains(got, "unchanged since") {
		t.Fatalf("not remembered: %q", got)
	}
	set.Forget("s")
	if got := read(again); !strings.Contains(got, "10|") {
		t.Errorf("still remembered: %q", got)
	}
}
