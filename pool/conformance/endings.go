package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
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
			w.want(command, w.run(command).ExitCode, code)
		}
	},
	"a signal has a name": func(_ *testing.T, w *world) {
		w.want("signal", w.run("kill -9 $$").Signal, "SIGKILL")
		w.want("signal", w.run("true").Signal, "")
	},
	"a program that is not there": func(t *testing.T, w *world) {
		r := w.request("")
		r.Argv = []string{"nosuchprogram"}
		p := w.start("echo up; exec sleep 100")
		w.eventually("it is up", func() bool { return w.output(p.ID) == "up\n" })
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
		w.text("cd /usr")
		for _, command := range []string{"set -eu; false", "if true", "echo 'open", "exit 3", "exec true", "kill -9 $$", "exec >&- 2>&-", "trap 'echo x' EXIT", "set -C", "PATH=; true", "cat <<END"} {
			w.run(command)
			w.want("directory after "+command, w.text("pwd"), "/usr\n")
		}
	},
	"a timeout ends the whole tree": func(_ *testing.T, w *world) {
		w.text("cd " + w.Fresh())
		begun := time.Now()
		res := w.run(stubborn, within(time.Second))
		w.endedTree(res, begun.Add(time.Second))
		w.want("timed out", res.TimedOut, true)
		w.want("exit code", res.ExitCode, 124)
		w.want("partial output", string(res.Output), "READY\n")
	},
	"an interrupt ends the whole tree": func(_ *testing.T, w *world) {
		w.text("cd " + w.Fresh())
		ctx, cancel := context.WithCancel(context.Background())
		var at time.Time
		var rec recorder
		timer := time.AfterFunc(patience, cancel)
		defer timer.Stop()
		res := w.runCtx(ctx, stubborn, func(r *backend.Request) {
			r.Sink = func(s streamName, data []byte) {
				rec.sink(s, data)
				at = time.Now()
				cancel()
			}
		})
		w.endedTree(res, at)
		w.want("interrupted", res.Interrupted, true)
		w.want("exit code", res.ExitCode, 130)
	},
	"a polite command ends at once": func(_ *testing.T, w *world) {
		w.best("the interrupt", 3*w.Grace/4, func() time.Duration { // who is waited for takes all of the grace
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var at time.Time
			res := w.runCtx(ctx, "echo up; sleep 60", func(r *backend.Request) {
				r.Sink = func(streamName, []byte) { at = time.Now(); cancel() }
			})
			w.want("exit code", res.ExitCode, 130)
			return time.Since(at)
		})
	},
	"two hundred children end": func(_ *testing.T, w *world) {
		w.text("cd " + w.Fresh())
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(patience, cancel)
		defer timer.Stop()
		w.runCtx(ctx, "i=0; while [ $i -lt 200 ]; do sleep 300 & echo $! >>pids; i=$((i+1)); done; echo READY; wait", func(r *backend.Request) {
			r.Sink = func(streamName, []byte) { cancel() }
		})
		w.want("alive", w.text("n=0; for p in $(cat pids); do "+lives+" && n=$((n+1)); done; echo $n"), "0\n")
	},
	"a stopped command ends": func(_ *testing.T, w *world) {
		w.want("timed out", w.run("kill -STOP $$", within(200*time.Millisecond)).TimedOut, true)
	},
	"a child in the background does not hold the call": func(_ *testing.T, w *world) {
		w.quick("the call", 300*time.Millisecond, func() { w.want("output", w.text("sleep 3 & echo done"), "done\n") })
		w.quick("the next one", 100*time.Millisecond, func() { w.text("true") })
	},
	"a child in the background does not hold the terminal": func(_ *testing.T, w *world) {
		w.quick("the call", 300*time.Millisecond, func() {
			got := w.text("trap '' HUP; sleep 3 & echo done", func(r *backend.Request) { r.PTY = &backend.Size{Rows: 24, Cols: 80} })
			w.want("output", got, "done\r\n")
		})
	},
	"late output belongs to nobody": func(t *testing.T, w *world) {
		if w.Ends {
			return // "what is left ends with its command" says it
		}
		w.text("cd " + w.Fresh())
		var rec recorder
		w.run("(sleep 0.4; echo LATE; echo LATE >&2; echo wrote >proof) & echo now", func(r *backend.Request) { r.Sink = rec.sink })
		res := w.run("while ! [ -s proof ]; do sleep 0.02; done; echo mine", within(patience))
		w.want("the next call's output", string(res.Output), "mine\n")
		if strings.Contains(rec.all.String(), "LATE") {
			t.Error("the sink was called after the call had ended")
		}
	},
	"what is left ends with its command": func(t *testing.T, w *world) {
		if !w.Ends {
			return
		}
		w.text("cd " + w.Fresh())
		res := w.run("(sleep 0.5; echo LATE; echo wrote >proof) & echo now")
		w.want("output", string(res.Output), "now\n")
		if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "background") {
			t.Errorf("warnings: %q", res.Warnings)
		}
		w.want("proof", w.text("sleep 1; cat proof 2>/dev/null; echo none"), "none\n")
		w.want("warnings of a command that leaves nothing", len(w.run("true & wait").Warnings), 0)
	},
	"a server in the background lives on": func(_ *testing.T, w *world) {
		if w.Ends {
			return
		}
		w.text("cd " + w.Fresh())
		w.text("sh -c 'echo $$ >pid; while :; do echo noise || exit 1; sleep 0.02; done' & while ! [ -s pid ]; do sleep 0.01; done")
		w.text("sleep 0.5")
		w.want("alive", w.alive("pid"), true)
		w.text("kill $(cat pid)")
	},
}

// endedTree checks that nothing is left of the stubborn script, and that ending it took the grace
// and not much more.
func (w *world) endedTree(res backend.Result, from time.Time) {
	w.t.Helper()
	if took := time.Since(from); took > w.Grace+4*time.Second {
		w.t.Errorf("ending the tree took %v", took)
	}
	w.noneLeft()
	w.want("warnings", len(res.Warnings), 1)
}

// noneLeft checks that no process of the stubborn script lives.
func (w *world) noneLeft() {
	w.t.Helper()
	for _, file := range []string{"deaf", "away"} {
		w.want(file+" is alive", w.alive(file), false)
	}
	for _, file := range []string{"orphan", "orphan2"} {
		if alive := w.alive(file); w.Sweeps {
			w.want(file+" is alive", alive, false)
		} else if alive {
			w.text("kill -9 $(cat " + file + ")")
		}
	}
}
