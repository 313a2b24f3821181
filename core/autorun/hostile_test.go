package autorun

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Whatever a script makes settings, links and files of git lead to, nothing out there and nothing
// of the project's other files is removed.
func TestPuttingBackStaysInItsPlace(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]string{
		"a file that says where":      "mv .git .g2; echo 'gitdir: OUT' > .git",
		"the same, as a repository":   "mv .git .g2; echo x > OUT/HEAD; echo 'gitdir: OUT' > .git",
		"a link":                      "mv .git .g2; ln -s OUT .git",
		"hooks by a link":             "rm -r .git/hooks; ln -s OUT/hooks .git/hooks",
		"hooks path out by dots":      "git config core.hooksPath $PWD/../OUT_NAME/hooks",
		"hooks path in the project":   "git config core.hooksPath src",
		"hooks path in the store":     "git config core.hooksPath .git/objects/00",
		"hooks path out":              "git config core.hooksPath OUT/hooks",
		"a common folder":             "echo x > OUT/HEAD; echo OUT > .git/commondir",
		"modules that are a link":     "mkdir -p OUT/m; echo x > OUT/m/HEAD; cp OUT/config OUT/m; ln -s OUT .git/modules",
		"a module that is a link":     "mkdir -p .git/modules; echo x > OUT/HEAD; ln -s OUT .git/modules/m",
		"worktrees that are a link":   "mkdir -p OUT/w; cp OUT/config OUT/w/config.worktree; ln -s OUT .git/worktrees",
		"folders of editors, a link":  "rm -r .vscode; ln -s OUT .vscode; ln -s OUT/hooks .husky",
		"the hook by a link, removed": "rm .git/hooks/pre-push; ln -s OUT/hooks/mine .git/hooks/pre-push",
		"the hook by a hard link":     "rm .git/hooks/pre-push; ln OUT/hooks/mine .git/hooks/pre-push",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := project(t)
			write(t, root, "src/main.go", "package main\n")
			write(t, root, ".git/objects/00/x", "object\n")
			out, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			mine := []string{"config", "hooks/mine", "hooks/pre-push", "tasks.json", "_/h"}
			for _, f := range mine {
				write(t, out, f, "Host x\n\tProxyCommand nc\n")
			}
			var g Guard
			before := g.Look(root)
			rel, err := filepath.Rel(filepath.Dir(root), out)
			if err != nil {
				t.Fatal(err)
			}
			sh(t, root, strings.NewReplacer("OUT_NAME", rel, "OUT", out).Replace(run))
			changes := g.Changes(before)
			if len(changes) == 0 && !strings.Contains(name, "s that are a link") && name != "a module that is a link" { // nothing uses those
				t.Error("nothing was seen")
			}
			for _, c := range changes {
				err := c.Undo()
				t.Log(c.Path, err)
				if !strings.HasPrefix(c.Path, root+"/") {
					t.Errorf("outside of the project: %s", c.Path)
				}
			}
			for _, f := range mine {
				if data, err := os.ReadFile(filepath.Join(out, f)); string(data) != "Host x\n\tProxyCommand nc\n" {
					t.Errorf("%s: %q %v", f, data, err)
				}
			}
			for _, f := range []string{"src/main.go", ".git/objects/00/x", ".g2/objects/00/x"} {
				if _, err := os.Stat(filepath.Join(root, f)); err != nil && (f == "src/main.go" || strings.Contains(run, ".g2") == strings.HasPrefix(f, ".g2")) {
					t.Error(err)
				}
			}
		})
	}
}

