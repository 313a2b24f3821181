package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
)

type streamName = event.Stream

// state: what is kept between calls, and what runs beside them.
var state = map[string]func(*testing.T, *world){
	"the directory is kept": func(_ *testing.T, w *world) {
		base := w.Fresh()
		for _, name := range []string{"plain", "with space", "quo'te\"s", "new\nline", "$HOME `id`"} {
			res := w.runCommand("mkdir -p \"$D\" && cd \"$D\"", func(r *backend.Request) {
				r.Dir = base
				r.Env = map[string]string{"D": base + "/" + name}
			})
			w.wantEqual("exit code", res.ExitCode, 0)
			w.wantEqual("reported", res.Dir, base+"/"+name)
			w.wantEqual("kept", w.outputOf("pwd"), base+"/"+name+"\n")
		}
	},
	"a subshell's directory is its own": func(_ *testing.T, w *world) {
		w.outputOf("cd /usr; (cd /); sh -c 'cd /etc'")
		w.wantEqual("directory", w.outputOf("pwd"), "/usr\n")
	},
	"sessions have directories of their own": func(_ *testing.T, w *world) {
		w.outputOf("cd /usr")
		w.session = "s2"
		w.outputOf("cd /etc")
		w.session = "s1"
		w.wantEqual("directory", w.outputOf("pwd"), "/usr\n")
	},
	"a directory that is gone": func(t *testing.T, w *world) {
		base := w.Fresh()
		w.outputOf("cd /usr; mkdir " + base + "/gone; cd " + base + "/gone; rmdir " + base + "/gone")
		res := w.runCommand("pwd", func(r *backend.Request) { r.Home = "/usr" })
		w.wantEqual("ran in", string(res.Output), w.homeFor("/usr")+"\n")
		w.wantEqual("warnings", len(res.Warnings), 1)
		r := w.newRequest("pwd")
		r.Dir = base + "/gone"
		if _, err := w.Pool.Exec(context.Background(), r); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("an explicit directory that is missing: %v", err)
		}
	},
	"a session starts at home": func(_ *testing.T, w *world) {
		home := func(r *backend.Request) { r.Home = "/usr" }
		w.wantEqual("first", w.outputOf("pwd", home), w.homeFor("/usr")+"\n")
		w.outputOf("cd /etc", home)
		w.wantEqual("then", w.outputOf("pwd", home), "/etc\n")
	},
	"the environment": func(_ *testing.T, w *world) {
		w.wantEqual("no pager, no terminal", w.outputOf("echo $PAGER $GIT_PAGER $TERM"), "cat cat dumb\n")
		got := w.outputOf("printf '%s|' \"$A\" \"$B\"", func(r *backend.Request) { r.Env = map[string]string{"A": "x\ny", "B": "$(id)'\""} })
		w.wantEqual("values", got, "x\ny|$(id)'\"|")
		w.wantEqual("for one call", w.outputOf("echo ${A-unset}"), "unset\n")
		w.wantEqual("exports end with their call", w.outputOf("export C=1; true")+w.outputOf("echo ${C-unset}"), "unset\n")
		w.wantEqual("tagged", w.outputOf("test -n \"$HERMES_CALL\" && echo yes"), "yes\n")
	},
	"a process in the background": func(_ *testing.T, w *world) {
		p := w.startProcess("echo up; read line; echo got $line; cat; exit 4")
		w.wantEqual("id", p.ID, "p1")
		w.eventually("it is up", func() bool { return w.processOutput(p.ID) == "up\n" })
		w.wantNoError(w.Pool.Write(w.session, p.ID, []byte("hello\nmore"), false))
		w.eventually("it answers", func() bool { return strings.HasSuffix(w.processOutput(p.ID), "got hello\nmore") })
		w.wantNoError(w.Pool.Write(w.session, p.ID, nil, true))
		end := w.awaitProcess(p.ID)
		w.wantEqual("exit code", end.ExitCode, 4)
		w.wantEqual("total", end.Total, len("up\ngot hello\nmore"))
		data, start, stop, err := w.Pool.Output(w.session, p.ID, -4, 2)
		w.wantNoError(err)
		w.wantEqual("by offset", []any{string(data), start, stop}, []any{"mo", 13, 17})
	},
	"a process is killed with its tree": func(_ *testing.T, w *world) {
		w.outputOf("cd " + w.Fresh())
		p := w.startProcess(stubborn)
		w.eventually("it is up", func() bool { return w.processOutput(p.ID) == "READY\n" })
		end, err := w.Pool.Kill(context.Background(), w.session, p.ID)
		w.wantNoError(err)
		w.wantEqual("running", end.Running, false)
		w.wantEqual("exit code", end.ExitCode, 143)
		w.noneLeft()
	},
	"a terminal in the background": func(_ *testing.T, w *world) {
		p := w.startProcess("trap 'echo INT; exit 7' INT; trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done", func(r *backend.Request) { r.PTY = &backend.Size{Rows: 24, Cols: 80} })
		w.eventually("it is up", func() bool { return strings.Contains(w.processOutput(p.ID), "up") })
		w.wantNoError(w.Pool.Resize(w.session, p.ID, backend.Size{Rows: 40, Cols: 123}))
		w.eventually("it knows its size", func() bool { return strings.Contains(w.processOutput(p.ID), "40 123") })
		w.wantNoError(w.Pool.Write(w.session, p.ID, []byte{3}, false))
		w.wantEqual("exit code", w.awaitProcess(p.ID).ExitCode, 7)
	},
	"a process that has ended": func(t *testing.T, w *world) {
		p := w.startProcess("exit 0")
		w.awaitProcess(p.ID)
		if err := w.Pool.Write(w.session, p.ID, []byte("x"), false); err == nil {
			t.Error("Write: no error")
		}
		_, err := w.Pool.Kill(context.Background(), w.session, p.ID)
		w.wantNoError(err)
		if _, err := w.Pool.Wait(context.Background(), w.session, "p9", 0); err == nil {
			t.Error("Wait on a process that never was: no error")
		}
	},
	"a process that starts elsewhere says so": func(_ *testing.T, w *world) {
		base := w.Fresh()
		w.outputOf("mkdir " + base + "/gone; cd " + base + "/gone; rmdir " + base + "/gone")
		p := w.startProcess("pwd", func(r *backend.Request) { r.Home = "/usr" })
		w.awaitProcess(p.ID)
		w.wantEqual("ran in", w.processOutput(p.ID), w.homeFor("/usr")+"\n")
		w.wantEqual("warnings", len(p.Warnings), 1)
	},
	"what ended long ago is forgotten": func(_ *testing.T, w *world) {
		for range 70 {
			w.awaitProcess(w.startProcess("true").ID)
		}
		list := w.Pool.Processes(w.session)
		w.wantEqual("newest", list[0].ID, "p70")
		w.wantEqual("few are kept", len(list) < 70, true)
	},
	"waiting has an end": func(_ *testing.T, w *world) {
		p := w.startProcess("sleep 100")
		end, err := w.Pool.Wait(context.Background(), w.session, p.ID, 20*time.Millisecond)
		w.wantNoError(err)
		w.wantEqual("running", end.Running, true)
	},
	"a session ends with its processes": func(_ *testing.T, w *world) {
		w.outputOf("cd " + w.Fresh())
		p := w.startProcess("echo $$ >pid; exec sleep 100")
		w.eventually("it is up", func() bool { return w.runCommand("test -s pid").ExitCode == 0 })
		dir := w.runCommand("true").Dir
		w.wantNoError(w.Pool.CloseSession(context.Background(), w.session))
		// The back end may be a new one, where the number is somebody else's.
		still := w.runCommand("p=$(cat '" + dir + "/pid' 2>/dev/null) && case $(cat /proc/$p/comm 2>/dev/null || ps -o comm= -p $p 2>/dev/null) in *sleep*) echo alive;; esac")
		w.wantEqual("still there", string(still.Output), "")
		w.wantEqual("processes", len(w.Pool.Processes(w.session)), 0)
		_ = p
	},
}

func (w *world) wantNoError(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
