package conformance

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testwait"
)

// streams: what goes in and what comes out.
var streams = map[string]func(*testing.T, *world){
	"stdout and stderr are told apart": func(_ *testing.T, w *world) {
		var rec recorder
		res := w.runCommand("echo one; echo two >&2; echo three", func(r *backend.Request) { r.Sink = rec.takeOutput })
		w.wantEqual("stdout", rec.outputOn(event.Stdout), "one\nthree\n")
		w.wantEqual("stderr", rec.outputOn(event.Stderr), "two\n")
		w.wantEqual("total", res.Total, 14)
		w.wantEqual("length", len(res.Output), 14)
	},
	"order is kept when there is time to see it": func(_ *testing.T, w *world) {
		got := ""
		for _, pause := range []string{"0.05", "0.5", "5"} { // there is time when the machine has some
			if got = w.outputOf("echo a; sleep " + pause + "; echo b >&2; sleep " + pause + "; echo c"); got == "a\nb\nc\n" {
				return
			}
		}
		w.t.Errorf("merged: %q", got)
	},
	"order is exact in one pipe": func(_ *testing.T, w *world) {
		for range 50 {
			var rec recorder
			got := w.outputOf("echo a; echo b >&2; echo c; echo d >&2; echo e >/dev/stderr", func(r *backend.Request) { r.Merge, r.Sink = true, rec.takeOutput })
			w.wantEqual("merged", got, "a\nb\nc\nd\ne\n")
			w.wantEqual("all is stdout", rec.outputOn(event.Stdout), got)
		}
	},
	"output comes while the command runs": func(t *testing.T, w *world) {
		seen := make(chan struct{})
		var rec recorder
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		res := w.runCtx(ctx, "echo early; read line; echo got $line", func(r *backend.Request) {
			r.PTY = &backend.Size{Rows: 24, Cols: 80}
			r.Stdin = nil
			r.Sink = func(s event.Stream, data []byte) {
				rec.takeOutput(s, data)
				if strings.Contains(rec.outputOn(event.PTY), "early") {
					select {
					case <-seen:
					default:
						close(seen)
						cancel()
					}
				}
			}
		})
		w.wantEqual("interrupted", res.Interrupted, true)
	},
	"bytes are bytes": func(t *testing.T, w *world) {
		in := make([]byte, 0, 4*256)
		for i := range 4 * 256 {
			in = append(in, byte(i))
		}
		res := w.runCommand("cat", func(r *backend.Request) { r.Stdin = in })
		if !bytes.Equal(res.Output, in) {
			t.Errorf("%d bytes in, %d different bytes out", len(in), len(res.Output))
		}
	},
	"a megabyte of input": func(_ *testing.T, w *world) {
		res := w.runCommand("wc -c", func(r *backend.Request) { r.Stdin = make([]byte, 1<<20) })
		w.wantEqual("count", strings.TrimSpace(string(res.Output)), 1<<20)
	},
	"input that nobody reads": func(_ *testing.T, w *world) {
		res := w.runCommand("exit 3", func(r *backend.Request) { r.Stdin = make([]byte, 1<<20) })
		w.wantEqual("exit code", res.ExitCode, 3)
	},
	"no input is an end of file": func(_ *testing.T, w *world) {
		w.wantEqual("cat", w.outputOf("cat; echo end"), "end\n")
	},
	"an argument vector meets no shell": func(_ *testing.T, w *world) {
		got := w.outputOf("", func(r *backend.Request) { r.Argv = []string{"printf", "%s", "$HOME; `id` *"} })
		w.wantEqual("output", got, "$HOME; `id` *")
	},
	"a command longer than one argument may be": func(_ *testing.T, w *world) {
		long := strings.Repeat("x", 300<<10)
		got := w.outputOf("cat <<'END' | wc -c\n"+long+"\nEND\ncd /", withTimeout(patience))
		w.wantEqual("count", strings.TrimSpace(got), len(long)+1)
		w.wantEqual("directory", w.outputOf("pwd"), "/\n")
	},
	"a terminal is one, with its size": func(_ *testing.T, w *world) {
		got := w.outputOf("test -t 0 && test -t 1 && stty size && echo $TERM", func(r *backend.Request) { r.PTY = &backend.Size{Rows: 31, Cols: 97} })
		w.wantEqual("output", strings.ReplaceAll(got, "\r", ""), "31 97\nxterm-256color\n")
	},
	"a terminal's input ends": func(_ *testing.T, w *world) {
		got := w.outputOf("stty -echo; cat", func(r *backend.Request) {
			r.PTY = &backend.Size{Rows: 24, Cols: 80}
			r.Stdin = []byte("hello\n")
			r.Timeout = patience
		})
		if !strings.Contains(got, "hello") {
			w.t.Errorf("output %q lacks what was typed", got)
		}
	},
	"head and tail of much": func(_ *testing.T, w *world) {
		res := w.runCommand("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done", func(r *backend.Request) { r.MaxOutput = 1000 })
		w.wantEqual("truncated", res.Truncated, true)
		w.wantEqual("kept", len(res.Output), 1000)
		w.wantEqual("cut", res.Cut, 400)
		w.wantEqual("begins", strings.HasPrefix(string(res.Output), "line 0\nline 1\n"), true)
		w.wantEqual("ends", strings.HasSuffix(string(res.Output), "line 1998\nline 1999\n"), true)
	},
	"a slow sink stalls nothing": func(t *testing.T, w *world) {
		var rec recorder
		const much = "head -c 20000000 /dev/zero"
		alone := w.runCommand(much).Took
		begun := time.Now()
		res := w.runCommand(much, func(r *backend.Request) {
			r.Sink = func(s event.Stream, data []byte) {
				time.Sleep(100 * time.Millisecond) // for each of some hundreds of pieces
				rec.takeOutput(s, data)
			}
		})
		w.wantEqual("total", res.Total, 20_000_000)
		if took := time.Since(begun); took > testwait.Within(3*alone+10*time.Second) {
			t.Errorf("took %v, and %v without a sink", took, alone)
		}
		if !strings.Contains(rec.outputOn(event.Note), "not shown") {
			t.Error("the sink was not told what it missed")
		}
	},
}
