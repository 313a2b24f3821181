package docker

import (
	"strings"
	"testing"

	"hermes/pool"
)

// 14: a command cannot write into the stream of the runner, or of a second process' way to it, nor
// read their memory.
func TestCommandsCannotSpeakForTheRunner(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"", "worker"} {
		r := newRig(t)
		b := r.open("s", pool.Spec{User: user})
		up(t, b)
		second := newRigIn(t, r.home)
		other := second.open("s", pool.Spec{User: user})
		up(t, other)
		const attack = `for p in $(ps -o pid,args | grep -E 'runner (serve|join)' | grep -v grep | while read p _; do echo $p; done); do
			echo target; head -c 1 /proc/$p/mem 2>&1
			for f in 0 1 2 3 4 5 6 7 8 9 10 11 12; do (echo junkjunkjunkjunk >/proc/$p/fd/$f) 2>/dev/null && echo WROTE; done; done; echo end`
		got := output(t, b, attack)
		if strings.Count(got, "target\n") != 2 || strings.Contains(got, "WROTE") || strings.Count(got, "/mem: Permission denied") != 2 || !strings.HasSuffix(got, "end\n") {
			t.Errorf("as %q: %s", user, got)
		}
		for _, b := range []*Backend{b, other} {
			if got := output(t, b, "echo fine"); got != "fine\n" {
				t.Error(got)
			}
		}
	}
}
