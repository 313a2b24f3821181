package conformance

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
)

// streams: what goes in and what comes out.
var streams = map[string]func(*testing.T, *world){
	"stdout and stderr are told apart": func(_ *testing.T, w *world) {
		var rec recorder
		res := w.run("echo one; echo two >&2; echo three", func(r *backend.Request) { r.Sink = rec.sink })
		w.want("stdout", rec.got(event.Stdout), "one\nthree\n")
		w.want("stderr", rec.got(event.Stderr), "two\n")
		w.want("total", res.Total, 14)
		w.want("length", len(res.Output), 14)
	},
	"order is kept when there is time to see it": func(_ *testing.T, w *world) {
		w.want("merged", w.text("echo a; sleep 0.05; echo b >&2; sleep 0.05; echo c"), "a\nb\nc\n")
	},
	"order is exact in one pipe": func(_ *testing.T, w *world) {
		for range 50 {
			var rec recorder
			got := w.text("echo a; echo b >&2; echo c; echo d >&2; echo e >/dev/stderr", func(r *backend.Request) { r.Merge, r.Sink = true, rec.sink })
			w.want("merged", got, "a\nb\nc\nd\ne\n")
			w.want("all is stdout", rec.got(event.Stdout), got)
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
				rec.sink(s, data)
				if strings.Contains(rec.got(event.PTY), "early") {
					select {
					case <-seen:
					default:
						close(seen)
						cancel()
					}
				}
			}
		})
		w.want("interrupted", res.Interrupted, true)
	},
	"bytes are bytes": func(t *testing.T, w *world) {
		in := make([]byte, 0, 4*256)
		for i := range 4 * 256 {
			in = append(in, byte(i))
		}
		res := w.run("cat", func(r *backend.Request) { r.Stdin = in })
		if !bytes.Equal(res.Output, in) {
			t.Errorf("%d bytes in, %d different bytes out", len(in), len(res.Output))
		}
	},
	"a megabyte of input": func(_ *testing.T, w *world) {
		res := w.run("wc -c", func(r *backend.Request) { r.Stdin = make([]byte, 1<<20) })
		w.want("count", strings.TrimSpace(string(res.Output)), 1<<20)
	},
	"input that nobody reads": func(_ *testing.T, w *world) {
		res := w.run("exit 3", func(r *backend.Request) { r.Stdin = make([]byte, 1<<20) })
		w.want("exit code", res.ExitCode, 3)
	},
	"no input is an end of file": func(_ *testing.T, w *world) {
		w.want("cat", w.text("cat; echo end"), "end\n")
	},
	"an argument vector meets no shell": func(_ *testing.T, w *world) {
		got := w.text("", func(r *backend.Request) { r.Argv = []string{"printf", "%s", "$HOME; `id` *"} })
		w.want("output", got, "$HOME; `id` *")
	},
	"a command longer than one argument may be": func(_ *testing.T, w *world) {
		long := strings.Repeat("x", 300<<10)
		got := w.text("cat <<'END' | wc -c\n"+long+"\nEND\ncd /", within(patience))
		w.want("count", strings.TrimSpace(got), len(long)+1)
		w.want("directory", w.text("pwd"), "/\n")
	},
	"a terminal is one, with its size": func(_ *testing.T, w *world) {
		got := w.text("test -t 0 && test -t 1 && stty size && echo $TERM", func(r *backend.Request) { r.PTY = &backend.Size{Rows: 31, Cols: 97} })
		w.want("output", strings.ReplaceAll(got, "\r", ""), "31 97\nxterm-256color\n")
	},
	"a terminal's input ends": func(_ *testing.T, w *world) {
		got := w.text("stty -echo; cat", func(r *backend.Request) {
			r.PTY = &backend.Size{Rows: 24, Cols: 80}
			r.Stdin = []byte("hello\n")
			r.Timeout = patience
		})
		if !strings.Contains(got, "hello") {
			w.t.Errorf("output %q lacks what was typed", got)
		}
	},
	"head and tail of much": func(_ *testing.T, w *world) {
		res := w.run("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done", func(r *backend.Request) { r.MaxOutput = 1000 })
		w.want("truncated", res.Truncated, true)
		w.want("kept", len(res.Output), 1000)
		w.want("cut", res.Cut, 400)
		w.want("begins", strings.HasPrefix(string(res.Output), "line 0\nline 1\n"), true)
		w.want("ends", strings.HasSuffix(string(res.Output), "line 1998\nline 1999\n"), true)
	},
	"a slow sink stalls nothing": func(t *testing.T, w *world) {
		var rec recorder
		const much = "head -c 20000000 /dev/zero"
		alone := w.run(much).Took
		begun := time.Now()
		res := w.run(much, func(r *backend.Request) {
			r.Sink = func(s event.Stream, data []byte) {
				time.Sleep(100 * time.Millisecond) // for each of some hundreds of pieces
				rec.sink(s, data)
			}
		})
		w.want("total", res.Total, 20_000_000)
		if took := time.Since(begun); took > 3*alone+10*time.Second {
			t.Errorf("took %v, and %v without a sink", took, alone)
		}
		if !strings.Contains(rec.got(event.Note), "not shown") {
			t.Error("the sink was not told what it missed")
		}
	},
}
