package program

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/checkpoint"
	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/ui"
	"hermes/ui/cli"
)

// project makes the work folder a repository with some files.
func (h *home) project() {
	h.t.Helper()
	if out, err := exec.Command("git", "init", "-q", h.work).CombinedOutput(); err != nil {
		testskip.Missing(h.t, fmt.Sprintf("git is needed: %v %s", err, out))
	}
	for name, content := range map[string]string{
		"a.txt": "one\r\ntwo\r\n", "b.txt": "alpha\nbeta\n", "d.txt": "before the command\n", "gone.txt": "still here\n", "run.sh": "#!/bin/sh\n", ".gitignore": "cache/\n",
	} {
		h.put(name, content)
	}
	if err := os.Chmod(filepath.Join(h.work, "run.sh"), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) put(name, content string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.work, name), []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// tree is every byte, mode and link of the work folder.
func (h *home) tree() string {
	h.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(h.work, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what, _ := os.Readlink(path)
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		rel, _ := filepath.Rel(h.work, path)
		fmt.Fprintln(&b, rel, info.Mode(), what)
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return b.String()
}

// edits is a turn that changes three files by tools and more by a command.
func edits(answer string) []modeltest.Turn {
	call := func(name string, args map[string]any) modeltest.Call {
		data, _ := json.Marshal(args)
		return modeltest.Call{Name: name, Args: string(data)}
	}
	return []modeltest.Turn{
		{Text: "I change some files.", Calls: []modeltest.Call{
			call("write_file", map[string]any{"path": "a.txt", "content": "one\nzwei\n"}),
			call("patch", map[string]any{"mode": "replace", "path": "b.txt", "old_string": "beta", "new_string": "BETA"}),
			call("write_file", map[string]any{"path": "new/deep/c.txt", "content": "fresh\n"}),
		}},
		{Calls: []modeltest.Call{call("terminal", map[string]any{
			"command": "echo changed >> d.txt; rm gone.txt; chmod 600 run.sh; ln -s a.txt link; mkdir empty; printf 'by\\0tes' > bin; echo again >> b.txt",
		})}},
		{Text: answer},
	}
}

func (h *home) runIn(args ...string) result {
	h.t.Helper()
	return h.run(append([]string{"run", "--cwd", h.work, "--yes"}, args...)...)
}

func TestRollbackOnTheCommandLine(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, edits("All is changed.")...)
	h.project()
	before := h.tree()
	if r := h.runIn("change them"); r.code != cli.ExitOK {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	after := h.tree()
	r := h.run("rollback", "list")
	if r.code != cli.ExitOK || !strings.Contains(r.out, "change them") {
		t.Fatalf("list: %d %s %s", r.code, r.out, r.err)
	}
	r = h.run("rollback", "diff", "1")
	for _, want := range []string{"-two", "+zwei", "+BETA", "+again", "+changed", "link to a.txt", "created (folder)", "mode 755 to 600", "-still here"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the diff lacks %q:\n%s%s", want, r.out, r.err)
		}
	}
	if r := h.run("rollback", "undo", "--dry-run"); r.code != cli.ExitOK || !strings.Contains(r.out, "delete") || h.tree() != after {
		t.Fatalf("a dry run: %d %s %s", r.code, r.out, r.err)
	}
	if r := h.run("rollback", "undo", filepath.Join(h.work, "d.txt")); r.code != cli.ExitOK {
		t.Fatalf("one file: %d %s", r.code, r.err)
	}
	if data, _ := os.ReadFile(filepath.Join(h.work, "d.txt")); string(data) != "before the command\n" {
		t.Errorf("%q", data)
	}
	h.put("b.txt", "by hand")
	if r := h.run("rollback", "undo", "--turn", "1"); r.code != cli.ExitFailed || !strings.Contains(r.err, "b.txt (changed since, not by the agent)") {
		t.Fatalf("a conflict: %d %s %s", r.code, r.out, r.err)
	}
	r = h.run("rollback", "undo", "--turn", "1", "--force", "--json")
	var done checkpoint.Record
	if err := json.Unmarshal([]byte(r.out), &done); err != nil || r.code != cli.ExitOK {
		t.Fatalf("%v %d %s %s", err, r.code, r.out, r.err)
	}
	if got := h.tree(); got != before {
		t.Errorf("it was\n%s\nand is\n%s", before, got)
	}
	if r := h.run("rollback", "undo", "--turn", done.ID); r.code != cli.ExitOK {
		t.Fatalf("undo of the undo: %s", r.err)
	}
	if data, _ := os.ReadFile(filepath.Join(h.work, "b.txt")); string(data) != "by hand" {
		t.Errorf("the undo of the undo gives %q", data)
	}
	if out, err := exec.Command("git", "-C", h.work, "status", "--porcelain", "--ignored").CombinedOutput(); err != nil || strings.Contains(string(out), "hermes") {
		t.Errorf("%s %v", out, err)
	}
}

func TestRollbackInTheScreen(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, edits("All is changed.")...)
	h.configure(serverSettings(server) + "approvals:\n  mode: \"off\"\n")
	h.project()
	before := h.tree()
	s := h.screen(160, 44, ui.Options{}, "")
	s.WaitFor("asks for nothing")
	say(s, "change them")
	s.WaitFor("All is changed.")
	s.WaitFor("ready")
	if h.tree() == before {
		t.Fatal("nothing was changed")
	}
	say(s, "/rollback")
	picture := s.WaitFor("Turns that changed files")
	if !strings.Contains(picture, "change them") {
		t.Errorf("the list:\n%s", picture)
	}
	s.Type(enter)
	picture = s.WaitFor("u take back this turn")
	for _, want := range []string{"▸ a.txt", "b.txt", "link to a.txt", "zwei"} {
		if !strings.Contains(picture, want) {
			t.Errorf("the turn lacks %q:\n%s", want, picture)
		}
	}
	h.put("b.txt", "by hand") // and a conflict first
	s.Type("u")
	s.WaitFor("Changed since by somebody else")
	s.Type(esc)
	s.WaitFor("u take back this turn")
	h.put("b.txt", "alpha\nBETA\nagain\n")
	s.Type("u")
	s.WaitFor("are as they were")
	if got := h.tree(); got != before {
		t.Errorf("it was\n%s\nand is\n%s", before, got)
	}
	say(s, "/rollback")
	s.WaitFor("taken back")
	s.Type(esc)
	s.WaitGone("taken back")
	leave(t, s)
}

