package program

import (
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
