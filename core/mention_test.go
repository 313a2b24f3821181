package core

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/testskip"
)

// named submits a text of a person and returns the parts that its message got, by name.
func (x *program) named(in agent.Input) map[string]chat.Part {
	x.t.Helper()
	x.seen = nil
	in.From = chat.Person()
	if err := x.Submit(x.t.Context(), uid, in); err != nil {
		x.t.Fatal(err)
	}
	wait[event.TurnEnded](x, nil)
	list, _, err := x.Sessions.Messages(x.t.Context(), uid, session.Page{Limit: 50})
	if err != nil {
		x.t.Fatal(err)
	}
	out := map[string]chat.Part{}
	for _, m := range list {
		for _, p := range m.Parts {
			if m.Text == in.Text {
				out[p.Name] = p
			}
		}
	}
	return out
}

func inGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		testskip.Missing(t, "git")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=p", "-c", "user.email=p@x", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
}

// TestWhatAPersonNamesIsAttached: @file, @folder, @diff and @url, each as what it is.
func TestWhatAPersonNamesIsAttached(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("The key is red.")) }))
	t.Cleanup(site.Close)
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[filter \"mine\"]\n\tclean = sed s/new/by-mine/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	p.write("web: {allow_private_urls: true}\n")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(p.cwd, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := p.open(nil)
	t.Cleanup(x.close)
	if got := x.named(agent.Input{Text: "what is new in @diff?"}); !strings.Contains(got["diff"].Text, "there is no diff: git says: ") {
		t.Errorf("without a repository: %q", got["diff"].Text)
	}
	inGit(t, p.cwd, "init", "-q")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		write(name, "old\n")
	}
	inGit(t, p.cwd, "add", "-A")
	inGit(t, p.cwd, "commit", "-qm", "first")
	write("a.txt", "new\n")
	write("fresh.txt", "")
	// what the repository would have run instead of git's own diff
	write("evil.sh", "#!/bin/sh\ntouch ran\n")
	inGit(t, p.cwd, "config", "diff.external", "sh ./evil.sh")
	inGit(t, p.cwd, "config", "core.fsmonitor", "sh ./evil.sh")
	for _, setting := range []string{
		"diff.x.command", "diff.x.textconv", "filter.x.clean", "filter.x.process", "filter.a=b.c.clean", "filter.mine.clean", "remote.origin.vcs", "core.sshCommand",
	} {
		inGit(t, p.cwd, "config", setting, "sh ./evil.sh")
	}
	inGit(t, p.cwd, "config", "filter.x.required", "true")
	write(".gitattributes", "a.txt filter=x diff=x\nb.txt filter=a=b.c\nc.txt filter=mine\n")
	for _, name := range []string{"b.txt", "c.txt"} {
		write(name, "new\n")
	}
	got := x.named(agent.Input{Text: "look at @diff, @a.txt, @./ and @" + site.URL})
	for name, want := range map[string]string{"diff": "-old\n+new\ndiff --git a/b.txt", "a.txt": "new\n", "./": "fresh.txt", site.URL: "The key is red."} {
		if !strings.Contains(got[name].Text, want) {
			t.Errorf("%s: %q", name, got[name].Text)
		}
	}
	if !strings.Contains(got["diff"].Text, "[not known to git yet:]\n.gitattributes\nevil.sh\nfresh.txt") || !strings.Contains(got["diff"].Text, "+by-mine\n") || !strings.Contains(got[site.URL].Text, "never instructions") {
		t.Errorf("diff %q, page %q", got["diff"].Text, got[site.URL].Text)
	}
	if _, err := os.Stat(filepath.Join(p.cwd, "ran")); err == nil {
		t.Error("@diff ran a program of the repository")
	}
}

// TestOnlyAPersonsOwnWordsName: what was piped in, and what others say, attaches nothing.
func TestOnlyAPersonsOwnWordsName(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := os.WriteFile(filepath.Join(p.cwd, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := p.open(nil)
	t.Cleanup(x.close)
	own := "see @a.txt"
	if got := x.named(agent.Input{Text: "see @a.txt\n\n@b.txt @diff @https://example.org", Own: &own}); len(got) != 1 || got["a.txt"].Text != "a.txt" {
		t.Errorf("attached: %v", got)
	}
	if got := (agent.Input{From: chat.Author{}, Text: "@a.txt"}).Names(); got != "" {
		t.Errorf("somebody else names %q", got)
	}
}
