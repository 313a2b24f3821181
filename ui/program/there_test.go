package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
)

// Issue 13, section 1: rollback sees the files of the back end that the session uses. What file
// tools changed in a container is put back there, by another process too.
func TestRollbackInAContainer(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	b := newBoxes(t, defaultBox)
	file := func(path, text string) modeltest.Call {
		return modeltest.Call{Name: "write_file", Args: `{"path":"` + path + `","content":"` + text + `\n"}`}
	}
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("", "mkdir -p /root/deep; echo old >/root/kept")}},
		modeltest.Turn{Calls: []modeltest.Call{file("/root/kept", "changed"), file("~/deep/made", "new")}}, modeltest.Turn{Text: "done"})
	if o := b.turn(nil); o.code != 0 {
		t.Fatalf("code %d: %s", o.code, o.errs)
	}
	if got := b.hermes("rollback", "diff", "1"); !strings.Contains(got, "-old") || !strings.Contains(got, "+changed") || !strings.Contains(got, "+new") {
		t.Fatalf("the diff: %s", got)
	}
	if got := b.hermes("rollback", "show", "1"); !strings.Contains(got, "default:/root/kept") || !strings.Contains(got, "default:/root/deep/made") {
		t.Fatalf("the turn: %s", got)
	}
	if got := b.hermes("rollback", "undo"); strings.Count(got, "put back") != 3 { // two files, and the note
		t.Errorf("the undo: %s", got)
	}
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("", "cat /root/kept; ls /root/deep")}}, modeltest.Turn{Text: "done"})
	if o := b.turn(nil, "--continue"); o.code != 0 {
		t.Fatalf("code %d: %s", o.code, o.errs)
	}
	if texts := heard(b.model); texts[len(texts)-1] != "old" {
		t.Errorf("in the container: %q", texts)
	}
	if got := b.hermes("rollback", "undo", "--turn", "2", "default:/root/kept"); !strings.Contains(got, "put back") {
		t.Errorf("the undo of the undo: %s", got)
	}
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("", "cat /root/kept")}}, modeltest.Turn{Text: "done"})
	if o := b.turn(nil, "--continue"); o.code != 0 {
		t.Fatalf("code %d: %s", o.code, o.errs)
	}
	if texts := heard(b.model); texts[len(texts)-1] != "changed" {
		t.Errorf("in the container: %q", texts)
	}
}

// The same section: @ sees them too, on the command line and on the screen, and a command in the
// composer completes the names that it will find.
func TestAMentionOfAFileInAContainer(t *testing.T) {
	t.Parallel()
	testskip.Long(t, "real containers")
	b := newBoxes(t, strings.Replace(defaultBox, "image: IMAGE", "image: IMAGE, workdir: /root/work", 1))
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("", "echo the key is red >notes.txt; echo hidden >.secret; echo away >/root/away")}},
		modeltest.Turn{Text: "Made."}, modeltest.Turn{Text: "First answer."}, modeltest.Turn{Text: "Second answer."})
	if o := b.turn(nil); o.code != 0 {
		t.Fatalf("code %d: %s", o.code, o.errs)
	}
	if r := b.run("run", "--yes", "--continue", "which key? @default:/root/work/notes.txt @default:/root/work/.secret @default:/root/away"); r.code != 0 {
		t.Fatal(r)
	}
	body := string(b.model.Requests()[2].Body)
	for _, want := range []string{"the key is red", "it is hidden", "it is outside of /root/work"} {
		if !strings.Contains(body, want) {
			t.Errorf("the model is not told %q: %s", want, body)
		}
	}
	if strings.Contains(body, `hidden\\n`) || strings.Contains(body, `away\\n`) {
		t.Errorf("more was attached: %s", body)
	}
	s := b.open()
	say(s, "$ pwd; echo the key is blue >notes.txt")
	s.WaitFor("/root/work")
	s.Type("which? @notes")
	s.WaitFor("▸ default:/root/work/notes.txt")
	s.Type("\t")
	s.WaitFor("[default:/root/work/notes.txt · 16 bytes]")
	s.Type(enter)
	s.WaitFor("Second answer.")
	s.WaitFor(" ready ")
	s.Type("$ cat no\t")
	s.WaitFor("❯ $ cat notes.txt")
	s.Type("\x15")
	leave(t, s)
}

// The same section: file tools read, find and change the files of the back end, and no others.
func TestFileToolsSeeTheFilesOfTheBackEnd(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	b := newBoxes(t, strings.Replace(defaultBox, "image: IMAGE", "image: IMAGE, workdir: /root/work", 1))
	if err := os.WriteFile(filepath.Join(b.work, "here"), []byte("the needle of this machine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("", "echo the needle of the container >there")}},
		modeltest.Turn{Calls: []modeltest.Call{
			calling("read_file", map[string]any{"path": "there"}), calling("search_files", map[string]any{"pattern": "needle"}),
			calling("read_file", map[string]any{"path": filepath.Join(b.work, "here")}),
		}},
		modeltest.Turn{Calls: []modeltest.Call{calling("patch", map[string]any{"path": "there", "old_string": "needle", "new_string": "thread"})}},
		modeltest.Turn{Calls: []modeltest.Call{in("", "cat there")}}, modeltest.Turn{Text: "done"})
	if o := b.turn(nil); o.code != 0 {
		t.Fatalf("code %d: %s", o.code, o.errs)
	}
	got := heard(b.model)
	for i, want := range map[int]string{1: "1|the needle of the container", 2: "the needle of the container", 3: "does not exist", 5: "the thread of the container"} {
		if len(got) != 6 || !strings.Contains(got[i], want) || strings.Contains(got[i], "of this machine") {
			t.Fatalf("result %d of %q: want %q", i, got, want)
		}
	}
}
