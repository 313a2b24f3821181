package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"

	"hermes/core/files"
	"hermes/core/realpath"
	"hermes/core/room"
)

// fileOperations are what the file tools rely on: the files are those that commands see.
var fileOperations = map[string]func(*testing.T, *world){
	"files that commands see are read and written": func(t *testing.T, w *world) {
		dir, sys := w.Fresh(), w.sessionFiles()
		ctx := context.Background()
		want := bytes.Repeat([]byte("zeile\x00\xff\n"), 400_000) // more than one piece
		at := path.Join(dir, "new folder", "file")
		st, err := sys.Write(ctx, at, want, nil)
		if err != nil || st.Size != int64(len(want)) {
			t.Fatal(st, err)
		}
		f, st, err := sys.Open(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes of %d: %v", len(got), len(want), err)
		}
		w.execOutput("chmod 640 '" + at + "'")
		if st, err = sys.Stat(ctx, at); err != nil || st.Mode != 0o640 {
			t.Fatalf("%o %v", st.Mode, err)
		}
		if _, err := sys.Write(ctx, at, []byte("short\n"), &st); err != nil {
			t.Fatal(err)
		}
		if got := w.execOutput("cat '" + at + "'; ls -A '" + path.Dir(at) + "'; stat -c %a '" + at + "'"); got != "short\nfile\n640\n" {
			t.Errorf("%q", got)
		}
		if err := errors.Join(sys.Remove(ctx, at), sys.Remove(ctx, path.Dir(at))); err != nil {
			t.Error(err)
		}
		if _, err := sys.Stat(ctx, at); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	},
	"links are followed once and never afterwards": func(t *testing.T, w *world) {
		dir, sys := w.Fresh(), w.sessionFiles()
		ctx := context.Background()
		w.execOutput("cd '" + dir + "' && mkdir real && echo x > real/f && ln -s real link && ln -s /nowhere/at/all dangling && mkfifo pipe")
		got, err := sys.Resolve(ctx, dir, "link/f")
		real, rerr := sys.Resolve(ctx, dir, "real/f")
		if err != nil || rerr != nil || got.Abs != path.Join(dir, "link/f") || got.Real != real.Real {
			t.Errorf("%+v %v %v", got, err, rerr)
		}
		if got, err := sys.Resolve(ctx, dir, "dangling"); err != nil || got.Real != "/nowhere/at/all" {
			t.Errorf("%+v %v", got, err)
		}
		base := path.Dir(path.Dir(real.Real))
		if _, _, err := sys.Open(ctx, base+"/link/f"); !errors.Is(err, realpath.ErrMoved) {
			t.Error("a link was followed:", err)
		}
		if _, err := sys.Write(ctx, base+"/link/g", []byte("x"), nil); !errors.Is(err, realpath.ErrMoved) {
			t.Error("a link was followed:", err)
		}
		if _, _, err := sys.Open(ctx, base+"/pipe"); err == nil || !strings.Contains(err.Error(), "a pipe") {
			t.Error(err)
		}
		list, err := sys.List(ctx, base)
		if err != nil || len(list) != 4 || list[3] != (files.Entry{Name: "real", Dir: true}) {
			t.Error(list, err)
		}
	},
	"files are searched where they are": func(t *testing.T, w *world) {
		dir := w.Fresh()
		far, ok := w.sessionFiles().(*files.Far)
		if !ok {
			t.Skip("they are here: the tools search by themselves")
		}
		w.execOutput("cd '" + dir + "' && mkdir -p a b && echo 'one needle' > a/x.go && echo none > a/y.go && echo needle > b/ignored.go && echo 'b/' > .gitignore")
		a, err := far.Search(context.Background(), dir, files.Query{Pattern: "nee(dle)", Most: 10})
		if err != nil || len(a.Found) != 1 || a.Found[0].Path != "a/x.go" || a.Found[0].Hits[0] != (files.Hit{Line: 1, Text: "one needle"}) {
			t.Errorf("%+v %v", a, err)
		}
		a, err = far.Search(context.Background(), dir, files.Query{Names: []string{"*.go"}, Most: 10})
		if err != nil || len(a.Listed) != 3 && len(a.Listed) != 2 || a.Total != len(a.Listed) {
			t.Errorf("%+v %v", a, err)
		}
		if _, err = far.Search(context.Background(), dir, files.Query{Pattern: "(", Most: 10}); err == nil {
			t.Error("a broken pattern was searched for")
		}
	},
	"looking at files changes no working folder": func(t *testing.T, w *world) {
		dir := w.Fresh()
		w.execOutput("cd '" + dir + "' && touch here")
		if at, err := w.sessionFiles().Resolve(context.Background(), "", "here"); w.isRemote() && (err != nil || path.Base(path.Dir(at.Abs)) != path.Base(dir)) {
			t.Error(at, err)
		}
		if got := w.execOutput("ls"); got != "here\n" {
			t.Errorf("%q", got)
		}
		if _, err := (room.Finder{Pool: w.Pool}).Find(w.session, "no such place"); err == nil || !strings.Contains(err.Error(), w.Backend) {
			t.Error(err)
		}
	},
}

func (w *world) sessionFiles() files.System {
	r, err := room.Finder{Pool: w.Pool}.Find(w.session, w.Backend)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Files
}

// isRemote reports whether the files are not those of this machine.
func (w *world) isRemote() bool {
	_, far := w.sessionFiles().(*files.Far)
	return far
}

// execOutput is what a command prints that must succeed.
func (w *world) execOutput(command string) string {
	w.t.Helper()
	res, err := w.Pool.Exec(context.Background(), w.newRequest(command))
	if err != nil || res.ExitCode != 0 {
		w.t.Fatalf("%s: %v %d %s", command, err, res.ExitCode, res.Output)
	}
	return string(res.Output)
}
