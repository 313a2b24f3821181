package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/provider/modeltest"
	"hermes/pool/docker/dockertest"
	"hermes/pool/ssh/sshdtest"
)

const unknownName = "backend 'xxx' not found. Available: default, analytics"

// One turn works in two containers and names a third that does not exist. The same name is the same
// place for the next call.
func TestATurnInTwoContainers(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, twoBoxes)
	b.plays("",
		modeltest.Turn{Calls: []modeltest.Call{in("analytics", "echo kept > /tmp/file; hostname; echo at $WHERE"), in("", "hostname; echo at $WHERE; cat /tmp/file")}},
		modeltest.Turn{Calls: []modeltest.Call{in("analytics", "cat /tmp/file; hostname"), in("xxx", "hostname; echo at $WHERE")}},
		modeltest.Turn{Text: "done"})
	o := b.turn(nil)
	if o.code != 0 {
		t.Fatalf("code %d: %s", o.code, o.errs)
	}
	texts := heard(b.model)
	if len(texts) != 4 {
		t.Fatalf("%d results: %q", len(texts), texts)
	}
	host := func(i int) string { return strings.Fields(texts[i])[0] }
	if host(0) == host(1) || !strings.Contains(texts[0], "at second") || !strings.Contains(texts[0], "[ran in analytics]") {
		t.Errorf("analytics: %q, the default: %q", texts[0], texts[1])
	}
	if !strings.Contains(texts[1], "at first") || !strings.Contains(texts[1], "/tmp/file") || strings.Contains(texts[1], "kept") {
		t.Errorf("the default sees another one's files: %q", texts[1])
	}
	if want := "kept\n" + host(0) + "\n[ran in analytics]"; texts[2] != want {
		t.Errorf("the second call of analytics read %q, want %q", texts[2], want)
	}
	if !strings.HasPrefix(texts[3], host(1)+"\nat first") || !strings.Contains(texts[3], "[warning: "+unknownName+"]") {
		t.Errorf("an unknown name gave %q", texts[3])
	}
	up := []event.BackendState{event.BackendCreating, event.BackendStarting, event.BackendReady}
	for _, name := range []string{"default", "analytics"} {
		if got := o.states(name); len(got) < 3 || !slices.Equal(got[:3], up) {
			t.Errorf("%s went through %v", name, got)
		}
	}
	places := map[string]int{}
	for _, r := range o.results() {
		places[r.Backend]++
	}
	if places["analytics"] != 2 || places["default"] != 2 {
		t.Errorf("ToolEnded tells of %v", places)
	}
	if !slices.ContainsFunc(o.events, func(e happening) bool {
		return e.Type == "ToolEnded" && slices.Equal(e.Data.Result.Warnings, []string{unknownName})
	}) {
		t.Error("no result carries the warning")
	}
}

// A back end whose image cannot be had: the default container runs its commands and says so, or
// nothing does. This machine never.
func TestABrokenImageNeverRunsHere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, terminal string }{{"fallback: default", ""}, {"fallback: error", "  fallback: error\n"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBoxes(t, defaultBox+brokenBox)
			trace := filepath.Join(b.work, "ran")
			b.plays(c.terminal,
				modeltest.Turn{Calls: []modeltest.Call{in("broken", "mkdir -p "+b.work+"; touch "+trace+"; ls "+b.work+"; echo at $WHERE")}},
				modeltest.Turn{Calls: []modeltest.Call{in("broken", "echo again")}},
				modeltest.Turn{Text: "done"})
			o := b.turn(nil)
			texts := heard(b.model)
			if len(texts) != 2 {
				t.Fatalf("code %d: %s %q", o.code, o.errs, texts)
			}
			for i, text := range texts {
				warned := strings.Contains(text, "'broken' is not available")
				ran := strings.Contains(text, "at first") || strings.Contains(text, "again\n")
				if !warned || ran != (c.terminal == "") {
					t.Errorf("call %d gave %q", i, text)
				}
			}
			if _, err := os.Stat(trace); err == nil {
				t.Error("the command ran on this machine")
			}
			if rest := o.rest("broken"); rest < 900*time.Millisecond {
				t.Errorf("an image that is not there was fetched again after %v", rest)
			}
		})
	}
}

