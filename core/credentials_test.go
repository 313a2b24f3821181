package core

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hermes/core/tool"
)

const (
	tokenFile = "google/token.json"
	tokenText = `{"refresh_token": "refresh-0815-cccc-dddd"}`
	settings  = "model: mine\n"
)

// homeWithToken is a data folder with a credential file and settings.
func homeWithToken(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	write(t, filepath.Join(home, tokenFile), tokenText)
	write(t, filepath.Join(home, "config.yaml"), settings)
	return home
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

// A command may write where the copies are: what it puts in their place is never written through.
func TestCopiesOfCredentialsFollowNoLink(t *testing.T) {
	for name, swap := range map[string]func(t *testing.T, home, dir string){
		"the file for a link": func(t *testing.T, home, dir string) {
			t.Helper()
			must(t, os.Remove(filepath.Join(dir, tokenFile)))
			must(t, os.Symlink(filepath.Join(home, "config.yaml"), filepath.Join(dir, tokenFile)))
		},
		"the file for a hard link": func(t *testing.T, home, dir string) {
			t.Helper()
			must(t, os.Remove(filepath.Join(dir, tokenFile)))
			must(t, os.Link(filepath.Join(home, "config.yaml"), filepath.Join(dir, tokenFile)))
		},
		"the file for a folder": func(t *testing.T, _, dir string) {
			t.Helper()
			must(t, os.Remove(filepath.Join(dir, tokenFile)))
			write(t, filepath.Join(dir, tokenFile, "in"), "the way")
		},
		"its folder for a link": func(t *testing.T, home, dir string) {
			t.Helper()
			must(t, os.RemoveAll(filepath.Join(dir, "google")))
			must(t, os.Symlink(filepath.Join(home, "victim"), filepath.Join(dir, "google")))
		},
		"the whole folder for a link": func(t *testing.T, home, dir string) {
			t.Helper()
			must(t, os.Rename(dir, dir+"-away"))
			must(t, os.MkdirAll(filepath.Join(home, "victim/google"), 0o700))
			must(t, os.Symlink(filepath.Join(home, "victim"), dir))
		},
		"the mode for a wider one": func(t *testing.T, _, dir string) {
			t.Helper()
			must(t, os.Chmod(filepath.Join(dir, tokenFile), 0o644)) //nolint:gosec // as a script might
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := homeWithToken(t)
			victim := filepath.Join(home, "victim/token.json")
			write(t, victim, settings)
			c := &copies{}
			t.Cleanup(c.removeAll)
			must(t, c.putCopy(home, tokenFile))
			wantText(t, filepath.Join(c.dir, tokenFile), tokenText)
			swap(t, home, c.dir)

			must(t, c.putCopy(home, tokenFile))
			wantText(t, filepath.Join(home, "config.yaml"), settings)
			wantText(t, victim, settings)
			if _, err := os.Stat(filepath.Join(home, "victim/google/token.json")); err == nil {
				t.Error("it was copied through the link")
			}
			wantText(t, filepath.Join(c.dir, tokenFile), tokenText)
			info, err := os.Lstat(filepath.Join(c.dir, tokenFile))
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
}

// A copy that is as it should be is not written again.
func TestACopyThatHoldsIsLeft(t *testing.T) {
	home := homeWithToken(t)
	c := &copies{}
	t.Cleanup(c.removeAll)
	must(t, c.putCopy(home, tokenFile))
	before, err := os.Lstat(filepath.Join(c.dir, tokenFile))
	must(t, err)
	must(t, c.putCopy(home, tokenFile))
	after, err := os.Lstat(filepath.Join(c.dir, tokenFile))
	must(t, err)
	if !os.SameFile(before, after) {
		t.Error("it was written again")
	}
}

// Copies of what is not granted any more go, and a folder without any is none.
func TestCopiesGoWithTheirGrant(t *testing.T) {
	home := homeWithToken(t)
	write(t, filepath.Join(home, "other.json"), tokenText)
	c := &copies{}
	t.Cleanup(c.removeAll)
	must(t, c.putCopy(home, tokenFile))
	must(t, c.putCopy(home, "other.json"))
	dir := c.dir
	if got := c.keepOnly([]string{"other.json", "never.json"}); got != dir {
		t.Errorf("%q, want %q", got, dir)
	}
	if _, err := os.Lstat(filepath.Join(dir, tokenFile)); !os.IsNotExist(err) {
		t.Errorf("the copy is left: %v", err)
	}
	wantText(t, filepath.Join(dir, "other.json"), tokenText)
	if got := c.keepOnly([]string{tokenFile}); got != "" {
		t.Errorf("%q is named without a copy in it", got)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// A command that is late makes no folder that nobody removes, nor does the end wait for a question.
func TestNoCopyIsMadeAfterTheEnd(t *testing.T) {
	home := homeWithToken(t)
	var p passing
	asked := p.passesOf("a")
	must(t, asked.copies.putCopy(home, tokenFile))
	asked.asking <- struct{}{} // as while a person is asked
	p.removeCopies("a")
	<-asked.asking
	p.removeCopies("")
	for name, s := range map[string]*passes{
		"of the session": asked,
		"of the program": p.passesOf("b"),
	} {
		if err := s.copies.putCopy(home, tokenFile); err == nil {
			t.Errorf("after the end %s: a copy", name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "hermes-credentials-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// While a person is asked, skills are loaded as ever, and a call that ends meanwhile waits no more.
func TestAnOpenQuestionHoldsNobodyUp(t *testing.T) {
	var a App
	s := a.passing.passesOf("a")
	s.asking <- struct{}{}
	a.passing.noteLoaded("a", "site")
	if got := s.loadedSkills(); len(got) != 1 {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if env, notes := a.passedVariables(ctx, tool.Call{Session: "a"}, ""); len(env)+len(notes) > 0 {
		t.Errorf("%v %v", env, notes)
	}
}
