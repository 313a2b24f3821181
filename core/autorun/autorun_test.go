package autorun

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// project is a repository with a hook and settings.
func project(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git(t, root, "init", "-q")
	write(t, root, ".git/hooks/pre-push", "#!/bin/sh\nexit 0\n")
	if err := os.Chmod(filepath.Join(root, ".git/hooks/pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, root, ".vscode/tasks.json", "{}\n")
	return root
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v %s", args, err, out)
	}
}

func write(t testing.TB, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func names(root string, cs []Change) string {
	var out []string
	for _, c := range cs {
		out = append(out, strings.TrimPrefix(c.Path, root+"/"))
	}
	return strings.Join(out, " ")
}

// Each way of leaving something that runs later is seen, and taken back byte for byte.
func TestWhatRunsLaterIsSeenAndPutBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ run, want string }{
		"a new hook":               {"printf '#!/bin/sh\\ncurl x|sh\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout", ".git/hooks/post-checkout"},
		"a hook that is another":   {"echo evil >> .git/hooks/pre-push", ".git/hooks/pre-push"},
		"the same size":            {"sed -i s/0/9/ .git/hooks/pre-push", ".git/hooks/pre-push"},
		"a hook that goes":         {"rm .git/hooks/pre-push", ".git/hooks/pre-push"},
		"a hook that is a link":    {"ln -sf /tmp/evil .git/hooks/pre-push", ".git/hooks/pre-push"},
		"its mode":                 {"chmod 644 .git/hooks/pre-push", ".git/hooks/pre-push"},
		"hooks that are elsewhere": {"mv .git/hooks .git/h2 && ln -s /tmp .git/hooks", ".git/hooks .git/hooks/pre-push"},
		"a hooks path":             {"git config core.hooksPath .x", ".git/config"},
		"fsmonitor":                {"git config core.fsmonitor ./evil", ".git/config"},
		"an alias":                 {"git config alias.st '!evil'", ".git/config"},
		"a filter":                 {"git config filter.x.clean ./evil", ".git/config"},
		"an include":               {"git config include.path ../evil", ".git/config"},
		"a remote that runs":       {"git remote add x 'ext::sh -c evil'", ".git/config"},
		"hidden in lines":          {"printf '[core] fsmo\\\\\\nnitor = ./evil\\n' >> .git/config", ".git/config"},
		"editor tasks":             {"echo '{\"tasks\":[]}' > .vscode/tasks.json", ".vscode/tasks.json"},
		"direnv":                   {"echo evil > .envrc", ".envrc"},
		"husky":                    {"mkdir -p .husky/_ && echo evil > .husky/_/h && echo evil > .husky/pre-commit", ".husky/_/h .husky/pre-commit"},
		"settings of a worktree":   {"printf '[core]\\nfsmonitor=x' > .git/config.worktree", ".git/config.worktree"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := project(t)
			var g Guard
			before := g.Look(root)
			sh(t, root, c.run)
			got := g.Changes(before)
			if names(root, got) != c.want {
				t.Fatalf("changes: %q", names(root, got))
			}
			for _, c := range got {
				if err := c.Undo(); err != nil {
					t.Errorf("%s: %v", c.Path, err)
				}
			}
			if left := g.Changes(before); len(left) > 0 {
				t.Errorf("not put back: %q", names(root, left))
			}
		})
	}
}

func sh(t testing.TB, dir, text string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", text, err, out)
	}
}

// Ordinary work with git and the project is no change.
func TestOrdinaryWorkIsNoChange(t *testing.T) {
	t.Parallel()
	root := project(t)
	var g Guard
	before := g.Look(root)
	sh(t, root, `echo x > a && git add a && git commit -qm x && git checkout -qb other && git branch -q --set-upstream-to=main && git remote add origin https://example.com/x.git &&
		git config user.name b && git config core.autocrlf input && git gc -q && git stash -q || true; touch .git/hooks/pre-push; mkdir -p .vscode sub; echo '{}' > .vscode/settings.json; touch .git/hooks/x.sample`)
	if got := g.Changes(before); len(got) > 0 {
		t.Errorf("%q", names(root, got))
	}
}

// A worktree and a submodule have their hooks elsewhere; they are found.
func TestRepositoriesThatAreElsewhere(t *testing.T) {
	t.Parallel()
	root := project(t)
	sh(t, root, "git commit -q --allow-empty -m x && git worktree add -q ../wt")
	tree := filepath.Join(filepath.Dir(root), "wt")
	var g Guard
	before := g.Look(tree)
	write(t, root, ".git/hooks/post-commit", "evil")
	write(t, tree, ".git", "gitdir: /tmp/evil\n")
	if got := names(root, g.Changes(before)); !strings.Contains(got, "wt/.git") {
		t.Errorf("%q", got)
	}
	git(t, root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "-f", root, "sub")
	before = g.Look(root)
	write(t, root, ".git/modules/sub/hooks/post-checkout", "evil")
	if got := names(root, g.Changes(before)); got != ".git/modules/sub/hooks/post-checkout" {
		t.Errorf("%q", got)
	}
}

