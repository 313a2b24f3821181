package execcode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/core/tool"
)

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"id":1,"tool":"read_file","args":{"path":"a"}}`, `{"done":0}`, `[]`, `{"id":1e99}`, `{"id":1,"tool":"a","args":null}`, strings.Repeat("[", 20000), "\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := decodeRequest(line)
		if err != nil {
			return
		}
		if r.Done == nil && (r.ID <= 0 || r.Tool == "" || len(bytes.TrimSpace(r.Args)) == 0 || bytes.TrimSpace(r.Args)[0] != '{' || !json.Valid(r.Args)) {
			t.Errorf("accepted %q as %+v", line, r)
		}
		refuseBackground(r)
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("a\nb\nc"), 4)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		limit = max(1, min(limit, 1<<16))
		r := bufio.NewReaderSize(bytes.NewReader(data), 16)
		var got []byte
		for {
			line, err := readFrame(r, limit)
			if len(line) > limit {
				t.Fatalf("a frame of %d bytes, at most %d", len(line), limit)
			}
			got = append(got, line...)
			if err != nil {
				break
			}
		}
		if !bytes.HasPrefix(data, got) {
			t.Fatalf("%q is not the beginning of %q", got, data)
		}
	})
}

// A window keeps all of what fits, else its head and its tail, and is always text.
func TestWindow(t *testing.T) {
	t.Parallel()
	clean := func(b []byte) string { return strings.ToValidUTF8(string(b), "?") }
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(10, 200).Draw(t, "limit")
		text := rapid.StringN(0, 300, 600).Draw(t, "text")
		onlyTail := rapid.Bool().Draw(t, "tail")
		w := newWindow(limit, onlyTail)
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			w.write(rest[:n])
			rest = rest[n:]
		}
		got := w.keptText(clean)
		if len(text) <= limit {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
			return
		}
		head, tail, ok := strings.Cut(got, "[output truncated at ")
		_, tail, _ = strings.Cut(tail, "]\n")
		if !ok || !utf8.ValidString(got) || strings.Contains(got, "?") && !strings.Contains(text, "?") {
			t.Fatalf("%q", got)
		}
		if !strings.HasPrefix(text, strings.TrimSuffix(head, "\n")) || !strings.HasSuffix(text, tail) || len(head)+len(tail) > limit+1 || onlyTail && head != "" {
			t.Fatalf("%q of %q", got, text)
		}
		if len(w.tail) > 2*limit || cap(w.tail) > 8*limit+1024 {
			t.Fatalf("%d bytes are kept", cap(w.tail))
		}
	})
}

// The mark of a kernel is found however the output is cut into pieces, and nothing of it is shown.
func TestTheMarkIsFound(t *testing.T) {
	t.Parallel()
	const mark = "\x00MARK\n"
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a\x00MARK\n]{0,40}`).Draw(t, "text")
		text = strings.ReplaceAll(text, mark, "")
		if strings.Contains(text+mark[:len(mark)-1], mark) || strings.Index(text+mark, mark) != len(text) {
			t.Skip("the mark itself")
		}
		shown := ""
		c := newCollector(Limits{}.orDefaults(), func(_ event.Stream, b []byte) { shown += string(b) }, mark)
		for rest := []byte(text + mark + "after"); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			c.write(event.Stdout, rest[:n])
			rest = rest[n:]
		}
		if shown != text {
			t.Fatalf("%q was shown of %q", shown, text)
		}
		select {
		case <-c.over:
			t.Fatal("the other stream has not ended")
		default:
		}
		c.write(event.Stderr, []byte(mark))
		<-c.over
	})
}

