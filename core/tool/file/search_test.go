package file

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/testskip"
	"hermes/core/tool"
)

func ripgrep(t testing.TB) string {
	path, err := exec.LookPath("rg")
	if err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
			t.Fatal("ripgrep is required")
		}
		t.Skip("no ripgrep on this machine")
	}
	return path
}

func tree(f *fixture) {
	for name, content := range map[string]string{
		"main.go": "package main\n\nfunc main() {\n\tneedle()\n}\n", "sub/a.go": "x\nneedle\ny\nneedle again\n", "sub/b.txt": "Needle\r\nneedle$\r\n",
		".hidden/h.md": "needle\n", ".git/config": "needle\n", "build/out.go": "needle\n", "keep.log": "needle\n", "drop.log": "needle\n",
		"node/node_modules/m.js": "needle\n", "sub/.gitignore": "secret*\n!secret.keep\n/only\n", "sub/secret.txt": "needle\n", "sub/secret.keep": "needle\n",
		"sub/deep/only": "needle\n", "sub/only": "needle\n", ".gitignore": "# comment\nbuild/\n*.log\n!keep.log\nnode_modules\n/doc/**/x.txt\n{brace}\n",
		"doc/a/b/x.txt": "needle\n", "doc/y.txt": "needle\n", "bin.dat": "needle\x00\n", "{brace}": "needle\n", "latin.txt": "caf\xe9 needle\n",
	} {
		f.put(name, content)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for _, rg := range []string{"off", ""} {
		if rg == "" {
			ripgrep(t)
		}
		f := newFixture(t, rg)
		tree(f)
		f.want(f.run("search_files", args{"pattern": "needle", "path": "sub"}), false, "sub/a.go\n2:needle\n4:needle again\n\nsub/b.txt\n2:needle$\n\nsub/deep/only\n1:needle\n\nsub/secret.keep")
		f.want(f.run("search_files", args{"pattern": "needle", "path": "sub/a.go", "context": 1}), false, "sub/a.go\n1-x\n2:needle\n3-y\n4:needle again")
		f.want(f.run("search_files", args{"pattern": "needle", "path": "sub", "limit": 1}), false, "2:needle\n[results 1-1; more with offset=1]")
		f.want(f.run("search_files", args{"pattern": "needle", "path": "sub", "limit": 1, "offset": 1}), false, "4:needle again\n[results 2-2")
		f.want(f.run("search_files", args{"pattern": "needle", "output_mode": "count", "file_glob": "*.{go,md}"}), false, ".hidden/h.md:1\nmain.go:1\nsub/a.go:2")
		f.want(f.run("search_files", args{"pattern": `\$$`, "output_mode": "files_only"}), false, "sub/b.txt")
		f.want(f.run("search_files", args{"pattern": "nothing at all"}), false, "No matches.")
		f.want(f.run("search_files", args{"pattern": `a\nb`}), true, "line by line")
		f.want(f.run("search_files", args{"pattern": "(("}), true, "regex")
		f.want(f.run("search_files", args{"pattern": "x", "path": "sbu"}), true, "no such file", "Similar: sub")
		f.want(f.run("search_files", args{"pattern": "a.go", "target": "files"}), false, "sub/a.go")
		f.want(f.run("search_files", args{"pattern": "*.nope", "target": "files"}), false, "No matches.")
	}
}

func TestFilesNewestFirst(t *testing.T) {
	t.Parallel()
	for _, rg := range []string{"off", ""} {
		if rg == "" {
			ripgrep(t)
		}
		f := newFixture(t, rg)
		for i, name := range []string{"old.go", "x/mid.go", "new.go"} {
			when := time.Unix(1_700_000_000+int64(i), 0)
			if err := os.Chtimes(f.put(name, ""), when, when); err != nil {
				t.Fatal(err)
			}
		}
		r := f.run("search_files", args{"pattern": "*.go", "target": "files"})
		if r.Text != "new.go\nx/mid.go\nold.go" {
			t.Errorf("rg %q: %q", rg, r.Text)
		}
		f.want(f.run("search_files", args{"pattern": "*.go", "target": "files", "limit": 2}), false, "[files 1-2 of 3, newest first; more with offset=2]")
		f.want(f.run("search_files", args{"pattern": "*.go", "target": "files", "file_glob": "!new*", "limit": 1}), false, "x/mid.go\n[files 1-1 of 2")
	}
}

// The walk and ripgrep answer the same, byte for byte, over drawn trees, ignore files and globs.
// Braces are not drawn: in a .gitignore ripgrep takes them for alternatives, git and the walk for
// plain characters.
func TestEnginesAgree(t *testing.T) {
	testskip.LongWithoutRace(t, "two search engines over random trees")
	t.Parallel()
	rg := ripgrep(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t, "off")
		seg := rapid.SampledFrom([]string{"a", "b", "ab", "a.go", "b.go", ".h", "x y"})
		rule := rapid.SampledFrom([]string{
			"a", "b/", "/a", "*.go", "!a.go", "a/b", "**/b", "a/**", "!a/b", "[ab]", "a*", "/ab/**/b.go", "# c", "", "?b", "!/b", "a\\*", ".h", "x\\ y", "x y ", "*/b",
		})
		for range rapid.IntRange(1, 8).Draw(rt, "files") {
			path := strings.Join(rapid.SliceOfN(seg, 1, 3).Draw(rt, "path"), "/")
			full := filepath.Join(f.dir, path)
			if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
				_ = os.WriteFile(full, []byte("one\nneedle\nthree\n\nneedle\n"), 0o644) // a folder may be in the way: fine
			}
		}
		for _, dir := range []string{"", "a", "ab/b"} {
			if rapid.Bool().Draw(rt, "ignore "+dir) {
				if info, err := os.Stat(filepath.Join(f.dir, dir)); err == nil && info.IsDir() {
					f.put(filepath.Join(dir, ".gitignore"), strings.Join(rapid.SliceOfN(rule, 0, 4).Draw(rt, "rules"), "\n"))
				}
			}
		}
		a := searchArgs{
			Pattern: "needle|^$", Limit: rapid.IntRange(1, 9).Draw(rt, "limit"), Offset: rapid.IntRange(0, 3).Draw(rt, "offset"),
			Glob: rapid.SampledFrom([]string{"", "*.go", "!a", "a/**", "*.{go,x}", "b", "/a/b", "!*.go"}).Draw(rt, "glob"), Context: rapid.IntRange(0, 2).Draw(rt, "context"),
			Mode: rapid.SampledFrom([]string{"", "files_only", "count"}).Draw(rt, "mode"), Target: rapid.SampledFrom([]string{"content", "files"}).Draw(rt, "target"),
		}
		if a.Target == "files" {
			a.Pattern = rapid.SampledFrom([]string{"*", "a", "*.go", "a/b", "b/*"}).Draw(rt, "name")
		}
		var out [2]string
		for i, option := range []string{"off", rg} {
			r, err := New(Options{UserHome: f.home, Ripgrep: option}).searchFiles(context.Background(), tool.Call{Cwd: f.dir}, a)
			out[i] = fmt.Sprint(r.Text, r.IsError, err)
		}
		if out[0] != out[1] {
			rt.Fatalf("%+v\nwalk:\n%s\nripgrep:\n%s", a, out[0], out[1])
		}
	})
}

func TestSearchStopsWithTheContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	tree(f)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := f.reg.Run(ctx, "search_files", f.call(args{"pattern": "needle"}))
	if !r.Interrupted || !r.IsError {
		t.Errorf("%+v", r)
	}
}
