package tier

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	for request, want := range map[string]Tier{
		"":                                   Small,
		"hi":                                 Small,
		"What is the capital of France?":     Small,
		"translate \"good morning\" to Thai": Small,
		"你好":                                 Small,
		"wer hat das Telefon erfunden":       Small,
		"Who is she?":                        Small,
		"list the files here":                Small,

		"add a paragraph about the new station to README.md":           Standard,
		"write a letter to the tax office: we moved, and ask for time": Small, // 0.2: nothing in it is hard
		"update notes.md and todo.md, then install the tool":           Standard,
		"why does the heating need more gas this year?":                Standard,
		"修复 config.yaml 里的错误":                                          Standard,

		"Analyse the whole repository: design a migration plan and write it to docs/plan.md": Strong,
		"Review the security of the entire deployment, then change what is weak in a.yaml":   Strong,

		"fix the bug in parse.go":                                   Code,
		"implement a function that sorts, with a unit test":         Code,
		"```go\nfunc main() {}\n```\nwhy does it not compile?":      Code,
		"diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\nis this patch ok": Code,
		"给 main.py 写一个函数":                                           Code,
	} {
		e := Judge(request)
		if got := e.Tier(); got != want {
			t.Errorf("%q: %s, want %s: %s", request, got, want, e.Words())
		}
	}
}

// A request that says more is never estimated as less by its length alone, and all stay within
// 0..1.
func TestEstimatesAreBounded(t *testing.T) {
	before := -1.0
	for n := 1; n < 200_000; n *= 4 {
		e := Judge(strings.Repeat("lorem ", n))
		if e.Complexity < before || e.Complexity > 1 || e.Code {
			t.Errorf("%d words: %s", n, e.Words())
		}
		before = e.Complexity
	}
	all := Judge(strings.Repeat("1. analyse the whole codebase, fix a.go b.go c.go d.go\n```\n", 200))
	if all.Complexity != 1 || len(all.Reasons) < 5 {
		t.Errorf("%s", all.Words())
	}
}

func TestRulesAreRead(t *testing.T) {
	r, err := loaded()
	if err != nil || len(r.Words) < 3 || len(r.Length) < 3 || r.Code.Adds == 0 || len(r.Coding.Words) == 0 {
		t.Fatalf("%+v %v", r, err)
	}
	for _, w := range r.Words {
		for _, word := range w.Words {
			if word != strings.ToLower(word) || countWord(" "+word+" ", word) != 1 {
				t.Errorf("%q is never found", word)
			}
		}
	}
}

func TestCountFiles(t *testing.T) {
	endings := []string{"go", "yaml", "js"}
	for text, want := range map[string]int{
		"see a.go and b/c.yaml": 2, "main.go.orig, config.yaml.example, server.js.map": 3, "a.go a.go": 1, "v1.2 of the end.": 0, "x.doc": 0,
	} {
		if got := countFiles(text, endings); got != want {
			t.Errorf("%q: %d files, want %d", text, got, want)
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("fix \xff a.go")
	f.Fuzz(func(t *testing.T, text string) {
		if e := Judge(text); e.Complexity < 0 || e.Complexity > 1 {
			t.Errorf("%+v", e)
		}
	})
}
