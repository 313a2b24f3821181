package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// errCut ends an answer early: the fault happened or the client left.
var errCut = errors.New("cut")

// answer writes a turn that begins with HTTP 200.
func answer(w http.ResponseWriter, r *http.Request, t Turn, req Request) {
	switch {
	case t.Fault == FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Welcome</body></html>\n")
		return
	case t.Fault == FaultPlainJSON || !req.Stream:
		writeJSON(w, http.StatusOK, req.format.whole(t, req))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &stream{w: w, r: r, turn: t, model: req.Model, format: req.format}
	if t.Fault == FaultEmpty {
		return
	}
	_ = s.run() // errCut: what had to happen has happened
}

// stream writes one answer and makes its faults happen.
type stream struct {
	w      http.ResponseWriter
	r      *http.Request
	turn   Turn
	model  string
	format *format
	deltas int // content deltas written
	bytes  int
}

func (s *stream) run() error {
	if s.turn.Body != "" {
		return s.write([]byte(s.turn.Body))
	}
	return s.format.run(s)
}

// text is what the turn says.
func (t Turn) text() string {
	if t.Text == "" && len(t.Calls) == 0 && t.Reasoning == "" {
		return "Hello."
	}
	return t.Text
}

// pieces gives out a text in pieces of n runes, or of usual if that is not set, each as a content
// delta.
func (s *stream) pieces(text string, n, usual int, send func(piece string) error) error {
	if n <= 0 {
		n = usual
	}
	for runes := []rune(text); len(runes) > 0; {
		k := min(n, len(runes))
		if err := s.content(func() error { return send(string(runes[:k])) }); err != nil {
			return err
		}
		runes = runes[k:]
	}
	return nil
}

func (s *stream) words(text string, send func(piece string) error) error {
	return s.pieces(text, s.turn.Chunk, 8, send)
}

func (s *stream) args(text string, send func(piece string) error) error {
	return s.pieces(text, s.turn.ArgChunk, 12, send)
}

func (c Call) id(i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d", i+1)
}

// close writes the end of a stream, as far as the fault leaves it.
func (s *stream) close(finish, done func() error) error {
	f := s.turn.Fault
	if f == FaultNoEnd {
		return nil
	}
	if f != FaultNoFinish {
		if err := finish(); err != nil {
			return err
		}
	}
	switch f {
	case FaultNoDone:
		return nil
	case FaultStaysOpen:
		return s.pings()
	default:
		return done()
	}
}

// content writes a content delta, before it the turn's delay and the turn's fault, if this is the
// place.
func (s *stream) content(send func() error) error {
	if s.turn.Delay > 0 && !s.sleep(s.turn.Delay) {
		return errCut
	}
	if err := s.fault(); err != nil {
		return err
	}
	s.deltas++
	return send()
}

func (s *stream) fault() error {
	if s.deltas != s.turn.After {
		return nil
	}
	if s.turn.Hold != nil {
		select {
		case <-s.turn.Hold:
		case <-s.r.Context().Done():
			return errCut
		}
	}
	switch s.turn.Fault {
	case FaultCutFIN, FaultCutRST:
		if s.turn.CutAt == 0 {
			return s.cut()
		}
	case FaultMalformed:
		return s.write([]byte("data: {\"type\":\"content_block_delta\",\"choices\":[{\"delta\":{\"content\": oops\n\n"))
	case FaultErrorEvent:
		message := s.turn.Message
		if message == "" {
			message = "The server had an error in the middle of the answer."
		}
		_ = s.format.failure(s, message)
		return errCut
	case FaultStall:
		if !s.sleep(s.turn.Wait) {
			return errCut
		}
	case FaultPings:
		return s.pings()
	default:
	}
	return nil
}

// pings keeps the connection alive and says nothing, until the client leaves.
func (s *stream) pings() error {
	for s.sleep(20 * time.Millisecond) {
		if err := s.write([]byte(s.format.ping)); err != nil {
			return err
		}
	}
	return errCut
}

// sleep waits for d, 0 meaning for ever, and reports whether the client is still there.
func (s *stream) sleep(d time.Duration) bool {
	var after <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return true
	case <-s.r.Context().Done():
		return false
	}
}

// event writes one event; name is "" for none.
func (s *stream) event(name string, v any) error {
	var b bytes.Buffer
	if s.turn.Heartbeat {
		b.WriteString(": keep-alive\n\n")
	}
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.WriteByte('\n')
	return s.write(b.Bytes())
}

func (s *stream) write(b []byte) error {
	if s.turn.CRLF {
		b = bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
	}
	for len(b) > 0 {
		n := len(b)
		if s.turn.WireSplit > 0 {
			n = min(n, s.turn.WireSplit)
		}
		if s.turn.CutAt > 0 {
			n = min(n, s.turn.CutAt-s.bytes)
		}
		if _, err := s.w.Write(b[:n]); err != nil {
			return errCut
		}
		if err := http.NewResponseController(s.w).Flush(); err != nil {
			return errCut
		}
		b = b[n:]
		if s.bytes += n; s.turn.CutAt > 0 && s.bytes >= s.turn.CutAt {
			return s.cut()
		}
	}
	return nil
}

// cut closes the connection under the answer: no last chunk, so the client can tell.
func (s *stream) cut() error {
	_ = http.NewResponseController(s.w).Flush()
	conn, _, err := http.NewResponseController(s.w).Hijack()
	if err != nil {
		return errCut
	}
	if tcp, ok := conn.(*net.TCPConn); ok && s.turn.Fault == FaultCutRST {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	return errCut
}
