package docker

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/docker/docker/api/types"

	"hermes/core/crash"
)

// stream is a container's (or an exec's) standard input and output as one stream. The engine sends
// output in frames of eight bytes of header and then the bytes: standard output is what is read
// here, standard error is kept to explain why there is no more.
type stream struct {
	conn types.HijackedResponse
	in   *bufio.Reader

	from byte   // stream of the frame that is being read
	left uint32 // bytes of it

	said  tail
	close sync.Once
}

func newStream(h types.HijackedResponse) *stream { return &stream{conn: h, in: h.Reader} }

// openStream attaches, and waits for that no longer than ctx and answerTime allow, neither of which
// the client heeds. A stream that comes later is closed.
func openStream(ctx context.Context, attach func() (types.HijackedResponse, error)) (*stream, error) {
	type answer struct {
		conn types.HijackedResponse
		err  error
	}
	got := make(chan answer, 1)
	crash.Go("docker attach", func() {
		conn, err := attach()
		got <- answer{conn, err}
	})
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("the Docker engine did not answer within %v", answerTime))
	defer cancel()
	select {
	case a := <-got:
		if a.err != nil {
			return nil, a.err
		}
		return newStream(a.conn), nil
	case <-ctx.Done():
	}
	crash.Go("docker late attach", func() {
		if a := <-got; a.err == nil {
			a.conn.Close()
		}
	})
	return nil, context.Cause(ctx)
}

const (
	frameStdout = 1
	frameStderr = 2
)

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if s.left == 0 {
			if err := s.readHeader(); err != nil {
				return 0, err
			}
			continue
		}
		if s.from == frameStdout {
			n, err := s.in.Read(p[:min(len(p), int(s.left))])
			s.left -= uint32(n)
			return n, err
		}
		n, err := io.CopyN(&s.said, s.in, int64(s.left))
		s.left -= uint32(n)
		if err != nil {
			return 0, err
		}
	}
}

func (s *stream) readHeader() error {
	var h [8]byte
	if _, err := io.ReadFull(s.in, h[:]); err != nil {
		return err
	}
	s.from, s.left = h[0], binary.BigEndian.Uint32(h[4:])
	if s.from != frameStdout && s.from != frameStderr {
		return fmt.Errorf("the engine sent a frame of an unknown kind (%d)", s.from)
	}
	return nil
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) { return s.conn.Conn.Write(p) }

// Close ends both directions, and a Read or Write that waits.
func (s *stream) Close() error {
	var err error
	s.close.Do(func() { err = s.conn.Conn.Close() })
	return err
}
