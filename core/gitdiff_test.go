package core

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func putText(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A submodule has settings of its own, and those of the repository above it can have git ask them.
func TestDiffRunsNoProgramOfASubmodule(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	top := t.TempDir()
	sub := filepath.Join(top, "sub")
	for _, dir := range []string{top, sub} {
		inGit(t, top, "init", "-q", dir)
	}
	for _, said := range []string{"one\n", "two\n"} {
		putText(t, filepath.Join(sub, "f"), said)
		inGit(t, sub, "add", "-A")
		inGit(t, sub, "commit", "-qm", "said")
	}
	inGit(t, top, "-c", "advice.addEmbeddedRepo=false", "add", "-A")
	inGit(t, top, "commit", "-qm", "first")
	inGit(t, sub, "checkout", "-q", "HEAD~1")
	ran := filepath.Join(t.TempDir(), "ran")
	inGit(t, sub, "config", "diff.external", "touch "+ran+"; :")
	for _, format := range []string{"diff", "log"} {
		inGit(t, top, "config", "diff.submodule", format)
		if p := diffPart(t.Context(), top); !strings.Contains(p.Text, "+Subproject commit ") {
			t.Errorf("%s: %q", format, p.Text)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("@diff ran a program of a submodule")
	}
}

// A repository can say that its files lie in another folder: nothing of there is the person's
// change.
func TestDiffShowsNoFilesOfElsewhere(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	top, elsewhere := filepath.Join(t.TempDir(), "a[b]*"), t.TempDir()
	inGit(t, elsewhere, "init", "-q", top)
	for _, dir := range []string{top, elsewhere} {
		putText(t, filepath.Join(dir, "notes"), "old\n")
	}
	inGit(t, top, "add", "-A")
	inGit(t, top, "commit", "-qm", "first")
	for _, dir := range []string{top, elsewhere} {
		putText(t, filepath.Join(dir, "notes"), "of "+dir+"\n")
		putText(t, filepath.Join(dir, "fresh-of-"+filepath.Base(dir)), "")
	}
	if p := diffPart(t.Context(), top); !strings.Contains(p.Text, "+of "+top) || !strings.Contains(p.Text, "\nfresh-of-a[b]*\n") {
		t.Errorf("where it is: %q", p.Text)
	}
	inGit(t, top, "config", "core.worktree", elsewhere)
	if p := diffPart(t.Context(), top); strings.Contains(p.Text, elsewhere+"\n") || strings.Contains(p.Text, "fresh") || !strings.Contains(p.Text, "there is no diff: git says: ") {
		t.Errorf("elsewhere: %q", p.Text)
	}
}

// A git that takes no settings from its environment would run what the repository names: it is not
// asked.
func TestDiffAsksNoOldGit(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	top, bin := t.TempDir(), t.TempDir()
	inGit(t, top, "init", "-q")
	putText(t, filepath.Join(top, "a.txt"), "old\n")
	inGit(t, top, "add", "-A")
	inGit(t, top, "commit", "-qm", "first")
	putText(t, filepath.Join(top, "a.txt"), "new\n")
	ran := filepath.Join(t.TempDir(), "ran")
	inGit(t, top, "config", "core.fsmonitor", "touch "+ran+"; :")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(bin, "git")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, script := range []string{"unset GIT_CONFIG_COUNT", `unset GIT_CONFIG_COUNT; case "$*" in *--show-scope*) echo "error: unknown option" >&2; exit 129;; esac`} {
		if err := os.WriteFile(old, []byte("#!/bin/sh\n"+script+"\nexec "+git+" \"$@\"\n"), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
		if p := diffPart(t.Context(), top); !strings.Contains(p.Text, "git 2.31 or newer is needed") {
			t.Errorf("%s: %q", script, p.Text)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
}
