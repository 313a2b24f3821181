package program

import (
	"os/exec"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/ui"
)

// What a run made in its container is there when the session goes on, until the session is removed.
func TestARunKeepsWhatItMadeInAContainer(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, defaultBox)
	once := func(command string, args ...string) string {
		t.Helper()
		b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("", command)}}, modeltest.Turn{Text: "done"})
		o := b.turn(nil, args...)
		texts := heard(b.model)
		if o.code != 0 || len(texts) == 0 {
			t.Fatalf("code %d: %s", o.code, o.errs)
		}
		return texts[len(texts)-1]
	}
	once("mkdir -p /workspace; echo x >/workspace/f")
	if all := b.containers(); len(all) != 1 || all[0].State != "exited" || all[0].Live {
		t.Fatalf("after the run: %+v", all)
	}
	if got := once("cat /workspace/f", "--continue"); got != "x" {
		t.Errorf("--continue found %q", got)
	}
	b.hermes("pool", "prune", "--yes")
	if len(b.containers()) != 1 {
		t.Fatal("a prune removed what its session can come back for")
	}
	b.hermes("pool", "prune", "--yes", "--all")
	if len(b.containers()) != 0 {
		t.Fatal("prune --all left it")
	}
	if got := once("echo y >/workspace/f", "--continue"); !strings.Contains(got, "was made anew") {
		t.Errorf("nothing says that it was made anew: %q", got)
	}
	b.hermes("sessions", "rm", "last", "--yes")
	if all := b.containers(); len(all) != 0 {
		t.Errorf("its session is removed, it is not: %+v", all)
	}
}

// With keep: 0 nothing outlives the program.
func TestKeepNothing(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, defaultBox)
	b.plays("  keep: 0\n", modeltest.Turn{Calls: []modeltest.Call{in("", "echo x >/root/f")}}, modeltest.Turn{Text: "done"})
	if o := b.turn(nil); o.code != 0 {
		t.Fatalf("code %d: %s", o.code, o.errs)
	}
	if all := b.containers(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// hermes runs a command in the home, which has to work.
func (b *boxes) hermes(args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "hermes", args...)
	cmd.Env, cmd.Dir = b.env(), b.work
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("hermes %q: %v %s", args, err, out)
	}
	return string(out)
}

// Leaving says how to come back, and what is held.
func TestLeavingSaysHowToComeBack(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, defaultBox)
	b.plays("")
	s := b.open()
	typed(s, "$ echo come''back")
	s.WaitFor("comeback")
	leave(t, s)
	for range 2 { // and also when nothing was run in it this time
		if got := s.WaitFor("hermes --resume "); strings.Contains(got, "tokens") || !strings.Contains(got, "kept for it, stopped, for 24 h: default") {
			t.Errorf("%s", got)
		}
		s = b.screen(160, 44, ui.Options{}, "last")
		s.WaitFor(" ready ")
		leave(t, s)
	}
}

// Quitting the screen keeps what was made in the container: --continue finds it, and archiving its
// session, which asks, removes it.
func TestQuittingKeepsWhatWasMadeInAContainer(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, defaultBox)
	b.plays("")
	s := b.open()
	typed(s, "$ mkdir -p /workspace; echo x''yz >/workspace/f; cat /workspace/f")
	s.WaitFor("xyz")
	s.WaitFor(" ready ")
	leave(t, s)
	if all := b.containers(); len(all) != 1 || all[0].State != "exited" {
		t.Fatalf("after quitting: %+v", all)
	}
	s = b.screen(160, 44, ui.Options{}, "last")
	s.WaitFor(" ready ")
	typed(s, "$ echo found: $(cat /workspace/f)")
	if got := s.WaitFor("found: xyz"); strings.Contains(got, "made anew") {
		t.Errorf("it was made anew:\n%s", got)
	}
	s.WaitFor(" ready ")
	s.Type(altOne)
	s.WaitFor("enter open")
	s.Type("a")
	agree(s, "default")
	s.WaitFor("archived")
	within(t, patience, "the container is gone", func() bool { return len(b.containers()) == 0 })
	leave(t, s)
}