// The generated module is what the schemas say: order, types, defaults, nothing that scripts may
// not use.
func TestSignatures(t *testing.T) {
	t.Parallel()
	tools := []tool.Spec{
		spec("terminal", `"command":{"type":"string"},"background":{"type":"boolean"},"timeout":{"type":"integer","default":180},"pty":{"type":"boolean"},"backend":{"type":"string"}`, "command"),
		spec("patch", `"mode":{"type":"string","enum":["replace","patch"],"default":"replace"},"path":{"type":"string"},"from":{"type":"string"},"replace_all":{"type":"boolean","default":false}`, "path"),
		spec("read_file", `"path":{"type":"string"},"limit":{"type":"integer","default":500}`, "path"),
		spec("clarify", `"question":{"type":"string"}`),
	}
	want := []string{
		`patch(path: str, mode: str = "replace", replace_all: bool = False) -> dict`,
		`read_file(path: str, limit: int = None) -> dict`,
		`terminal(command: str, timeout: int = 180, backend: str = None) -> dict`,
	}
	if got := Signatures(tools); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	text, err := stubModule(callableTools(tools))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "clarify") || !strings.Contains(text, `one of \"replace\", \"patch\"`) {
		t.Errorf("%s", text)
	}
	if python, err := exec.LookPath("python3"); err == nil {
		cmd := exec.Command(python, "-c", "import sys, inspect; ns = {}; exec(sys.stdin.read(), ns); print(inspect.signature(ns['patch']), ns['terminal'].__doc__)")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "mode: 'str' = 'replace'") || !strings.Contains(string(out), "exit_code") {
			t.Errorf("%v %s", err, out)
		}
	}
}

// A tool that the session has not answers with an error: an import that fails would end the script.
func TestAToolThatTheSessionHasNot(t *testing.T) {
	t.Parallel()
	res := newEngine(t).Run(t.Context(), script(t, "from hermes_tools import web_search\nprint(web_search('x', limit=3)['error'])"))
	if res.Status != Success || !strings.Contains(res.Output, "web_search is not among the tools of this session") {
		t.Errorf("%+v", res)
	}
}

// No description can break out of the text that Python compiles.
func TestAHostileSchema(t *testing.T) {
	t.Parallel()
	s := spec("read_file", `"path":{"type":"string","description":"\"\"\"\nimport os; os.abort()\n\\"},"a b":{"type":"string"},"import":{"type":"string"},"x":{"type":"string","default":"\");import os#"}`, "path")
	text, err := stubModule([]tool.Spec{s})
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	sc := script(t, "import hermes_tools\nprint(hermes_tools.read_file('p')['args'])")
	sc.Tools = []tool.Spec{s}
	if res := e.Run(t.Context(), sc); res.Output != "{'path': 'p'}\n" {
		t.Errorf("%+v\n%s", res, text)
	}
}

func TestPythonIsFoundOrSaidToBeMissing(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	t.Setenv("PATH", dir)
	for name, c := range map[string]struct{ text, want string }{
		"missing": {"", "no Python is installed"},
		"too old": {"#!/bin/sh\necho '3 6'; echo /x; echo 00\n", "is Python 3.6; scripts need 3.8 or newer"},
		"broken":  {"#!/bin/sh\necho broken >&2; exit 3\n", "does not run: exit status 3 broken"},
		"no one":  {"#!/bin/sh\necho hello\n", "is no Python"},
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(filepath.Join(dir, "python3"))
			if c.text != "" {
				write("python3", c.text)
			}
			e := New(Options{Env: func() []string { return nil }})
			if _, err := e.Probe(t.Context(), dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if res := e.Run(t.Context(), script(t, "print(1)")); res.Status != Failure || !strings.Contains(res.Error, c.want) {
				t.Errorf("%+v", res)
			}
		})
	}
	fixed := New(Options{Env: func() []string { return nil }, Python: func() string { return filepath.Join(dir, "nope") }})
	if _, err := fixed.Probe(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "code_execution.python is ") {
		t.Errorf("%v", err)
	}
}

