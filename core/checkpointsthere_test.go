package core

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/core/agent"
	"hermes/core/backend"
	"hermes/core/checkpoint"
	"hermes/core/event"
	"hermes/core/files"
	"hermes/core/intent"
	"hermes/core/room"
)

// boxes is a pool with one container, whose /workspace is a folder of this machine.
type boxes struct {
	backend.Pool
	folder string // the host's
	dir    string // where the session's next command starts
	alone  bool   // no mount is known
	on     func() // before an answer, when it is set
	until  func(ctx context.Context)
	asked  int // bytes of answers
}

const inBox = "/workspace"

func (p *boxes) List(string) []backend.Status {
	s := backend.Status{Name: "box", Kind: "docker", Traits: event.Traits{Isolated: true}, State: event.BackendReady, Dir: p.dir, Selected: true, Default: true}
	if !p.alone {
		s.Mounts = []string{p.folder + ":" + inBox}
	}
	return []backend.Status{s}
}

// Exec answers as the runner in the container does: its paths are the folder's.
func (p *boxes) Exec(ctx context.Context, r backend.Request) (backend.Result, error) {
	if p.on != nil {
		p.on()
	}
	if p.until != nil {
		p.until(ctx)
	}
	swap := func(data []byte, from, to string) []byte {
		return bytes.ReplaceAll(data, []byte(`"`+from), []byte(`"`+to))
	}
	out := swap(files.Serve(ctx, files.Local{Home: p.folder, Dir: strings.Replace(p.dir, inBox, p.folder, 1)}, swap(r.Stdin, inBox, p.folder)), p.folder, inBox)
	p.asked += len(out)
	return backend.Result{Output: out}, ctx.Err()
}

// boxed is a store of checkpoints with the pool of a container.
func boxed(t *testing.T) (checkpoints, *boxes) {
	t.Helper()
	pool := &boxes{folder: filepath.Join(t.TempDir(), "work"), dir: inBox}
	if err := os.Mkdir(pool.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	store := checkpoint.Open(checkpoint.Options{Dir: t.TempDir(), Far: func(session, name string) (files.System, error) {
		r, err := room.Finder{Pool: pool}.Find(session, name)
		return r.Files, err
	}})
	t.Cleanup(store.Close)
	return checkpoints{store, pool}, pool
}

// changeThere is a file tool's change of a file of the container.
func changeThere(name string) agent.FileChange {
	return agent.FileChange{
		Session: "s", Turn: "t", Tool: "write_file", Backend: "box", Named: []string{name},
		Intent: intent.Intent{Paths: []string{name}, OnlyPaths: true},
	}
}

func writeNow(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSharedFileHasOneHistory: a file in a new folder of a mount, written and then changed in one
// turn, is gone after the undo; a file that stands beside it does not decide.
func TestSharedFileHasOneHistory(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]bool{"the mount is known from the start": false, "the mount is known later": true} {
		t.Run(name, func(t *testing.T) {
			k, pool := boxed(t)
			pool.alone = alone
			beside := 0
			pool.on = func() { // somebody writes beside it between any two questions
				beside++
				writeNow(t, filepath.Join(pool.folder, "beside", string(rune('a'+beside%26))), "x")
				writeNow(t, filepath.Join(pool.folder, string(rune('a'+beside%26))), "x")
			}
			host := filepath.Join(pool.folder, "new", "sub", "a.go")
			for _, text := range []string{"v1", "v2"} {
				c := changeThere(inBox + "/new/sub/a.go")
				if err := k.Before(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				writeNow(t, host, text)
				k.After(c)
				pool.alone = false
			}
			pool.on = nil
			r, err := k.store.End(t.Context(), "s", "t")
			if err != nil || r == nil {
				t.Fatal(r, err)
			}
			plan, err := k.store.Plan(t.Context(), checkpoint.Selection{Records: []string{r.ID}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.store.Undo(t.Context(), plan, false); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(host); err == nil {
				t.Errorf("the file is there with %q; recorded: %+v", data, r.Files)
			}
		})
	}
}

// TestAfterAsksForATimeOnly: a back end that answers nothing holds no turn for ever.
func TestAfterAsksForATimeOnly(t *testing.T) {
	t.Parallel()
	k, pool := boxed(t)
	asked := 0
	pool.until = func(ctx context.Context) {
		asked++
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the back end is asked without a bound")
		}
	}
	k.After(changeThere(inBox + "/a.go"))
	if asked == 0 {
		t.Error("nothing was asked")
	}
}

// TestListThereIsWhatIsMeant: what git ignores, what is hidden and what was installed is not
// offered; folders are.
func TestListThereIsWhatIsMeant(t *testing.T) {
	t.Parallel()
	_, pool := boxed(t)
	for _, name := range []string{".git/config", ".env", ".cache/x", "node_modules/a/index.js", "web/node_modules/b.js", "out.log", "src/deep/a.go", "b.go"} {
		writeNow(t, filepath.Join(pool.folder, name), "x")
	}
	writeNow(t, filepath.Join(pool.folder, ".gitignore"), "*.log\n")
	r, err := room.Finder{Pool: pool}.Find("s", "box")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"b.go", "src/", "src/deep/", "src/deep/a.go"}
	if got := listThere(t.Context(), r.Files, inBox); !slices.Equal(got, want) {
		t.Errorf("listed: %q, not %q", got, want)
	}
}
