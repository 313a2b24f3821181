package file

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hermes/core/chat"
	"hermes/core/tool"
)

// fixture is a session in a folder of its own, with the whole registry between test and tool as in
// the program.
type fixture struct {
	t    *testing.T
	dir  string // the session's directory
	home string // the person's home
	reg  *tool.Registry
}

func newFixture(t *testing.T, rg string) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dir: filepath.Join(root, "work"), home: filepath.Join(root, "home")}
	for _, d := range []string{f.dir, f.home, filepath.Join(f.home, ".hermes"), filepath.Join(f.home, ".ssh")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := New(Options{Home: filepath.Join(f.home, ".hermes"), UserHome: f.home, Ripgrep: rg})
	f.reg, err = tool.NewRegistry(Read(w), Write(w), Patch(w), Search(w))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) put(name, content string) string {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f *fixture) get(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func (f *fixture) call(args map[string]any) tool.Call {
	raw, err := json.Marshal(args)
	if err != nil {
		f.t.Fatal(err)
	}
	return tool.Call{ID: "c", Session: "s", Cwd: f.dir, Args: raw}
}

func (f *fixture) run(name string, args map[string]any) chat.ToolResult {
	f.t.Helper()
	return f.reg.Run(context.Background(), name, f.call(args))
}

// want checks that a result is no error (or is one) and contains all of parts.
func (f *fixture) want(r chat.ToolResult, isError bool, parts ...string) {
	f.t.Helper()
	if r.IsError != isError {
		f.t.Errorf("IsError = %v: %s", r.IsError, r.Text)
	}
	for _, p := range parts {
		if !strings.Contains(r.Text, p) {
			f.t.Errorf("%q lacks %q", r.Text, p)
		}
	}
}

type args = map[string]any

func TestRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	f.put("a.txt", "one\ntwo\nthree\n")
	f.want(f.run("read_file", args{"path": "a.txt"}), false, "1|one\n2|two\n3|three\n")
	f.want(f.run("read_file", args{"path": "a.txt"}), false, "unchanged since you read")
	f.want(f.run("read_file", args{"path": "a.txt"}), false, "1|one\n")
	f.want(f.run("read_file", args{"path": "a.txt", "offset": 2, "limit": 1}), false, "2|two\n[lines 2-2 of 3; continue with offset=3]")
	f.want(f.run("read_file", args{"path": "a.txt", "offset": "3"}), false, "3|three\n[lines 3-3 of 3; end of file]")
	f.want(f.run("read_file", args{"path": "a.txt", "offset": 9}), true, "has only 3 lines")
	f.want(f.run("read_file", args{"path": "A.text"}), true, "does not exist", "Similar: a.txt")
	f.want(f.run("read_file", args{"path": "no/such/b.txt"}), true, "nearest that does is "+f.dir)
	f.want(f.run("read_file", args{"path": "."}), false, "a.txt\n")
	f.put("bin", "\x00\x01")
	f.want(f.run("read_file", args{"path": "bin"}), true, "binary file")
	f.put("png", "\x89PNG\r\n\x00")
	f.want(f.run("read_file", args{"path": "png"}), true, "PNG image")
	f.put("empty", "")
	f.want(f.run("read_file", args{"path": "empty"}), false, "is empty")
	f.put("long", strings.Repeat("x", 3000)+"\nend")
	f.want(f.run("read_file", args{"path": "long"}), false, strings.Repeat("x", lineRunes)+"... [line cut]\n2|end\n")
	f.put("huge", strings.Repeat(strings.Repeat("y", 999)+"\n", 200))
	f.want(f.run("read_file", args{"path": "huge"}), true, "Ask for fewer lines")
	f.put("crlf", bom+"a\r\nb\r\n")
	f.want(f.run("read_file", args{"path": "crlf"}), false, "1|a\n2|b\n")
	f.put("latin", "caf\xe9\n")
	f.want(f.run("read_file", args{"path": "latin"}), false, "1|caf\uFFFD\n")
}

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	if err := syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.want(f.run("read_file", args{"path": "pipe"}), true, "a pipe")
	f.want(f.run("read_file", args{"path": "/dev/zero"}), true, "a device")
	f.want(f.run("read_file", args{"path": "a\x00b"}), true, "NUL")
	f.want(f.run("write_file", args{"path": "pipe", "content": "x"}), true, "a pipe")
}