// The default itself is broken: a clear error, and still not this machine.
func TestABrokenDefaultIsAnError(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, "    default: {image: \"127.0.0.1:1/none:1\", pull: never}\n")
	trace := filepath.Join(b.work, "ran")
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("", "touch "+trace)}}, modeltest.Turn{Text: "done"})
	o := b.turn(nil)
	texts := heard(b.model)
	if len(texts) != 1 || !strings.Contains(texts[0], "could not be run") || !strings.Contains(texts[0], "127.0.0.1:1/none:1") {
		t.Errorf("code %d %s: %q", o.code, o.errs, texts)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("the command ran on this machine")
	}
}

// An image that must be fetched is, in the middle of a turn and with its progress told.
func TestAPullDuringATurn(t *testing.T) {
	t.Parallel()
	reg := dockertest.StartRegistry(t, "", "")
	pushed, pulled := reg.Host+"/box:1", reg.Slow+"/box:1"
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", "-f", pulled).Run() })
	push := exec.Command("sh", "-ec", `cd "$1"; mkdir bin; cp "$(command -v busybox)" bin/busybox; for p in sh echo; do ln -s busybox bin/$p; done
		head -c 1500000 /dev/urandom > noise; tar -c . | docker import -c 'ENV PATH=/bin' - "$2"; docker push -q "$2"; docker image rm -f "$2"`, "sh", t.TempDir(), pushed)
	if out, err := push.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	reg.Rate(1 << 20)
	b := newBoxes(t, defaultBox+"    far: {image: \""+pulled+"\", env: {WHERE: far}}\n")
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{in("far", "echo at $WHERE")}}, modeltest.Turn{Text: "done"})
	o := b.turn(nil)
	if texts := heard(b.model); len(texts) != 1 || !strings.HasPrefix(texts[0], "at far\n") {
		t.Fatalf("code %d %s: %q", o.code, o.errs, texts)
	}
	want := []event.BackendState{event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady}
	if got := o.states("far"); len(got) < 4 || !slices.Equal(got[:4], want) {
		t.Errorf("it went through %v", got)
	}
	var last, events int64
	for _, e := range o.events {
		if e.Type != "Progress" {
			continue
		}
		if e.Data.Done < last {
			t.Errorf("progress goes back from %d to %d", last, e.Data.Done)
		}
		if last = e.Data.Done; e.Data.Unit != "bytes" || e.Data.Label == "" {
			t.Errorf("%s", e.raw)
		}
		events++
	}
	if events < 3 || last < 1<<20 {
		t.Errorf("%d events of progress, the last at %d bytes", events, last)
	}
}

// Three kinds of places in one turn: a container, a far host, and this machine by its name only.
func TestKindsMixInOneTurn(t *testing.T) {
	t.Parallel()
	far := sshdtest.Start(t)
	b := newBoxes(t, fmt.Sprintf("%s    here: {kind: local}\n    gpu-box: {kind: ssh, host: %s, port: %d, user: %s, key_file: %s}\n", defaultBox, far.Host, far.Port, far.User, far.Key))
	b.plays("",
		modeltest.Turn{Calls: []modeltest.Call{in("gpu-box", "cd; pwd; echo kept > file"), in("", "echo at $WHERE"), in("here", "pwd")}},
		modeltest.Turn{Calls: []modeltest.Call{in("gpu-box", "pwd; cat file")}},
		modeltest.Turn{Text: "done"})
	o := b.turn([]string{"HOME=" + far.Client})
	texts := heard(b.model)
	if len(texts) != 4 {
		t.Fatalf("code %d %s: %q", o.code, o.errs, texts)
	}
	for i, want := range []string{far.Home + "\n[ran in gpu-box]", "at first", b.work + "\n[ran in here]", far.Home + "\nkept\n[ran in gpu-box]"} {
		if texts[i] != want {
			t.Errorf("call %d gave %q, want %q", i, texts[i], want)
		}
	}
	if got := o.states("gpu-box"); !slices.Contains(got, event.BackendReady) {
		t.Errorf("the far host went through %v", got)
	}
}
