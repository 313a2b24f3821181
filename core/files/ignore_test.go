package files

import "testing"

func FuzzIgnoreRules(f *testing.F) {
	f.Add("*.go\n!a\n/b/\n", "a/b.go")
	f.Add("[\n\\\n**/\n{a,b}", "x")
	f.Fuzz(func(t *testing.T, rules, path string) {
		for _, r := range parseIgnores(rules) {
			r.matches(path, false)
		}
		if n := len(Globs(rules)); n > 64+1 {
			t.Fatalf("%d alternatives", n)
		}
	})
}
