package program

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/ui/uitest"
)

// typed sends a line once the composer shows it.
func typed(s *uitest.Screen, line string) {
	s.WaitFor("❯ ")
	say(s, line)
}

// Who switches in the sidebar chooses where what is typed runs. What nobody uses stops, and wakes
// with its files.
func TestSwitchingInTheSidebar(t *testing.T) {
	t.Parallel()
	testskip.Long(t, "real containers")
	b := newBoxes(t, defaultBox+"    analytics: {image: IMAGE, env: {WHERE: second}, idle_ttl: 1s}\n")
	b.plays("")
	s := b.open()
	typed(s, "$ echo at $WHERE")
	s.WaitFor("at first")
	s.WaitFor("ready")
	s.Type(altFour)
	s.WaitFor("enter shell")
	if p := s.Settle(); strings.Index(p, "analytics") < strings.Index(p, "default this") {
		t.Errorf("the cursor does not begin at the default:\n%s", p)
	}
	s.Type("j")
	s.Type("u")
	s.WaitFor("commands of this session run in analytics")
	s.Type(altTwo)
	typed(s, "$ echo at $WHERE; echo slept > /root/file")
	s.WaitFor("at second")
	s.Wait("the idle stop", func(p string) bool { return strings.Contains(column(p, "─ 4 Back ends"), "stopped") })
	for _, c := range b.containers() {
		if running := c.State == "running"; running != (c.Backend == "default") {
			t.Errorf("%s is %s", c.Backend, c.State)
		}
	}
	typed(s, "$ cat /root/file")
	s.Wait("the file", func(p string) bool { return strings.Contains(column(p, "─ 3 Output"), "slept") })
	leave(t, s)
}

// Two sessions beside each other have two containers of one name, and neither sees the other's
// files.
func TestTwoSessionsHaveTwoContainers(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, defaultBox)
	b.plays("")
	s := b.open()
	typed(s, "$ echo left > /root/file")
	s.WaitFor("✓ $ ")
	s.Type(split)
	s.WaitFor("New conversation")
	typed(s, "$ ls /root/file")
	s.WaitFor("No such file")
	if all := b.containers(); len(all) != 2 || all[0].Session == all[1].Session || all[0].ID == all[1].ID {
		t.Errorf("two sessions have %+v", all)
	}
	leave(t, s)
}

// Esc ends a command in a container with everything that it started, also what left its group or is
// deaf to TERM.
func TestEscEndsTheTreeInAContainer(t *testing.T) {
	t.Parallel()
	testskip.Long(t, "real containers")
	b := newBoxes(t, defaultBox)
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("", "cat > /tmp/s <<'END'\ntrap '' TERM\necho be''gun\nsetsid sleep 64711 &\n"+
		"sh -c 'trap \"\" TERM INT; sleep 64712; true' &\nsleep 64713\nsleep 64714\nEND\nsh /tmp/s")}})
	s := b.open()
	say(s, "start")
	s.WaitFor("begun")
	var before string
	within(t, patience, "the whole tree", func() bool {
		before = b.processes("default")
		return strings.Contains(before, "sleep 64711") && strings.Contains(before, "sleep 64712") && strings.Contains(before, "sleep 64713")
	})
	if !slept("6471") {
		testskip.Missing(t, "this engine's processes cannot be seen from here")
	}
	begun := time.Now()
	s.Type(esc)
	s.WaitFor("interrupted")
	shown := time.Since(begun)
	took := within(t, patience, "the end of the tree", func() bool { return !strings.Contains(b.processes("default"), "sleep 6471") })
	t.Logf("the screen said so after %v, the tree was gone at most %v later", shown, took)
	if shown > testwait.Within(5*time.Second) {
		t.Errorf("an interrupt took %v", shown)
	}
	s.WaitFor("ready")
	typed(s, "$ echo still''here")
	s.WaitFor("stillhere") // the container lives on
	leave(t, s)
}

// slept says whether a sleep of a number of seconds that begins so runs on this machine, in a
// container or not.
func slept(seconds string) bool {
	for _, line := range everyProcess("cmdline") {
		if bytes.HasPrefix(line, []byte("sleep\x00"+seconds)) {
			return true
		}
	}
	return false
}

// A server in the background of a container: the model hears of the line that it waits for, and of
// the end.
func TestABackgroundProcessInAContainerIsHeardOf(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, defaultBox)
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{calling("terminal", map[string]any{
		"command": "echo one; echo LISTENING on 80; until test -e /tmp/go; do sleep 0.1; done; exit 3", "background": true,
		"notify_on_complete": true, "watch_patterns": []string{"LISTENING"},
	})}}, modeltest.Turn{Text: "It is up soon."}, modeltest.Turn{Text: "I saw it."}, modeltest.Turn{Text: "I saw its end."})
	s := b.open()
	say(s, "serve")
	s.WaitFor("I saw it.")
	s.WaitFor("1 in background")
	typed(s, "$ touch /tmp/go")
	s.WaitFor("I saw its end.")
	s.WaitFor("p1 ended with exit code 3")
	var told []string
	for _, r := range b.model.Requests() {
		told = append(told, r.Messages[len(r.Messages)-1].Text())
	}
	for _, want := range []string{`[Background process p1 printed "LISTENING": LISTENING on 80]`, "[Background process p1 ended with exit code 3"} {
		if !slices.ContainsFunc(told, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("%q was not among what the model heard: %q", want, told)
		}
	}
	leave(t, s)
}

// grace is how long a container may live on after its program was killed; slack is what a busy
// machine may take.
const (
	grace = 10*time.Second + 2*time.Second
	slack = 8 * time.Second
)

// A killed program leaves no container that runs. What was made in them is there for their session;
// somebody else's is left alone.
func TestAKilledProgramLeavesNothingRunningAndItsWorkKept(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, twoBoxes)
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{
		calling("terminal", map[string]any{"command": "sh -c 'setsid sleep 4711 & sleep 4712'", "background": true}),
		in("analytics", "trap '' TERM; echo kept >/root/f; sleep 4713"),
	}})
	foreign := fmt.Sprintf("not-of-hermes-%d", time.Now().UnixNano())
	if out, err := exec.Command("docker", "run", "-d", "--name", foreign, b.image, "sleep", "4710").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "-f", foreign).Run() })
	cmd := exec.Command("hermes", "run", "--yes", "go")
	cmd.Env, cmd.Dir = b.env(), b.work
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	within(t, patience, "both at work", func() bool {
		return strings.Contains(b.processes("default"), "sleep 4712") && strings.Contains(b.processes("analytics"), "sleep 4713")
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	took := within(t, grace+slack, "no container that runs", func() bool {
		for _, c := range b.containers() {
			if c.State == "running" {
				return false
			}
		}
		return true
	})
	t.Logf("the containers had ended %v after the kill", took)
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("analytics", "cat /root/f")}}, modeltest.Turn{Text: "done"})
	o := b.turn(nil, "--continue")
	if texts := heard(b.model); o.code != 0 || len(texts) == 0 || !strings.HasPrefix(texts[len(texts)-1], "kept") {
		t.Errorf("the next run: code %d %s %q", o.code, o.errs, texts)
	}
	if out, err := exec.Command("docker", "inspect", "-f", "{{.State.Running}}", foreign).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "true" {
		t.Errorf("somebody else's container: %v %s", err, out)
	}
}
