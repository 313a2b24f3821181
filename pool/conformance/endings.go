package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/testwait"
)

// stubborn starts, besides itself, a child that ignores TERM, a child in a session of its own, and
// a grandchild in one whose parents are gone; it leaves their process numbers in files, and goes on
// for ever.
const stubborn = `
command -v setsid >/dev/null || setsid() { perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV' "$@"; }
sh -c 'trap "" TERM; echo $$ >deaf; while :; do sleep 1; done' &
setsid sh -c 'echo $$ >away; while :; do sleep 1; done' &
(setsid sh -c '(trap "" TERM; echo $$ >orphan; while :; do sleep 1; done) & echo $! >orphan2' &)
while ! [ -s deaf ] || ! [ -s away ] || ! [ -s orphan2 ]; do sleep 0.01; done
echo READY
while :; do sleep 1; done`

// endings: how commands end, by themselves or not.
var endings = map[string]func(*testing.T, *world){
	"exit codes": func(_ *testing.T, w *world) {
		for command, code := range map[string]int{
			"true": 0, "false": 1, "exit 42": 42, "nosuchprogram": 127, "/": 126, "exec sh -c 'exit 9'": 9,
			"kill -9 $$": 137, "kill -15 $$": 143, "sh -c 'kill -9 $$'": 137,
			"set -eu; false; echo no": 1, "if true": 2, "echo 'open": 2, "( exit 5 )": 5, "trap 'exit 6' EXIT": 6,
		} {
			w.wantEqual(command, w.runCommand(command).ExitCode, code)
		}
	},
	"a signal has a name": func(_ *testing.T, w *world) {
		w.wantEqual("signal", w.runCommand("kill -9 $$").Signal, "SIGKILL")
		w.wantEqual("signal", w.runCommand("true").Signal, "")
	},
	"a program that is not there": func(t *testing.T, w *world) {
		r := w.newRequest("")
		r.Argv = []string{"nosuchprogram"}
		p := w.startProcess("echo up; exec sleep 100")
		w.eventually("it is up", func() bool { return w.processOutput(p.ID) == "up\n" })
		if res, err := w.Pool.Exec(context.Background(), r); err == nil || !strings.Contains(err.Error(), "nosuchprogram was not started: no such program") {
			t.Errorf("%v, %+v", err, res)
		}
		if _, err := w.Pool.Start(context.Background(), r); err == nil || !strings.Contains(err.Error(), "nosuchprogram was not started: no such program") {
			t.Errorf("in the background: %v", err)
		}
		// It is the command that is wrong, and not the place: that was not brought up anew for it.
		if q, err := w.Pool.Wait(context.Background(), w.session, p.ID, time.Millisecond); err != nil || !q.Running {
			t.Errorf("what ran beside it: %v, %+v", err, q)
		}
	},
	"the shell cannot spoil the bookkeeping": func(_ *testing.T, w *world) {
		w.outputOf("cd /usr")
		for _, command := range []string{"set -eu; false", "if true", "echo 'open", "exit 3", "exec true", "kill -9 $$", "exec >&- 2>&-", "trap 'echo x' EXIT", "set -C", "PATH=; true", "cat <<END"} {
			w.runCommand(command)
			w.wantEqual("directory after "+command, w.outputOf("pwd"), "/usr\n")
		}
	},
	"a timeout ends the whole tree": func(_ *testing.T, w *world) {
		var res backend.Result
		for limit := time.Second; len(res.Output) == 0 && limit < patience; limit *= 2 { // a busy machine is not ready within it
			w.outputOf("cd " + w.Fresh())
			begun := time.Now()
			res = w.runCommand(stubborn, withTimeout(limit))
			if len(res.Output) > 0 {
				w.endedTree(res, begun.Add(limit))
			}
		}
		w.wantEqual("timed out", res.TimedOut, true)
		w.wantEqual("exit code", res.ExitCode, 124)
		w.wantEqual("partial output", string(res.Output), "READY\n")
	},
	"an interrupt ends the whole tree": func(_ *testing.T, w *world) {
		w.outputOf("cd " + w.Fresh())
		ctx, cancel := context.WithCancel(context.Background())
		var at time.Time
		var rec recorder
		timer := time.AfterFunc(patience, cancel)
		defer timer.Stop()
		res := w.runCtx(ctx, stubborn, func(r *backend.Request) {
			r.Sink = func(s streamName, data []byte) {
				rec.takeOutput(s, data)
				at = time.Now()
				cancel()
			}
		})
		w.endedTree(res, at)
		w.wantEqual("interrupted", res.Interrupted, true)
		w.wantEqual("exit code", res.ExitCode, 130)
	},
	"a polite command ends at once": func(_ *testing.T, w *world) {
		w.wantBest("the interrupt", 3*w.Grace/4, func() time.Duration { // who is waited for takes all of the grace
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var at time.Time
			res := w.runCtx(ctx, "echo up; sleep 60", func(r *backend.Request) {
				r.Sink = func(streamName, []byte) { at = time.Now(); cancel() }
			})
			w.wantEqual("exit code", res.ExitCode, 130)
			return time.Since(at)
		})
	},
	"two hundred children end": func(_ *testing.T, w *world) {
		w.outputOf("cd " + w.Fresh())
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(patience, cancel)
		defer timer.Stop()
		w.runCtx(ctx, "i=0; while [ $i -lt 200 ]; do sleep 300 & echo $! >>pids; i=$((i+1)); done; echo READY; wait", func(r *backend.Request) {
			r.Sink = func(streamName, []byte) { cancel() }
		})
		w.wantEqual("alive", w.outputOf("n=0; for p in $(cat pids); do "+lives+" && n=$((n+1)); done; echo $n"), "0\n")
	},
	"a stopped command ends": func(_ *testing.T, w *world) {
		w.wantEqual("timed out", w.runCommand("kill -STOP $$", withTimeout(200*time.Millisecond)).TimedOut, true)
	},
	"a child in the background does not hold the call": func(_ *testing.T, w *world) {
		w.wantQuick("the call", 300*time.Millisecond, func() { w.wantEqual("output", w.outputOf("sleep 3 & echo done"), "done\n") })
		w.wantQuick("the next one", 100*time.Millisecond, func() { w.outputOf("true") })
	},
	"a child in the background does not hold the terminal": func(_ *testing.T, w *world) {
		w.wantQuick("the call", 300*time.Millisecond, func() {
			got := w.outputOf("trap '' HUP; sleep 3 & echo done", func(r *backend.Request) { r.PTY = &backend.Size{Rows: 24, Cols: 80} })
			w.wantEqual("output", got, "done\r\n")
		})
	},
	"late output belongs to nobody": func(t *testing.T, w *world) {
		if w.Ends {
			return // "what is left ends with its command" says it
		}
		w.outputOf("cd " + w.Fresh())
		var rec recorder
		w.runCommand("(sleep 0.4; echo LATE; echo LATE >&2; echo wrote >proof) & echo now", func(r *backend.Request) { r.Sink = rec.takeOutput })
		res := w.runCommand("while ! [ -s proof ]; do sleep 0.02; done; echo mine", withTimeout(patience))
		w.wantEqual("the next call's output", string(res.Output), "mine\n")
		if strings.Contains(rec.all.String(), "LATE") {
			t.Error("the sink was called after the call had ended")
		}
	},
	"what is left ends with its command": func(t *testing.T, w *world) {
		if !w.Ends {
			return
		}
		w.outputOf("cd " + w.Fresh())
		res := w.runCommand("(sleep 0.5; echo LATE; echo wrote >proof) & echo now")
		w.wantEqual("output", string(res.Output), "now\n")
		if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "background") {
			t.Errorf("warnings: %q", res.Warnings)
		}
		w.wantEqual("proof", w.outputOf("sleep 1; cat proof 2>/dev/null; echo none"), "none\n")
		w.wantEqual("warnings of a command that leaves nothing", len(w.runCommand("true & wait").Warnings), 0)
	},
	"a server in the background lives on": func(_ *testing.T, w *world) {
		if w.Ends {
			return
		}
		w.outputOf("cd " + w.Fresh())
		w.outputOf("sh -c 'echo $$ >pid; while :; do echo noise || exit 1; sleep 0.02; done' & while ! [ -s pid ]; do sleep 0.01; done")
		w.outputOf("sleep 0.5")
		w.wantEqual("alive", w.isAlive("pid"), true)
		w.outputOf("kill $(cat pid)")
	},
}

// endedTree checks that nothing is left of the stubborn script, and that ending it took the grace
// and not much more.
func (w *world) endedTree(res backend.Result, from time.Time) {
	w.t.Helper()
	if took := time.Since(from); took > testwait.Within(w.Grace+4*time.Second) {
		w.t.Errorf("ending the tree took %v", took)
	}
	w.noneLeft()
	w.wantEqual("warnings", len(res.Warnings), 1)
}

// noneLeft checks that no process of the stubborn script lives.
func (w *world) noneLeft() {
	w.t.Helper()
	for _, file := range []string{"deaf", "away"} {
		w.wantEqual(file+" is alive", w.isAlive(file), false)
	}
	for _, file := range []string{"orphan", "orphan2"} {
		if alive := w.isAlive(file); w.Sweeps {
			w.wantEqual(file+" is alive", alive, false)
		} else if alive {
			w.outputOf("kill -9 $(cat " + file + ")")
		}
	}
}
