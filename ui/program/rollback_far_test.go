package program

import (
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// Issue 13, section 1: rollback sees the files of the back end that the session uses. What file
// tools changed in a container is put back there, by another process too.
func TestRollbackInAContainer(t *testing.T) {
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
