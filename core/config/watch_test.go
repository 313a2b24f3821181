package config

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hermes/core/testwait"
)

type watched struct {
	*testing.T
	dir     string
	changes <-chan Change
}

func watch(t *testing.T, files map[string]string) watched {
	t.Helper()
	o := home(t, files)
	c, problems := Load(o)
	ctx, cancel := context.WithCancel(context.Background())
	changes, err := Watch(ctx, o, c, problems)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for range changes { // drained until the watcher closes it
		}
	})
	return watched{t, o.Home, changes}
}

func (w watched) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w watched) next() Change {
	w.Helper()
	select {
	case c, ok := <-w.changes:
		if !ok {
			w.Fatal("the watcher ended")
		}
		return c
	case <-time.After(testwait.Hang):
		w.Fatal("no change within 10 s")
	}
	return Change{}
}

func TestWatchTellsLiveFromNextStart(t *testing.T) {
	w := watch(t, map[string]string{"config.yaml": "display: {theme: a}\n"})
	w.write("config.yaml", "display: {theme: b}\nagent: {max_turns: 7}\n")
	c := w.next()
	if c.Config.Display.Theme != "b" || !slices.Equal(c.Live, []string{"display.theme"}) || !slices.Equal(c.Next, []string{"agent.max_turns"}) {
		t.Errorf("theme %q live %v next %v", c.Config.Display.Theme, c.Live, c.Next)
	}
}

func TestWatchFollowsAnEditorThatRenames(t *testing.T) {
	w := watch(t, nil)
	for _, theme := range []string{"one", "two"} {
		w.write("config.yaml.swp", "display: {theme: "+theme+"}\n")
		if err := os.Rename(filepath.Join(w.dir, "config.yaml.swp"), filepath.Join(w.dir, "config.yaml")); err != nil {
			t.Fatal(err)
		}
		if c := w.next(); c.Config.Display.Theme != theme {
			t.Errorf("theme %q, want %q", c.Config.Display.Theme, theme)
		}
	}
}

func TestWatchSeesDotenv(t *testing.T) {
	w := watch(t, map[string]string{"config.yaml": "providers: {a: {api_key: '${A_KEY}'}}\n", ".env": "A_KEY=old\n"})
	w.write(".env", "A_KEY=new\n")
	if c := w.next(); c.Config.Providers["a"].APIKey != "new" || !slices.Equal(c.Live, []string{"providers.a.api_key"}) {
		t.Errorf("live %v", c.Live)
	}
}

func TestWatchKeepsRulesWhileAFileIsBroken(t *testing.T) {
	w := watch(t, map[string]string{"config.yaml": "approvals: {mode: smart, deny: ['rm *']}\n"})
	w.write("config.yaml", "approvals: {mode: off, deny: [\n")
	c := w.next()
	if len(c.Problems) == 0 || c.Config.Approvals.Mode != "smart" || len(c.Config.Approvals.Deny) != 1 || len(c.Live) > 0 {
		t.Errorf("%+v %v", c.Config.Approvals, c.Problems)
	}
	w.write("config.yaml", "approvals: {mode: manual}\n")
	if c := w.next(); len(c.Problems) != 0 || c.Config.Approvals.Mode != "manual" {
		t.Errorf("%+v %v", c.Config.Approvals, c.Problems)
	}
}

func TestWatchFollowsALink(t *testing.T) {
	far := t.TempDir()
	target := filepath.Join(far, "hermes.yaml")
	if err := os.WriteFile(target, []byte("display: {theme: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := home(t, nil)
	if err := os.Symlink(target, filepath.Join(o.Home, "config.yaml")); err != nil {
		t.Fatal(err)
	}
	c, problems := Load(o)
	ctx, cancel := context.WithCancel(context.Background())
	changes, err := Watch(ctx, o, c, problems)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for range changes { // drained until the watcher closes it
		}
	})
	if err := os.WriteFile(target, []byte("display: {theme: far}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := (watched{t, o.Home, changes}).next(); c.Config.Display.Theme != "far" {
		t.Errorf("theme %q", c.Config.Display.Theme)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	o := home(t, nil)
	c, problems := Load(o)
	ctx, cancel := context.WithCancel(context.Background())
	changes, err := Watch(ctx, o, c, problems)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case _, ok := <-changes:
		if ok {
			t.Error("a change without an edit")
		}
	case <-time.After(testwait.Hang):
		t.Error("the channel stays open")
	}
}
