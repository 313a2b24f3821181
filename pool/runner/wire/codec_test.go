package wire

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/pool/runner"
)

func texts() *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		var l []string
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			l = append(l, string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")))
		}
		return l
	})
}

func TestOrdersArriveAsTheyWereSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
		o := order{
			background: rapid.Bool().Draw(t, "background"), input: rapid.Bool().Draw(t, "input"),
			spec: runner.Spec{
				Command: text.Draw(t, "command"), Argv: texts().Draw(t, "argv"), Shell: text.Draw(t, "shell"),
				Dir: text.Draw(t, "dir"), Home: text.Draw(t, "home"), Strict: rapid.Bool().Draw(t, "strict"),
				Env: texts().Draw(t, "env"), Extra: rapid.MapOf(text, text).Draw(t, "extra"),
				Channel: rapid.Bool().Draw(t, "channel"), Merge: rapid.Bool().Draw(t, "merge"),
				Timeout: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "timeout")),
			},
		}
		if rapid.Bool().Draw(t, "tty") {
			o.spec.Size = &runner.Size{Rows: rapid.Uint16().Draw(t, "rows"), Cols: rapid.Uint16().Draw(t, "cols")}
		}
		got, err := decodeOrder(o.encode())
		if err != nil || !reflect.DeepEqual(got, o) {
			t.Fatalf("sent %+v, got %+v, %v", o, got, err)
		}
	})
}

func TestEndingsArriveAsTheyWereSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
		e := ending{code: rapid.IntRange(0, 255).Draw(t, "code"), err: text.Draw(t, "err"), res: runner.Result{
			ExitCode: rapid.IntRange(0, 255).Draw(t, "exit"), Signal: text.Draw(t, "signal"), Dir: text.Draw(t, "dir"),
			TimedOut: rapid.Bool().Draw(t, "timed out"), Interrupted: rapid.Bool().Draw(t, "interrupted"),
			Warnings: texts().Draw(t, "warnings"), Took: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "took")),
		}}
		got, err := decodeEnding(e.encode())
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("sent %+v, got %+v, %v", e, got, err)
		}
	})
}

func FuzzMessages(f *testing.F) {
	o := order{spec: runner.Spec{Command: "true", Env: []string{"A=b"}, Extra: map[string]string{"C": "d"}, Size: &runner.Size{Rows: 1, Cols: 2}}}
	e := ending{res: runner.Result{Dir: "/", Warnings: []string{"w"}}}
	i := Info{Version: 1, OS: "linux", PID: 1}
	w := wishes{version: 1, grace: time.Second}
	for _, body := range [][]byte{o.encode(), e.encode(), i.encode(), w.encode(), encodeCredit(flowInput, 5)} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if o, err := decodeOrder(body); err == nil {
			if again, err := decodeOrder(o.encode()); err != nil || !reflect.DeepEqual(o, again) {
				t.Errorf("%+v became %+v, %v", o, again, err)
			}
		}
		if e, err := decodeEnding(body); err == nil && (e.code < 0 || e.code > 255) {
			t.Errorf("exit code %d", e.code)
		}
		if _, n, err := decodeCredit(body); err == nil && (n < 0 || n > windowSize) {
			t.Errorf("credit %d", n)
		}
		_, _ = decodeInfo(body)
		_, _ = decodeWishes(body)
	})
}

func FuzzFrames(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, kindOutput, 7, []byte{1}, []byte("data")), kindExit, 7))
	f.Add([]byte{255, 255, 255, 255, byte(kindStart), 0, 0, 0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := frames{from: bytes.NewReader(data)}
		var back []byte
		for {
			frame, err := r.nextFrame()
			if cap(r.buf) > 2*len(data)+4*maxSmall {
				t.Fatalf("%d bytes of memory for %d of input", cap(r.buf), len(data))
			}
			if err != nil {
				break
			}
			back = appendFrame(back, frame.kind, frame.call, frame.body)
		}
		if !bytes.HasPrefix(data, back) {
			t.Fatal("what was read is not what was there")
		}
	})
}
