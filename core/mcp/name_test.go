package mcp

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Names are legal, each tool's own, and the same whatever the order is.
func TestNames(t *testing.T) {
	t.Parallel()
	good := regexp.MustCompile(`^[a-z][a-zA-Z0-9_]{0,63}$`)
	part := rapid.StringMatching(`[a-cA._/ é-]{1,4}|[a-z_-]{1,90}|read[-_.]file|[a-z]{2}_[0-9a-f]{8}`)
	rapid.Check(t, func(r *rapid.T) {
		servers := rapid.SliceOfNDistinct(part, 1, 4, rapid.ID[string]).Draw(r, "servers")
		tools := rapid.SliceOfNDistinct(part, 1, 8, rapid.ID[string]).Draw(r, "tools")
		seen := map[string]bool{}
		for _, s := range servers {
			got := toolNames(servers, s, tools)
			for tool, name := range got {
				if !good.MatchString(name) || seen[name] {
					r.Fatalf("%q of %q is %q; twice: %v", tool, s, name, seen[name])
				}
				seen[name] = true
			}
			others, turned := slices.Clone(servers), slices.Clone(tools)
			slices.Reverse(others)
			slices.Reverse(turned)
			if again := toolNames(others, s, turned); !maps.Equal(again, got) {
				r.Fatalf("%v in another order: %v", got, again)
			}
		}
	})
}

func TestNamesThatPeopleKnow(t *testing.T) {
	t.Parallel()
	got := toolNames([]string{"my-files", "x"}, "my-files", []string{"read_file", "read-file", "getUser", "a.b"})
	want := map[string]string{
		"read_file": "mcp__my_files__read_file", "getUser": "mcp__my_files__getUser", "a.b": "mcp__my_files__a_b",
		"read-file": "mcp__my_files__read_file_" + shortHash("my-files\x00read-file"),
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