// The project's own Python is taken, and looked at once.
func TestTheProjectsPython(t *testing.T) {
	real, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		testskip.Missing(t, err)
	}
	t.Setenv("VIRTUAL_ENV", "")
	e := newEngine(t)
	s := script(t, "import sys, os\nimport mine\nprint(sys.prefix == PREFIX, mine.x)")
	if out, err := exec.Command(real, "-m", "venv", "--without-pip", filepath.Join(s.Dir, ".venv")).CombinedOutput(); err != nil {
		testskip.Missing(t, fmt.Sprintf("no venv: %s", out))
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "mine.py"), []byte("x = 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(filepath.Join(s.Dir, ".venv"))
	s.Code = strings.Replace(s.Code, "PREFIX", string(raw), 1)
	if res := e.Run(t.Context(), s); res.Output != "True 5\n" {
		t.Errorf("%+v", res)
	}
	if n := len(e.pythons.seen); n != 2 {
		t.Errorf("%d interpreters were looked at", n)
	}
}

// Temporary folders of any name work, links in them are not followed, locked folders go, and so
// does what a crash left.
func TestTemporaryFolders(t *testing.T) {
	root := t.TempDir()
	long := filepath.Join(root, strings.Repeat("d", 100), strings.Repeat("e", 100))
	if err := os.MkdirAll(long, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(long, link); err != nil {
		t.Fatal(err)
	}
	keep := filepath.Join(root, "keep")
	if err := os.MkdirAll(keep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(keep, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tmp := range []string{long, link} {
		t.Setenv("TMPDIR", tmp)
		e := newEngine(t)
		s := script(t, "import os\nt = os.environ['TMPDIR']\nos.mkdir(t + '/a'); open(t + '/a/f', 'w').close(); os.chmod(t + '/a', 0)\nos.symlink(KEEP, t + '/b')\nprint('ok')")
		raw, _ := json.Marshal(keep)
		s.Code = strings.Replace(s.Code, "KEEP", string(raw), 1)
		if res := e.Run(t.Context(), s); res.Output != "ok\n" {
			t.Errorf("%+v", res)
		}
		if left, _ := filepath.Glob(filepath.Join(tmp, tempPrefix+"*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if _, err := os.Stat(filepath.Join(keep, "precious")); err != nil {
		t.Error("a link was followed:", err)
	}
	crashed, err := newTempDir()
	if err != nil {
		t.Fatal(err)
	}
	running, err := newTempDir()
	if err != nil {
		t.Fatal(err)
	}
	_ = crashed.lock.Close() // as the end of the program does
	old := time.Now().Add(-time.Hour)
	for _, d := range []*tempDir{crashed, running} {
		if err := os.Chtimes(d.root, old, old); err != nil {
			t.Fatal(err)
		}
	}
	sweepTemp()
	if _, err := os.Stat(crashed.root); err == nil {
		t.Error("what a crash left is still there")
	}
	if _, err := os.Stat(running.workDir()); err != nil {
		t.Error("a folder in use was removed")
	}
	running.remove()
}

// A secret in the session's own folder stays out of reach; what lies beside it does not.
func TestASecretInTheProject(t *testing.T) {
	base := newEngine(t)
	if base.levels.known.Landlock == 0 {
		testskip.Missing(t, "no Landlock here")
	}
	s := script(t, "for f in ('secret/key', 'open/note'):\n    try: print(open(f).read())\n    except OSError as e: print(e.strerror)\nopen('open/new', 'w').write('x')")
	for _, name := range []string{"secret/key", "open/note"} {
		path := filepath.Join(s.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := New(Options{Homes: []string{filepath.Join(s.Dir, "secret")}, Env: base.o.Env})
	defer e.Close()
	if res := e.Run(t.Context(), s); res.Status != Success || res.Output != "Permission denied\nopen/note\n" {
		t.Errorf("%+v", res)
	}
}

func TestLimitsOfMemoryAndFiles(t *testing.T) {
	e := newEngine(t)
	s := script(t, "try: x = bytearray(900_000_000)\nexcept MemoryError: print('no memory')\nimport resource\nprint(resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= 1024)")
	s.Limits.Memory = 200 << 20
	if res := e.Run(t.Context(), s); res.Output != "no memory\n(0, 0) True\n" {
		t.Errorf("%+v", res)
	}
}