// What a script does and what a process in the background does before its turn ends is taken back
// too; a command that only reads keeps nothing.
func TestRollbackOfScripts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skip("python3 is needed:", err)
	}
	call := func(name string, args map[string]any) []modeltest.Call {
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return []modeltest.Call{{Name: name, Args: string(data)}}
	}
	h, _ := homeWith(t,
		modeltest.Turn{Calls: call("terminal", map[string]any{"command": "cat d.txt"})}, modeltest.Turn{Text: "I have read it."},
		modeltest.Turn{Calls: call("execute_code", map[string]any{"code": "from hermes_tools import write_file\nopen('d.txt','w').write('by script')\nwrite_file('a.txt', 'by tool')\n"})},
		modeltest.Turn{Calls: call("terminal", map[string]any{"command": "echo late > late.txt; echo > done.txt", "background": true})},
		modeltest.Turn{Calls: call("terminal", map[string]any{"command": "until test -e done.txt; do sleep 0.05; done"})},
		modeltest.Turn{Text: "All is changed."})
	h.project()
	before := h.tree()
	if r := h.runIn("read"); r.code != cli.ExitOK {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	if r := h.run("rollback", "list", "--json"); strings.TrimSpace(r.out) != "[]" {
		t.Errorf("a read was recorded: %s", r.out)
	}
	if r := h.runIn("change"); r.code != cli.ExitOK {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	for name, want := range map[string]string{"d.txt": "by script", "a.txt": "by tool", "late.txt": "late\n"} {
		if data, err := os.ReadFile(filepath.Join(h.work, name)); string(data) != want {
			t.Fatalf("%s is %q %v", name, data, err)
		}
	}
	if r := h.run("rollback", "undo"); r.code != cli.ExitOK {
		t.Fatalf("undo: %d %s", r.code, r.err)
	}
	if got := h.tree(); got != before {
		t.Errorf("it was\n%s\nand is\n%s", before, got)
	}
}

// An ignored file that a command is seen to replace or delete comes back byte for byte; one that is
// too large is said not to.
func TestRollbackOfIgnoredFiles(t *testing.T) {
	t.Parallel()
	run := func(command string) []modeltest.Turn {
		data, _ := json.Marshal(map[string]any{"command": command})
		return []modeltest.Turn{{Calls: []modeltest.Call{{Name: "terminal", Args: string(data)}}}, {Text: "Done."}}
	}
	h, server := homeWith(t, run("echo NEW=1 > .env; rm local.cfg; echo y >> big.bin; sed -i s/a/b/ notes.tmp; echo x > fresh.tmp")...)
	h.configure(serverSettings(server) + "checkpoints: {max_file_size_mb: 1}\n")
	h.project()
	kept := map[string]string{".env": "OLD=kept\r\n", "local.cfg": "c\n", "notes.tmp": "a\n"}
	for name, content := range kept {
		h.put(name, content)
	}
	h.put("big.bin", strings.Repeat("x", 2<<20))
	h.put(".gitignore", ".env\n*.cfg\n*.bin\n*.tmp\n")
	r := h.runIn("change them")
	if r.code != cli.ExitOK {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	if !strings.Contains(r.err, "big.bin is not kept") {
		t.Errorf("nothing says that big.bin is not kept: %s", r.err)
	}
	if data, _ := os.ReadFile(filepath.Join(h.work, ".env")); string(data) != "NEW=1\n" {
		t.Fatalf("the command did not run: %q", data)
	}
	if r := h.run("rollback", "undo", "--turn", "1", filepath.Join(h.work, ".env"), filepath.Join(h.work, "local.cfg"), filepath.Join(h.work, "notes.tmp")); r.code != cli.ExitOK {
		t.Fatalf("undo: %d %s %s", r.code, r.out, r.err)
	}
	for name, want := range kept {
		if data, err := os.ReadFile(filepath.Join(h.work, name)); err != nil || string(data) != want {
			t.Errorf("%s is %q, not %q: %v", name, data, want, err)
		}
	}
	r = h.run("rollback", "show", "1")
	if !strings.Contains(r.out, "big.bin") {
		t.Errorf("the turn does not name big.bin: %s", r.out)
	}
}

// Where nobody can answer, a .env that is there is not replaced, whether git ignores it or not.
func TestADotenvIsNotReplacedUnasked(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Calls: []modeltest.Call{{Name: "terminal", Args: `{"command":"echo NEW=1 > .env"}`}}}, modeltest.Turn{Text: "Done."})
	h.project()
	h.put(".env", "OLD=kept\n")
	h.put(".gitignore", ".env\n")
	r := h.run("run", "--cwd", h.work, "go")
	if data, _ := os.ReadFile(filepath.Join(h.work, ".env")); string(data) != "OLD=kept\n" {
		t.Errorf(".env is %q: %s", data, r.err)
	}
}