// What changes while it is put back is left alone, and said.
func TestUndoRefusesWhatChangedAgain(t *testing.T) {
	t.Parallel()
	root := project(t)
	var g Guard
	before := g.Look(root)
	write(t, root, ".envrc", "one")
	got := g.Changes(before)
	write(t, root, ".envrc", "three")
	if len(got) != 1 || got[0].Undo() == nil {
		t.Errorf("%q", names(root, got))
	}
	// A folder above that became a link leads nowhere.
	out := t.TempDir()
	before = g.Look(root)
	write(t, root, ".vscode/tasks.json", "evil")
	got = g.Changes(before)
	sh(t, root, "rm -r .vscode && ln -s "+out+" .vscode && echo mine > "+out+"/tasks.json")
	if len(got) != 1 || got[0].Undo() == nil {
		t.Errorf("%q", names(root, got))
	}
	if data, _ := os.ReadFile(filepath.Join(out, "tasks.json")); string(data) != "mine\n" {
		t.Errorf("written through a link: %q", data)
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	root := project(t)
	var g Guard
	start := g.Look(root)
	write(t, root, ".envrc", "script")
	from := g.Look(root)
	write(t, root, ".git/hooks/post-merge", "wanted")
	start = start.Accept(from, g.Look(root))
	if got := names(root, g.Changes(start)); got != ".envrc" {
		t.Errorf("%q", got)
	}
}

func TestProgramsOfSettings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[core]\n\tbare = false\n[branch \"x\"]\n\tremote = o\n[remote \"o\"]\nurl=a:b": "",
		"[branch \"x\"]\n\tremote = evil\n[remote \"evil\"]\nfetch=a:b":                 "branch.x.remote=evil",
		"[Core] FsMonitor = \"./a b\" # c\n":                                            "core.fsmonitor=./a b",
		"[alias] x = !y\n[filter \"l]f\"]\nclean=z\n":                                   "alias.x=!y|filter.l]f.clean=z",
		"[core]\r\nhooksPath=a\\\r\nb\r\n":                                              "core.hookspath=ab",
		"[remote \"o\"]\nurl=https://a/b\nurl=ext::sh\nuploadpack=x\nfetch=+a:b":        "remote.o.uploadpack=x|remote.o.url=ext::sh",
		"[core] # \\\nfsmonitor = a\n":                                                  "core.fsmonitor=a",
		"[core]\nbare = false ; \\\nfsmonitor = b":                                      "core.fsmonitor=b",
		"nonsense without a section":                                                    ".nonsense without a section=",
	} {
		if got := strings.Join(Programs([]byte(text)), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whatever git reads as a setting that runs something is found, with git itself as the judge.
func TestGitAndWeReadTheSame(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			b.WriteString(rapid.SampledFrom([]string{
				"[core]", "[core]\n", "[ALIAS]", "[filter \"a\\\"]b\"]\n", "fsmonitor = ./x", "\tclean = \"a # b\" ; c\n", " x = !y \\\nz\n", "\n", "; fsmonitor = q\n", "# c \\\n", "bare = true # c \\\n", "pager = lesser \\\n", "x\n", "  ", "bare = false\n", "# [core]\n", "hooksPath=\"a\\\\b\"\n",
			}).Draw(t, "part"))
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "config", "--file", path, "--list", "-z")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.Output()
		if err != nil {
			return // git refuses the whole file
		}
		var want []string
		for _, kv := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			name, _, _ := strings.Cut(kv, "\n")
			if name != "" && name != "core.bare" {
				want = append(want, strings.ToLower(name))
			}
		}
		got := strings.ToLower(strings.Join(Programs([]byte(b.String())), "\n"))
		for _, name := range want {
			if !strings.Contains(got, name) {
				t.Fatalf("git reads %s in %q, we read %q", name, b.String(), got)
			}
		}
	})
}

func FuzzPrograms(f *testing.F) {
	f.Add([]byte("[core]\nfsmonitor = x\n[a \"b\\\"]\"] c = \"d\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := Programs(data); !slices.IsSorted(got) {
			t.Errorf("%q", got)
		}
	})
}

func BenchmarkLook(b *testing.B) {
	root := project(b)
	var g Guard
	view := g.Look(root)
	for b.Loop() {
		if len(g.Changes(view)) != 0 {
			b.Fatal("changes")
		}
	}
}
