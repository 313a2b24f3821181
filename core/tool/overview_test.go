package tool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestToolsetsAreListedAndSwitched(t *testing.T) {
	r, err := NewRegistry(
		named(t, "read_file", "file", nil), named(t, "terminal", "terminal", nil),
		named(t, "tool_call", "tool_search", nil),
		named(t, "web_search", "web", func() error { return errors.New("set TAVILY_API_KEY") }))
	if err != nil {
		t.Fatal(err)
	}
	all := r.Overview(nil)
	if len(all) != 4 || !all[0].On || all[3].Tools[0].Needs != "set TAVILY_API_KEY" {
		t.Fatalf("%+v", all)
	}
	for _, v := range r.Overview([]string{"all"}) {
		if strings.HasPrefix(v.Description, "Tools of") || v.Auto == v.On {
			t.Errorf("%+v", v)
		}
	}
	less, err := r.Switch(nil, "web", false)
	if err != nil || !slices.Equal(less, []string{"file", "terminal"}) {
		t.Fatalf("%v, %v", less, err)
	}
	if on := r.Overview(less); on[3].On || !on[0].On {
		t.Errorf("%+v", on)
	}
	if again, err := r.Switch(less, "web", true); err != nil || !slices.Equal(again, []string{DefaultToolset}) {
		t.Errorf("all of the usual ones are %v, %v", again, err)
	}
	if some, err := r.Switch([]string{"read_file", "later"}, "terminal", true); err != nil || !slices.Equal(some, []string{"terminal", "read_file", "later"}) {
		t.Errorf("what was chosen by itself is lost: %v, %v", some, err)
	}
	if none, err := r.Switch([]string{"read_file", "terminal"}, "file", false); err != nil || !slices.Equal(none, []string{"terminal"}) {
		t.Errorf("a tool of a set that is off: %v, %v", none, err)
	}
	if _, err := r.Switch(nil, "wep", false); err == nil || err.Error() != `no toolset with tools is called "wep", did you mean web?` {
		t.Error(err)
	}
	if _, err := r.Switch(nil, "tool_search", true); err == nil || !strings.Contains(err.Error(), "comes by itself") {
		t.Error(err)
	}
	if _, err := r.Switch([]string{"file"}, "file", false); err == nil {
		t.Error("the last one was switched off")
	}
}

// A server is one set, whichever of its two names a choice has, before and after it brought tools.
func TestAServerIsOneToolset(t *testing.T) {
	for _, tools := range [][]Tool{
		{named(t, "read_file", "file", nil)},
		{named(t, "read_file", "file", nil), bare{Spec{Name: "mcp__notes__add", Toolset: "notes", Owner: "mcp:notes"}}},
	} {
		r, err := NewRegistry(tools...)
		if err != nil {
			t.Fatal(err)
		}
		r.Owners(func() map[string]string { return map[string]string{"mcp:notes": "notes"} })
		for _, chosen := range [][]string{nil, {"file", "notes"}, {"file", "mcp:notes"}} {
			list := r.Overview(chosen)
			if len(list) != 2 || list[1].Name != "notes" || !list[1].On || len(list[1].Tools) != len(tools)-1 {
				t.Errorf("%v with %d tools: %+v", chosen, len(tools), list)
			}
			less, err := r.Switch(chosen, "notes", false)
			if err != nil || !slices.Equal(less, []string{"file"}) {
				t.Errorf("%v without notes is %v, %v", chosen, less, err)
			}
			if again, err := r.Switch(less, "notes", true); err != nil || !slices.Equal(again, []string{DefaultToolset}) {
				t.Errorf("with notes again: %v, %v", again, err)
			}
		}
	}
}

func named(t *testing.T, name, set string, available func() error) Tool {
	t.Helper()
	return bare{Spec{Name: name, Toolset: set, Available: available}}
}

// bare is a tool that does nothing.
type bare struct{ spec Spec }

func (b bare) Spec() Spec                                { return b.spec }
func (b bare) Run(context.Context, Call) (Result, error) { return Result{}, nil }
