package tool

import "testing"

func TestAdviceIsForWhoCanTakeIt(t *testing.T) {
	t.Parallel()
	missing := func(name string) bool { return name == "grep_files" || name == "patch" }
	for text, want := range map[string]string{
		"Reads. Use `patch` to change it. Then look.":    "Reads. Then look.",
		"Reads.\n\nPrefer `grep_files` to grep.\nMore.":  "Reads.\n\n\nMore.",
		"Reads. Use `patch` for changes":                 "Reads.",
		"Reads a `path`. Patch is a word.":               "Reads a `path`. Patch is a word.",
		"Use `patch`.":                                   "",
		"```\n*** Begin Patch\n```\n\nEvery line counts": "```\n*** Begin Patch\n```\n\nEvery line counts",
	} {
		if got := withoutMissing(text, missing); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	const advice = " Use `terminal` for it."
	some := Call{Has: func(name string) bool { return name == "read_file" }}
	if got := some.Advise(advice); got != "" {
		t.Errorf("who has no terminal is told %q", got)
	}
	if got := (Call{}).Advise(advice); got != advice {
		t.Errorf("who may have it is told %q", got)
	}
}
