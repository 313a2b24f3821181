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
			res := w.run("mkdir -p \"$D\" && cd \"$D\"", func(r *backend.Request) {
				r.Dir = base
				r.Env = map[string]string{"D": base + "/" + name}
			})
			w.want("exit code", res.ExitCode, 0)
			w.want("reported", res.Dir, base+"/"+name)
			w.want("kept", w.text("pwd"), base+"/"+name+"\n")
		}
	},
	"a subshell's directory is its own": func(_ *testing.T, w *world) {
		w.text("cd /usr; (cd /); sh -c 'cd /etc'")
		w.want("directory", w.text("pwd"), "/usr\n")
	},
	"sessions have directories of their own": func(_ *testing.T, w *world) {
		w.text("cd /usr")
		w.session = "s2"
		w.text("cd /etc")
		w.session = "s1"
		w.want("directory", w.text("pwd"), "/usr\n")
	},
	"a directory that is gone": func(t *testing.T, w *world) {
		base := w.Fresh()
		w.text("cd /usr; mkdir " + base + "/gone; cd " + base + "/gone; rmdir " + base + "/gone")
		res := w.run("pwd", func(r *backend.Request) { r.Home = "/usr" })
		w.want("ran in", string(res.Output), w.home("/usr")+"\n")
		w.want("warnings", len(res.Warnings), 1)
		r := w.request("pwd")
		r.Dir = base + "/gone"
		if _, err := w.Pool.Exec(context.Background(), r); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("an explicit directory that is missing: %v", err)
		}
	},
	"a session starts at home": func(_ *testing.T, w *world) {
		home := func(r *backend.Request) { r.Home = "/usr" }
		w.want("first", w.text("pwd", home), w.home("/usr")+"\n")
		w.text("cd /etc", home)
		w.want("then", w.text("pwd", home), "/etc\n")
	},
	"the environment": func(_ *testing.T, w *world) {
		w.want("no pager, no terminal", w.text("echo $PAGER $GIT_PAGER $TERM"), "cat cat dumb\n")
		got := w.text("printf '%s|' \"$A\" \"$B\"", func(r *backend.Request) { r.Env = map[string]string{"A": "x\ny", "B": "$(id)'\""} })
		w.want("values", got, "x\ny|$(id)'\"|")
		w.want("for one call", w.text("echo ${A-unset}"), "unset\n")
		w.want("exports end with their call", w.text("export C=1; true")+w.text("echo ${C-unset}"), "unset\n")
		w.want("tagged", w.text("test -n \"$HERMES_CALL\" && echo yes"), "yes\n")
	},
	"a process in the background": func(_ *testing.T, w *world) {
		p := w.start("echo up; read line; echo got $line; cat; exit 4")
		w.want("id", p.ID, "p1")
		w.eventually("it is up", func() bool { return w.output(p.ID) == "up\n" })
		w.ok(w.Pool.Write(w.session, p.ID, []byte("hello\nmore"), false))
		w.eventually("it answers", func() bool { return strings.HasSuffix(w.output(p.ID), "got hello\nmore") })
		w.ok(w.Pool.Write(w.session, p.ID, nil, true))
		end := w.wait(p.ID)
		w.want("exit code", end.ExitCode, 4)
		w.want("total", end.Total, len("up\ngot hello\nmore"))
		data, start, stop, err := w.Pool.Output(w.session, p.ID, -4, 2)
		w.ok(err)
		w.want("by offset", []any{string(data), start, stop}, []any{"mo", 13, 17})
	},
	"a process is killed with its tree": func(_ *testing.T, w *world) {
		w.text("cd " + w.Fresh())
		p := w.start(stubborn)
		w.eventually("it is up", func() bool { return w.output(p.ID) == "READY\n" })
		end, err := w.Pool.Kill(context.Background(), w.session, p.ID)
		w.ok(err)
		w.want("running", end.Running, false)
		w.want("exit code", end.ExitCode, 143)
		w.noneLeft()
	},
	"a terminal in the background": func(_ *testing.T, w *world) {
		p := w.start("trap 'echo INT; exit 7' INT; trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done", func(r *backend.Request) { r.PTY = &backend.Size{Rows: 24, Cols: 80} })
		w.eventually("it is up", func() bool { return strings.Contains(w.output(p.ID), "up") })
		w.ok(w.Pool.Resize(w.session, p.ID, backend.Size{Rows: 40, Cols: 123}))
		w.eventually("it knows its size", func() bool { return strings.Contains(w.output(p.ID), "40 123") })
		w.ok(w.Pool.Write(w.session, p.ID, []byte{3}, false))
		w.want("exit code", w.wait(p.ID).ExitCode, 7)
	},
	"a process that has ended": func(t *testing.T, w *world) {
		p := w.start("exit 0")
		w.wait(p.ID)
		if err := w.Pool.Write(w.session, p.ID, []byte("x"), false); err == nil {
			t.Error("Write: no error")
		}
		_, err := w.Pool.Kill(context.Background(), w.session, p.ID)
		w.ok(err)
		if _, err := w.Pool.Wait(context.Background(), w.session, "p9", 0); err == nil {
			t.Error("Wait on a process that never was: no error")
		}
	},
	"a process that starts elsewhere says so": func(_ *testing.T, w *world) {
		base := w.Fresh()
		w.text("mkdir " + base + "/gone; cd " + base + "/gone; rmdir " + base + "/gone")
		p := w.start("pwd", func(r *backend.Request) { r.Home = "/usr" })
		w.wait(p.ID)
		w.want("ran in", w.output(p.ID), w.home("/usr")+"\n")
		w.want("warnings", len(p.Warnings), 1)
	},
	"what ended long ago is forgotten": func(_ *testing.T, w *world) {
		for range 70 {
			w.wait(w.start("true").ID)
		}
		list := w.Pool.Processes(w.session)
		w.want("newest", list[0].ID, "p70")
		w.want("few are kept", len(list) < 70, true)
	},
	"waiting has an end": func(_ *testing.T, w *world) {
		p := w.start("sleep 100")
		end, err := w.Pool.Wait(context.Background(), w.session, p.ID, 20*time.Millisecond)
		w.ok(err)
		w.want("running", end.Running, true)
	},
	"a session ends with its processes": func(_ *testing.T, w *world) {
		w.text("cd " + w.Fresh())
		p := w.start("echo $$ >pid; exec sleep 100")
		w.eventually("it is up", func() bool { return w.run("test -s pid").ExitCode == 0 })
		dir := w.run("true").Dir
		w.ok(w.Pool.CloseSession(context.Background(), w.session))
		// The back end may be a new one, where the number is somebody else's.
		still := w.run("p=$(cat '" + dir + "/pid' 2>/dev/null) && case $(cat /proc/$p/comm 2>/dev/null || ps -o comm= -p $p 2>/dev/null) in *sleep*) echo alive;; esac")
		w.want("still there", string(still.Output), "")
		w.want("processes", len(w.Pool.Processes(w.session)), 0)
		_ = p
	},
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