// Ways to have git run something that need no hook beside the watched ones.
func TestWaysAroundAreSeen(t *testing.T) {
	t.Parallel()
	crowd := "for i in $(seq 400); do echo x > DIR/a$i; done; "
	for name, c := range map[string]struct{ run, want string }{
		"behind a crowd in its folder":  {strings.ReplaceAll(crowd, "DIR", ".git/hooks") + "echo evil > .git/hooks/post-merge", ".git/hooks/post-merge"},
		"behind a crowd elsewhere":      {"mkdir -p .husky; " + strings.ReplaceAll(crowd, "DIR", ".husky") + "echo evil > .git/hooks/post-merge", ".git/hooks/post-merge"},
		"behind large files":            {"mkdir -p .husky; for i in $(seq 40); do head -c 1000000 /dev/zero > .husky/a$i; done; echo evil > .git/hooks/post-merge", ".git/hooks/post-merge"},
		"at the end of large settings":  {"yes '# 345678901234567890' | head -c 1200000 >> .git/config; printf '\\n[core]\\nfsmonitor=x\\n' >> .git/config", ".git/config"},
		"another common folder":         {"cp -r .git x; echo ../x > .git/commondir", ".git/commondir"},
		"a hooks path that is no bool":  {"git config core.hooksPath false", ".git/config"},
		"a remote that is a folder":     {"git remote add o ./evil.git", ".git/config"},
		"a branch of a folder":          {"git config branch.main.remote ./evil.git", ".git/config"},
		"a push to a folder":            {"git config remote.pushDefault evil", ".git/config"},
		"by file:":                      {"git remote add o file:///tmp/evil.git", ".git/config"},
		"a module with slashes":         {"echo evil > .git/modules/libs/a/hooks/post-merge", ".git/modules/libs/a/hooks/post-merge"},
		"a new module":                  {"mkdir -p .git/modules/b/hooks; echo x > .git/modules/b/HEAD; echo evil > .git/modules/b/hooks/post-merge", ".git/modules/b/hooks/post-merge"},
		"the settings of other trees":   {"mkdir -p .git/worktrees/w; printf '[core]\\nfsmonitor=x\\n' > .git/worktrees/w/config.worktree", ".git/worktrees/w/config.worktree"},
		"by a rename":                   {"echo evil > x; chmod +x x; mv x .git/hooks/pre-push", ".git/hooks/pre-push"},
		"a pipe":                        {"rm .git/hooks/pre-push; mkfifo .git/hooks/pre-push", ".git/hooks/pre-push"},
		"where hooks are already":       {"echo evil > linked/post-merge", "linked/post-merge"},
		"from a repository in it":       {"cd sub; echo evil > ../.git/hooks/post-merge", ".git/hooks/post-merge"},
		"a hook that nobody may read":   {"echo evil > .git/hooks/post-merge; chmod 0 .git/hooks/post-merge", ".git/hooks/post-merge"},
		"a hook larger than is kept":    {"truncate -s 2G .git/hooks/post-merge", ".git/hooks/post-merge"},
		"the link to hooks, turned":     {"rm .git/modules/libs/a/hooks2; ln -s x .git/modules/libs/a/hooks2; rm -r .git/modules/libs/a/hooks; ln -s /tmp .git/modules/libs/a/hooks", ".git/modules/libs/a/hooks"},
		"a bare repository is no store": {"git init -q --bare bare; echo evil > .envrc", ".envrc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := project(t)
			dir := root
			sh(t, root, "mkdir -p .git/modules/libs/a/hooks; echo x > .git/modules/libs/a/HEAD; ln -s x .git/modules/libs/a/hooks2; git init -q sub")
			if strings.Contains(name, "already") {
				sh(t, root, "mkdir linked && rm -r .git/hooks && ln -s ../linked .git/hooks")
			}
			if strings.Contains(name, "repository in it") {
				dir = filepath.Join(root, "sub")
			}
			var g Guard
			before := g.Look(dir)
			sh(t, root, c.run)
			got := g.Changes(before)
			if !slices.ContainsFunc(got, func(x Change) bool { return x.Path == filepath.Join(root, c.want) }) {
				t.Fatalf("changes: %.300q", names(root, got))
			}
			for _, x := range got {
				if err := x.Undo(); err != nil {
					t.Errorf("%s: %v", x.Path, err)
				}
			}
			if left := g.Changes(before); slices.ContainsFunc(left, func(x Change) bool { return x.Path == filepath.Join(root, c.want) }) {
				t.Errorf("not put back: %q", names(root, left))
			}
		})
	}
}

// A repository that goes with all that it held runs nothing; it is not made again by halves.
// Submodules are ordinary work.
func TestWhatScriptsDoHonestly(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]string{
		"a repository that goes": "rm -rf .git",
		"submodules":             "git clone -q --bare . /tmp/hermes-autorun-$$ && git -c protocol.file.allow=always submodule --quiet add -f /tmp/hermes-autorun-$$ libs/a; rm -rf /tmp/hermes-autorun-$$; git config --remove-section submodule.libs/a; git config -f .git/modules/libs/a/config remote.origin.url https://example.com/a",
		"a branch that follows":  "git remote add o git@example.com:a/b.git && git config branch.main.remote o && git config branch.main.merge refs/heads/main && git config branch.x.remote https://example.com/x",
		"large files by git-lfs": "git config lfs.repositoryformatversion 0; git config lfs.https://example.com/x/info/lfs.locksverify true; git config lfs.https://example.com/x.access basic",
		"a worktree":             "git worktree add -q ../wt-$$ && git worktree remove ../wt-$$",
		"sparse":                 "git sparse-checkout set src",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := project(t)
			sh(t, root, "git commit -q --allow-empty -m x; git branch -q -M main")
			var g Guard
			before := g.Look(root)
			sh(t, root, run)
			if got := g.Changes(before); len(got) > 0 {
				t.Errorf("%q: %s", names(root, got), got[0].After())
			}
		})
	}
}

// Where there are more files than are looked at, none that was there before seems new when another
// goes.
func TestCrowdsAreNotTakenForNew(t *testing.T) {
	t.Parallel()
	root := project(t)
	for i := range maxFiles + 50 {
		write(t, root, fmt.Sprintf(".husky/f%03d", i), "x")
	}
	for i := range maxStores + 5 {
		write(t, root, fmt.Sprintf(".git/modules/m%03d/HEAD", i), "x")
		write(t, root, fmt.Sprintf(".git/modules/m%03d/config", i), "[core]\nfsmonitor=x\n")
	}
	time.Sleep(4 * settled) // what is new is told by its time
	var g Guard
	before := g.Look(root)
	sh(t, root, "rm -r .husky/f00* .git/modules/m00*")
	for _, c := range g.Changes(before) {
		if c.Before() == "" {
			t.Errorf("taken for new: %s", c.Path)
		}
	}
}

// A pipe that takes the place of a file between two calls is not waited for, though somebody holds
// its other end.
func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	root := project(t)
	pipe := filepath.Join(root, ".git", "commondir")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := readRegularFile(pipe, maxFile); err == nil {
		t.Error("read")
	}
	var g Guard
	if got := g.Changes(g.Look(root)); len(got) != 0 {
		t.Errorf("%q", names(root, got))
	}
}
