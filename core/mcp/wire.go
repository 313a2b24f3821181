package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// maxFrame is the longest message that a server may send, in bytes. What is longer ends the
// connection.
const maxFrame = 16 << 20

// errFrame is what a server is told of that sends a longer one.
var errFrame = fmt.Errorf("it sent a message of more than %d MiB: ask it for less at a time", maxFrame>>20)

// Lines is a stream of JSON-RPC messages, one a line, over somebody's channel. What comes in and is
// no message (banners, stray prints) goes to stray and the stream goes on. It is the transport of
// every program that speaks with us over the pool's channel.
type Lines struct {
	conn  io.ReadWriteCloser
	in    *bufio.Reader
	stray func(line []byte)
	rest  []byte // of the message that is being read

	mu     sync.Mutex
	cause  error // why the stream ended
	closed bool
}

// NewLines returns the stream over conn. Stray may be nil.
func NewLines(conn io.ReadWriteCloser, stray func(line []byte)) *Lines {
	if stray == nil {
		stray = func([]byte) {}
	}
	return &Lines{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), stray: stray}
}

func (l *Lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.readLine()
		if err != nil {
			l.noteEnd(err)
			return 0, err
		}
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			if !isMessage(trimmed) {
				l.stray(trimmed)
				continue
			}
			l.rest = slices.Concat(trimmed, []byte{'\n'})
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// isMessage reports whether a line is a JSON-RPC message: a program's log line in JSON is not.
func isMessage(line []byte) bool {
	switch line[0] {
	case '[':
		return json.Valid(line) && bytes.Contains(line, []byte(`"jsonrpc"`))
	case '{':
		return bytes.Contains(line, []byte(`"jsonrpc"`)) && json.Valid(line)
	}
	return false
}

// readLine reads up to the next line end; the last one may lack it.
func (l *Lines) readLine() ([]byte, error) {
	var out []byte
	for {
		piece, err := l.in.ReadSlice('\n')
		if len(out)+len(piece) > maxFrame {
			return nil, errFrame
		}
		out = append(out, piece...)
		switch {
		case err == nil:
			return out, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(out) > 0:
			return out, nil
		default:
			return nil, err
		}
	}
}

func (l *Lines) Write(p []byte) (int, error) { return l.conn.Write(p) }

// Close ends the channel; the process is ended by who started it.
func (l *Lines) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return l.conn.Close()
}

func (l *Lines) noteEnd(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil && !errors.Is(err, io.EOF) && !l.closed {
		l.cause = err
	}
}

// Cause is why the stream ended, nil when it simply did.
func (l *Lines) Cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}
