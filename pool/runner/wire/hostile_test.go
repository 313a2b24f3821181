package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"hermes/core/testskip"
	"hermes/pool/runner"
)

// fake is a far side that says what a test wants, after a proper greeting.
func fake(t testing.TB, o Options, say func(io.ReadWriter, *frames)) *Client {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer theirs.Close()
		i := Info{Version: Version}
		_, _ = theirs.Write(appendFrame([]byte(preamble), kindHello, 0, i.encode()))
		in := &frames{from: bufio.NewReader(theirs)}
		if f, err := in.nextFrame(); err == nil && f.kind == kindHello {
			say(theirs, in)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := Connect(ctx, ours, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = c.Close(ctx)
		<-done
	})
	return c
}

func TestAServerThatTalksNonsenseIsLost(t *testing.T) {
	for name, frame := range map[string][]byte{
		"kind":              appendFrame(nil, 99, 1),
		"length":            {0, 0, 0, 1, byte(kindBeat), 0, 0, 0, 0},
		"too long":          {255, 255, 255, 255, byte(kindOutput), 0, 0, 0, 1},
		"direction":         appendFrame(nil, kindInput, 1, []byte("x")),
		"stream":            appendFrame(nil, kindOutput, 1, []byte{77}),
		"exit":              appendFrame(nil, kindExit, 1, []byte{1, 2, 3}),
		"channel of nobody": appendFrame(nil, kindChannel, 1, []byte("x")),
		"connection":        appendFrame(nil, kindStart, 0),
	} {
		c := fake(t, Options{}, func(w io.ReadWriter, in *frames) {
			_, _ = in.nextFrame()
			_, _ = w.Write(frame)
			_, _ = in.nextFrame()
		})
		_, err := c.Run(context.Background(), runner.Spec{Command: "true"})
		var lost *Lost
		if !errors.As(err, &lost) {
			t.Errorf("%s: %v", name, err)
		}
		if receive(t, name, c.Gone()) == nil {
			t.Errorf("%s: no cause", name)
		}
	}
}

func TestNoAnswerToACancelIsAnError(t *testing.T) {
	c := fake(t, Options{Grace: 10 * time.Millisecond}, func(_ io.ReadWriter, in *frames) {
		for {
			if _, err := in.nextFrame(); err != nil {
				return
			}
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := c.Run(ctx, runner.Spec{Command: "true"})
	if err == nil || !strings.Contains(err.Error(), "did not answer") || time.Since(begun) > patience {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
}

// A server is sent garbage of every kind behind a proper greeting: it must neither crash nor hang,
// nor go on.
func TestAServerSurvivesAnyClient(t *testing.T) {
	testskip.Long(t, "random clients")
	s := NewServer(Place{Info: Info{Shell: "/bin/sh"}, Grace: 50 * time.Millisecond})
	defer closeServer(t, s)
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		ours, theirs := net.Pipe()
		served := make(chan struct{})
		go func() { s.Serve(theirs); close(served) }()
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		_, _ = ours.Write(garbage(random))
		_ = ours.Close()
		receive(t, "the end of a connection", served)
	}
}

func garbage(random *rand.Rand) []byte {
	w := wishes{version: Version}
	out := appendFrame(nil, kindHello, 0, w.encode())
	o := order{input: true, spec: runner.Spec{Argv: []string{"/bin/cat"}, Channel: random.IntN(2) == 0}, background: random.IntN(2) == 0}
	for range random.IntN(20) {
		body := make([]byte, random.IntN(40))
		for i := range body {
			body[i] = byte(random.IntN(256))
		}
		k, call := kind(random.IntN(int(kindCancel)+2)), uint32(random.IntN(3))
		switch random.IntN(3) {
		case 0:
			k, body = kindStart, o.encode()
		case 1:
			k, body = kindInput, append([]byte{byte(random.IntN(2))}, body...)
		}
		out = appendFrame(out, k, call, body)
	}
	return out[:len(out)-random.IntN(5)]
}

func TestAClientThatIgnoresItsWindowIsThrownOut(t *testing.T) {
	s := NewServer(Place{Info: Info{Shell: "/bin/sh"}, Grace: 50 * time.Millisecond})
	defer closeServer(t, s)
	ours, theirs := net.Pipe()
	served := make(chan struct{})
	go func() { s.Serve(theirs); close(served) }()
	go func() { _, _ = io.Copy(io.Discard, ours) }()
	w := wishes{version: Version}
	o := order{input: true, spec: runner.Spec{Argv: []string{"/bin/sleep", "100"}}}
	_, _ = ours.Write(appendFrame(appendFrame(nil, kindHello, 0, w.encode()), kindStart, 1, o.encode()))
	piece := appendFrame(nil, kindInput, 1, make([]byte, maxData))
	for range 100 {
		if _, err := ours.Write(piece); err != nil {
			break
		}
	}
	receive(t, "the end of the connection", served)
}

// A connection of 1 MB/s: a flood in the background waits for nobody and loses its middle, and a
// call beside it is answered.
func TestASlowConnectionLosesOutputOfTheBackgroundOnly(t *testing.T) {
	s := NewServer(Place{Info: Info{Shell: "/bin/sh"}})
	defer closeServer(t, s)
	ours, theirs := net.Pipe()
	go s.Serve(theirs)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := Connect(ctx, &slow{ours}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, c)
	begun := time.Now()
	p, err := c.Start(runner.Spec{Command: "head -c 50000000 /dev/zero; echo over", MaxOutput: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if res := run(t, c, "echo beside"); string(res.Output) != "beside\n" {
		t.Errorf("%q", res.Output)
	}
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatal("the process waited for the connection")
	}
	out, _, _ := p.Output(0, 0)
	if !bytes.Contains(out, []byte("bytes lost here")) || !bytes.HasSuffix(out, []byte("over\n")) {
		t.Errorf("%d bytes of output after %v, without a note or an end", len(out), time.Since(begun))
	}
}

type slow struct{ net.Conn }

func (s *slow) Read(b []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	return s.Conn.Read(b[:min(len(b), 20<<10)])
}