func TestWriteKeepsWhatTheFileWas(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	path := f.put("crlf.txt", bom+"a\r\nb\r\n")
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	r := f.run("write_file", args{"path": "crlf.txt", "content": "a\nc\n"})
	f.want(r, false, "Modified crlf.txt (+1 -1)")
	if got := f.get("crlf.txt"); got != bom+"a\r\nc\r\n" {
		t.Errorf("%q", got)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v", info.Mode())
	}
	if d := r.Diffs[0]; d.Op != chat.FileModified || !strings.Contains(d.Unified, "-b\n+c\n") || strings.ContainsAny(d.Unified, "\r") {
		t.Errorf("%+v", d)
	}
	f.put("real/target", "old")
	if err := os.Symlink("real/target", filepath.Join(f.dir, "link")); err != nil {
		t.Fatal(err)
	}
	f.want(f.run("write_file", args{"path": "link", "content": "new"}), false)
	if info, _ := os.Lstat(filepath.Join(f.dir, "link")); info.Mode()&os.ModeSymlink == 0 || f.get("real/target") != "new" {
		t.Error("the link was replaced instead of its target")
	}
	r = f.run("write_file", args{"path": "deep/er/new.txt", "content": "x\n"})
	f.want(r, false, "Created deep/er/new.txt (+1 -0)")
	if left, _ := filepath.Glob(filepath.Join(f.dir, "**", ".hermes-*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

func TestWriteWarns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	f.put("a.json", `{"a":1}`)
	f.run("read_file", args{"path": "a.json"})
	f.put("a.json", `{"a":1, "b":2}`)
	f.want(f.run("write_file", args{"path": "a.json", "content": "{\n\"a\":}"}), false, "Warning: a.json changed on disk", "syntax: line 2")
	f.want(f.run("write_file", args{"path": "a.json", "content": "{\n\n\"a\":}"}), false, "Modified")
	if r := f.run("write_file", args{"path": "a.json", "content": "{\n\n\n\"a\":}"}); strings.Contains(r.Text, "syntax") || len(r.Warnings) > 0 {
		t.Errorf("old faults and own writes are no news: %s", r.Text)
	}
	f.want(f.run("write_file", args{"path": "a.yaml", "content": "a: [1\nb: 2\n"}), false, "syntax: line")
	f.want(f.run("write_file", args{"path": "a.go", "content": "package a\nfunc {\n"}), false, "syntax: line 2")
	f.want(f.run("write_file", args{"path": "ok.yaml", "content": "a: 1\n---\nb: *x\n"}), false, "unknown anchor")
	f.want(f.run("write_file", args{"path": "tsconfig.json", "content": "// c\n{}"}), false, "Created tsconfig.json (+2 -0)")
}

func TestPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	f.put("a", "1\n2\n")
	for name, a := range map[string]args{
		"write_file": {"path": "a", "content": "1\n3\n"},
		"patch":      {"mode": "replace", "path": "a", "old_string": "2", "new_string": "3"},
	} {
		spec, _ := f.reg.Lookup(name)
		detail, diff := spec.Preview(context.Background(), f.call(a))
		if !strings.Contains(detail, "Modified a (+1 -1)") || !strings.Contains(diff, "-2\n+3\n") {
			t.Errorf("%s: %q %q", name, detail, diff)
		}
	}
	spec, _ := f.reg.Lookup("patch")
	if detail, _ := spec.Preview(context.Background(), f.call(args{"mode": "replace", "path": "a", "old_string": "zz", "new_string": ""})); !strings.Contains(detail, "will fail") {
		t.Error(detail)
	}
	if f.get("a") != "1\n2\n" {
		t.Error("a preview changed the file")
	}
}

// Every way to name a forbidden place is refused, and nothing is written.
func TestGuard(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	for link, to := range map[string]string{
		"etc": "/etc", "ssh": filepath.Join(f.home, ".ssh"), "dangling": filepath.Join(f.home, ".netrc"),
		"chain": "chain2", "chain2": "ssh/id_rsa", "self": "/proc/self/root",
	} {
		if err := os.Symlink(to, filepath.Join(f.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/etc/passwd", "/etc/sudoers.d/x", "/etc/../etc/shadow", "etc/hosts.new", "../work/etc/x", "self/etc/x", "ssh/authorized_keys",
		"chain", "dangling", "~/.ssh/id_ed25519", "~/.npmrc", "../home/.pypirc", "~/.git-credentials", "~/.pgpass", "~/.hermes/config.yaml",
		"~/.hermes/skills/x/SKILL.md", "/boot/x", "/usr/lib/systemd/system/x.service", "/var/run/docker.sock", "/proc/self/comm", "/sys/x",
	} {
		f.want(f.run("write_file", args{"path": path, "content": "x"}), true, "may not be written")
		f.want(f.run("patch", args{"mode": "patch", "patch": "*** Begin Patch\n*** Add File: ok\n+x\n*** Add File: " + path + "\n+x\n*** End Patch"}), true)
	}
	if _, err := os.Stat(filepath.Join(f.dir, "ok")); err == nil {
		t.Error("half of a refused patch was applied")
	}
	for _, name := range []string{".ssh/id_rsa", ".netrc", ".hermes/.env", ".hermes/auth.json"} {
		if err := os.WriteFile(filepath.Join(f.home, name), []byte("SECRET"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.want(f.run("read_file", args{"path": "~/" + name}), true, "may not be read")
	}
	f.want(f.run("read_file", args{"path": "chain"}), true, "may not be read")
	f.want(f.run("read_file", args{"path": "/proc/self/environ"}), true, "may not be read")
	f.want(f.run("read_file", args{"path": "self/proc/self/environ"}), true, "may not be read")
	f.want(f.run("search_files", args{"path": "~", "pattern": "SECRET"}), false, "No matches")
	if os.Symlink("loop", filepath.Join(f.dir, "loop")) == nil {
		f.want(f.run("write_file", args{"path": "loop", "content": "x"}), true, "symbolic links")
	}
	f.want(f.run("write_file", args{"path": "~/notes.txt", "content": "x"}), false, "Created")
}

func TestPatchReplace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	f.put("a.txt", bom+"one\r\n  two\r\nthree\r\n")
	f.want(f.run("patch", args{"mode": "replace", "path": "a.txt", "old_string": "one\n  two\n", "new_string": "1\n  2\n"}), false, "(+2 -2)")
	if got := f.get("a.txt"); got != bom+"1\r\n  2\r\nthree\r\n" {
		t.Errorf("%q", got)
	}
	f.put("mixed", "a\r\nb\nc\r\n")
	f.want(f.run("patch", args{"mode": "replace", "path": "mixed", "old_string": "a\nb\n", "new_string": "x\ny\n"}), false, "line-trimmed, not exactly")
	if got := f.get("mixed"); got != "x\r\ny\r\nc\r\n" {
		t.Errorf("%q", got)
	}
	f.want(f.run("patch", args{"mode": "replace", "path": "a.txt", "old_string": "nine", "new_string": "x"}), true, "Nothing was changed", "not found")
	f.want(f.run("patch", args{"mode": "replace", "path": "a.tx", "old_string": "1", "new_string": "x"}), true, "Similar: a.txt")
	f.want(f.run("patch", args{"mode": "replace"}), true, "needs the arguments path")
	f.want(f.run("patch", args{"mode": "patch"}), true, "needs the argument patch")
	f.want(f.run("patch", args{"mode": "swap"}), true, `"replace" | "patch"`)
	f.put("rep", "x x x")
	f.want(f.run("patch", args{"mode": "replace", "path": "rep", "old_string": "x", "new_string": "y", "replace_all": "true"}), false, "3 places")
}

func TestPatchMany(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	f.put("a", "1\n2\n")
	f.put("b", "gone\n")
	path := f.put("run.sh", "#!/bin/sh\necho\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	r := f.run("patch", args{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: a\n 1\n-2\n+3\n*** Update File: a\n-1\n+0\n*** Delete File: b\n*** Move File: run.sh -> bin/go.sh\n*** Update File: bin/go.sh\n-echo\n+echo hi\n*** Add File: new/c\n+see\n*** End Patch"})
	f.want(r, false, "Modified a (+2 -2)", "Deleted b (+0 -1)", "Moved run.sh -> bin/go.sh (+1 -1)", "Created new/c (+1 -0)")
	if f.get("a") != "0\n3\n" || f.get("bin/go.sh") != "#!/bin/sh\necho hi\n" || f.get("new/c") != "see\n" || len(r.Diffs) != 4 {
		t.Errorf("%q %q %d diffs", f.get("a"), f.get("bin/go.sh"), len(r.Diffs))
	}
	if info, err := os.Stat(filepath.Join(f.dir, "bin/go.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Error("a moved file keeps its mode")
	}
	for _, gone := range []string{"b", "run.sh"} {
		if _, err := os.Stat(filepath.Join(f.dir, gone)); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
}

func TestPatchManyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	f.put("a", "1\n")
	f.put("b", "2\n")
	for name, tail := range map[string]string{
		"hunk does not fit": "*** Update File: b\n-nine\n+x", "add over a file": "*** Add File: b\n+x", "missing": "*** Delete File: zz",
		"move over a file": "*** Move File: a -> b", "move onto itself": "*** Move File: b -> ./b",
	} {
		r := f.run("patch", args{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: a\n-1\n+9\n" + tail + "\n*** End Patch"})
		if !r.IsError || f.get("a") != "1\n" || f.get("b") != "2\n" {
			t.Errorf("%s: %v %s; a=%q b=%q", name, r.IsError, r.Text, f.get("a"), f.get("b"))
		}
	}
}

// A write that fails in the middle puts back what was written before.
func TestRollback(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	f.put("a", "1\n")
	f.put("b", "2\n")
	blocked := filepath.Join(f.put("file", ""), "d") // no file can be made below a file
	w := New(Options{UserHome: f.home})
	p := w.prepareV4A(t.Context(), tool.Call{Cwd: f.dir}, patchArgs{Patch: "*** Begin Patch\n*** Update File: a\n-1\n+9\n*** Delete File: b\n*** Add File: c\n+3\n*** End Patch"})
	if p.err != nil {
		t.Fatal(p.err)
	}
	changes := slices.Concat(p.plan.changes, []change{{at: place{room: w.localRoom(), shown: "file/d", abs: blocked, real: blocked}, after: []byte("x")}})
	if err := w.applyAll(t.Context(), "s", changes); err == nil || !strings.Contains(err.Error(), "file/d") {
		t.Errorf("%v", err)
	}
	if f.get("a") != "1\n" || f.get("b") != "2\n" {
		t.Errorf("a=%q b=%q", f.get("a"), f.get("b"))
	}
	if _, err := os.Stat(filepath.Join(f.dir, "c")); err == nil {
		t.Error("c was left behind")
	}
	f.want(f.run("write_file", args{"path": "file/d", "content": "x"}), true, "not a directory")
}

func TestCommitNoticesARace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	f.put("a", "1\n")
	w := New(Options{UserHome: f.home})
	p := w.prepareWrite(t.Context(), tool.Call{Cwd: f.dir}, writeArgs{Path: "a", Content: "2\n"})
	f.put("a", "someone else was here\n")
	if err := w.commitPlan(t.Context(), "s", p.plan); err == nil || f.get("a") != "someone else was here\n" {
		t.Errorf("%v %q", err, f.get("a"))
	}
}

func TestPathsForParallelCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	spec, _ := f.reg.Lookup("patch")
	got := spec.Means(f.call(args{"mode": "patch", "patch": "*** Move File: a -> b\n*** Delete File: c"}).Args).Paths
	if fmt.Sprint(got) != "[a b c]" {
		t.Error(got)
	}
	if got := spec.Means(f.call(args{"mode": "patch", "patch": "?"}).Args).Paths; got != nil {
		t.Errorf("a patch that does not parse touches the unknown, not %v", got)
	}
}

func TestTheGistCountsLinesAsPeopleDo(t *testing.T) {
	for content, want := range map[string]string{"": "0 lines", "a": "1 line", "a\n": "1 line", "a\nb": "2 lines", "a\nb\n": "2 lines", "\n\n": "2 lines"} {
		if got := countLines(content); got != want {
			t.Errorf("%q has %s, not %s", content, want, got)
		}
	}
}
