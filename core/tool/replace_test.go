package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes/core/intent"
)

func owned(owner, name, says string) Tool {
	return Typed(Spec{
		Name: name, Owner: owner, Toolset: "x", Description: says, Schema: json.RawMessage(`{"type":"object"}`),
	}, func(context.Context, Call, struct{}) (Result, error) { return Result{Text: says}, nil })
}

func specNames(specs []Spec) string {
	var out []string
	for _, s := range specs {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func TestReplace(t *testing.T) {
	t.Parallel()
	r, err := NewRegistry(owned("", "ours", "1"))
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	r.OnChange(func() { told++ })
	for _, step := range []struct {
		owner string
		tools []Tool
		names string
		fails string
	}{
		{"srv", []Tool{owned("srv", "srv_a", "1"), owned("srv", "srv_b", "1")}, "ours srv_a srv_b", ""},
		{"other", []Tool{owned("other", "other_a", "1")}, "other_a ours srv_a srv_b", ""},
		{"srv", []Tool{owned("srv", "srv_a", "2")}, "other_a ours srv_a", ""},
		{"other", []Tool{owned("other", "srv_a", "x")}, "other_a ours srv_a", "has the name of a tool of srv"},
		{"other", []Tool{owned("other", "ours", "x")}, "other_a ours srv_a", "has the name of a tool of hermes"},
		{"other", []Tool{owned("srv", "srv_c", "x")}, "other_a ours srv_a", `belongs to "srv", not to "other"`},
		{"other", []Tool{owned("other", "Bad name", "x")}, "other_a ours srv_a", "want a lower-case letter"},
		{"other", []Tool{owned("other", "twice", "x"), owned("other", "twice", "y")}, "other_a ours srv_a", "registered twice"},
		{"srv", nil, "other_a ours", ""},
	} {
		err := r.Replace(step.owner, step.tools)
		if failed := err != nil; failed != (step.fails != "") || failed && !strings.Contains(err.Error(), step.fails) {
			t.Errorf("%s: %v", step.names, err)
		}
		if got := strings.Join(r.Names(), " "); got != step.names {
			t.Errorf("%s, want %s", got, step.names)
		}
	}
	if told != 4 {
		t.Errorf("told %d times", told)
	}
	if res := r.Run(context.Background(), "srv_a", Call{}); !res.IsError || !strings.Contains(res.Text, "no tool called") {
		t.Errorf("%+v", res)
	}
}

// What belongs to somebody is part of the default and of "all", can be chosen by its owner's name,
// and is in no choice of ours.
func TestToolsetsOfOthers(t *testing.T) {
	t.Parallel()
	r, err := NewRegistry(owned("", "ours", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Replace("srv", []Tool{owned("srv", "srv_a", "1")}); err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{"": "srv_a", "all": "srv_a", "srv": "srv_a", "srv_a": "srv_a", "safe": "", "file": "", "x": "ours srv_a"} {
		if got := specNames(r.Specs("", strings.Fields(set))); got != want {
			t.Errorf("%q: %q, want %q", set, got, want)
		}
	}
	if err := r.Unknown([]string{"srv"}); err != nil {
		t.Error(err)
	}
}

// A call that was approved for one definition does not run another one that came in its place
// meanwhile.
func TestWhatWasApprovedRuns(t *testing.T) {
	t.Parallel()
	r, err := NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	first, second := owned("srv", "a", "looks"), owned("srv", "a", "deletes")
	if err := r.Replace("srv", []Tool{first}); err != nil {
		t.Fatal(err)
	}
	call := Call{Definition: first.Spec().Definition()}
	if res := r.Run(context.Background(), "a", call); res.Text != "looks" {
		t.Errorf("%+v", res)
	}
	if err := r.Replace("srv", []Tool{second}); err != nil {
		t.Fatal(err)
	}
	if res := r.Run(context.Background(), "a", call); !res.IsError || !strings.Contains(res.Text, "was changed") {
		t.Errorf("%+v", res)
	}
	if owned("evil", "a", "looks").Spec().Definition() == first.Spec().Definition() {
		t.Error("two owners have one definition")
	}
}

// Readers see one whole list, whatever is replaced beside them.
func TestReplaceBesideReaders(t *testing.T) {
	t.Parallel()
	r, err := NewRegistry(owned("", "ours", "1"))
	if err != nil {
		t.Fatal(err)
	}
	r.RefuseBy(func(Spec, intent.Intent) error { return nil })
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range 2 {
		owner := fmt.Sprintf("srv%d", w)
		writers.Go(func() {
			for i := range 200 {
				var tools []Tool
				for _, n := range []string{"a", "b"}[:i%3%2+1] {
					tools = append(tools, owned(owner, owner+"_"+n, fmt.Sprint(i)))
				}
				if i%5 == 0 {
					tools = nil
				}
				if err := r.Replace(owner, tools); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				names := specNames(r.Specs("", []string{"x"}))
				if !slices.Contains(strings.Fields(names), "ours") || strings.Contains(names, "_b") && !strings.Contains(names, "_a") {
					t.Errorf("half a list: %s", names)
				}
				r.Run(context.Background(), "srv0_a", Call{})
				r.Lookup("srv1_b")
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}
