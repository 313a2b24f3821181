package command

import "testing"

// Replacing a word in files that a search has found is everyday work; what such a list could hold
// beyond files that people edit asks.
func TestEditsOfListedFiles(t *testing.T) {
	c := placeForTests()
	for _, cmd := range []string{
		"rg -l foo | xargs sed -i 's/foo/bar/g'", "rg -l foo src | xargs sed -i s/foo/bar/", "rg -l0 foo -t go | xargs -0 sed -i s/foo/bar/", "rg --files-with-matches foo -g '*.py' | xargs sed -i 's/foo/bar/'",
		"rg -l foo | grep -v test | sort -u | xargs sed -i 's/foo/bar/'", "rg -l foo | head -5 | xargs -n1 sed -i 's/foo/bar/'", "rg -l foo | xargs -I{} sed -i 's/foo/bar/' {}", "rg --files -g '*.md' | xargs sed -i 's/foo/bar/'",
		"grep -rl foo src | xargs sed -i 's/foo/bar/'", "grep -rl --include='*.go' foo . | xargs sed -i 's/foo/bar/'", "grep -l foo src/*.go | xargs sed -i 's/foo/bar/'", "git grep -l foo -- '*.go' | xargs sed -i 's/foo/bar/'",
		"git ls-files '*.py' | xargs sed -i 's/foo/bar/'", "fd -e go | xargs sed -i 's/foo/bar/'", "find . -name '*.go' | xargs sed -i 's/foo/bar/'", "find src -type f -name '*.ts' -print0 | xargs -0 sed -i 's/foo/bar/'",
		"rg -l foo | xargs -r sed -i -e 's/foo/bar/' -e 's/a/b/'", "rg -l foo | xargs perl -pi -e 's/foo/bar/g'", "cd src && rg -l foo | xargs sed -i 's/foo/bar/'",
	} {
		if a := Analyse(cmd, c); a.Verdict != Allow {
			t.Errorf("%q asks: %s", cmd, a.Reason)
		}
	}
	for _, cmd := range []string{
		"rg -l foo | xargs rm", "rg -l foo | xargs sh", "rg -l foo | xargs python3", "rg -l foo | xargs sed -i 1,\\$d", "rg -l foo | xargs sed -i '1e id'", "rg -l foo ~ | xargs sed -i s/a/b/", "rg -l foo .. | xargs sed -i s/a/b/",
		"rg -l --hidden foo | xargs sed -i s/a/b/", "rg -l. foo | xargs sed -i s/a/b/", "rg -uul foo | xargs sed -i s/a/b/", "rg -lL foo | xargs sed -i s/a/b/", "rg -l foo -g '.*' | xargs sed -i s/a/b/", "rg foo | xargs sed -i s/a/b/",
		"rg -l foo /etc | xargs sed -i s/a/b/", "cd /etc && rg -l foo | xargs sed -i s/a/b/", "cd ~ && rg -l foo | xargs sed -i s/a/b/", "cd $x && rg -l foo | xargs sed -i s/a/b/", "grep -rl foo . | xargs sed -i s/a/b/", "grep -rl foo | xargs sed -i s/a/b/",
		"grep -Rl foo src | xargs sed -i s/a/b/", "grep -rl foo .git | xargs sed -i s/a/b/", "grep -rl --include='*' foo . | xargs sed -i s/a/b/", "grep -rl --include='.*' foo . | xargs sed -i s/a/b/", "git ls-files | xargs sed -i s/a/b/",
		"git grep -l foo | xargs sed -i s/a/b/", "git ls-files '.*' | xargs sed -i s/a/b/", "git ls-files -o '*.py' | xargs sed -i s/a/b/", "fd -H . | xargs sed -i s/a/b/", "find . | xargs sed -i s/a/b/", "find . -name '*' | xargs sed -i s/a/b/",
		"find ~ -name '*.go' | xargs sed -i s/a/b/", "find . -name '*.go' -o -name 'config' | xargs sed -i s/a/b/", "find . -name '.*' | xargs sed -i s/a/b/", "rg -l foo | sed 's,^,/etc/,' | xargs sed -i s/a/b/", "cat list | xargs sed -i s/a/b/",
		"(rg -l foo; echo /etc/hosts) | xargs sed -i s/a/b/", "(rg -l foo; cat list) | xargs sed -i s/a/b/", "rg -l foo | cat - list | xargs sed -i s/a/b/", "rg -l foo | xargs -a list sed -i s/a/b/", "rg -l foo | (cd /etc; xargs sed -i s/a/b/)",
		"(cat list; rg -l foo) | xargs sed -i s/a/b/", "{ basename /etc/hosts; rg -l foo; } | xargs sed -i s/a/b/", "f() { echo /etc/hosts; rg -l foo; }; f | xargs sed -i s/a/b/", "(cat list; rg -l foo) | sort | xargs sed -i s/a/b/",
		"bash -c 'echo /etc/x; rg -l foo' | xargs sed -i s/a/b/", "rg -l $x | xargs sed -i s/a/b/", "rg -l foo | xargs sed -i s/a/b/ ~/.bashrc", "find . -name '*.key' | xargs sed -i s/a/b/", "rg -l foo | xargs -I{} sed -i s/a/b/ ~/{}", "find -L . -name '*.go' | xargs sed -i s/a/b/",
	} {
		if a := Analyse(cmd, c); a.Verdict == Allow {
			t.Errorf("%q runs unasked", cmd)
		}
	}
}
