package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"hermes/pool/runner"
)

// writer encodes: numbers as varints, strings and lists with their length. Bytes are bytes, which
// JSON would not keep.
type writer []byte

func (w *writer) number(n int64)  { *w = binary.AppendVarint(*w, n) }
func (w *writer) text(s string)   { w.number(int64(len(s))); *w = append(*w, s...) }
func (w *writer) list(l []string) { w.number(int64(len(l))); forEach(l, w.text) }
func (w *writer) flags(f ...bool) { w.number(packFlags(f)) }
func forEach(l []string, f func(string)) {
	for _, s := range l {
		f(s)
	}
}

func packFlags(flags []bool) (n int64) {
	for i, f := range flags {
		if f {
			n |= 1 << i
		}
	}
	return n
}

var errGarbled = errors.New("the other side does not speak the protocol: a message is garbled")

// reader decodes what writer encoded. After the first mistake everything is zero.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) number() int64 {
	n, size := binary.Varint(r.left)
	if r.bad || size <= 0 {
		r.bad = true
		return 0
	}
	r.left = r.left[size:]
	return n
}

func (r *reader) numberWithin(low, high int64) int64 {
	n := r.number()
	if n < low || n > high {
		r.bad = true
		return low
	}
	return n
}

func (r *reader) text() string {
	n := r.numberWithin(0, int64(len(r.left)))
	if r.bad || n > int64(len(r.left)) {
		r.bad = true
		return ""
	}
	s := string(r.left[:n])
	r.left = r.left[n:]
	return s
}

func (r *reader) list() []string {
	n := r.numberWithin(0, int64(len(r.left))) // each takes a byte at least
	var l []string
	for range n {
		s := r.text()
		if r.bad {
			return nil
		}
		l = append(l, s)
	}
	return l
}

func (r *reader) flags(into ...*bool) {
	n := r.numberWithin(0, 1<<len(into)-1)
	for i, f := range into {
		*f = n&(1<<i) != 0
	}
}

func (r *reader) duration() time.Duration { return time.Duration(r.numberWithin(0, math.MaxInt64)) }

func (r *reader) end() error {
	if r.bad || len(r.left) > 0 {
		return errGarbled
	}
	return nil
}

// order is a start: a command, and how it is run.
type order struct {
	spec       runner.Spec // Env is what is added; Stdin is not in it
	background bool
	input      bool // standard input follows in frames
}

func (o *order) encode() []byte {
	s := &o.spec
	w := make(writer, 0, 256+len(s.Command))
	w.flags(o.background, o.input, s.Strict, s.Channel, s.Merge, s.Size != nil, s.Files)
	w.text(s.Command)
	w.list(s.Argv)
	w.text(s.Shell)
	w.text(s.Dir)
	w.text(s.Home)
	w.list(s.Env)
	w.number(int64(len(s.Extra)))
	for name, value := range s.Extra {
		w.text(name)
		w.text(value)
	}
	w.number(int64(s.Timeout))
	if s.Size != nil {
		w.number(int64(s.Size.Rows))
		w.number(int64(s.Size.Cols))
	}
	return w
}

func decodeOrder(body []byte) (o order, err error) {
	r, s, tty := &reader{left: body}, &o.spec, false
	r.flags(&o.background, &o.input, &s.Strict, &s.Channel, &s.Merge, &tty, &s.Files)
	s.Command = r.text()
	s.Argv = r.list()
	s.Shell = r.text()
	s.Dir = r.text()
	s.Home = r.text()
	s.Env = r.list()
	n := r.numberWithin(0, int64(len(r.left)))
	s.Extra = make(map[string]string, min(n, 64))
	for range n {
		name := r.text()
		s.Extra[name] = r.text()
		if r.bad {
			break
		}
	}
	s.Timeout = r.duration()
	if tty {
		s.Size = &runner.Size{Rows: r.cells(), Cols: r.cells()}
	}
	return o, r.end()
}

func (r *reader) cells() uint16 { return uint16(r.numberWithin(0, math.MaxUint16)) }

// ending is an exit: the result without its output.
type ending struct {
	res  runner.Result
	code int    // of the command itself, also when it was interrupted
	err  string // instead of a result
}

func (e *ending) encode() []byte {
	var w writer
	w.flags(e.res.TimedOut, e.res.Interrupted)
	w.number(int64(e.res.ExitCode))
	w.number(int64(e.code))
	w.text(e.res.Signal)
	w.text(e.res.Dir)
	w.list(e.res.Warnings)
	w.number(int64(e.res.Took))
	w.text(e.err)
	return w
}

func decodeEnding(body []byte) (e ending, err error) {
	r := &reader{left: body}
	r.flags(&e.res.TimedOut, &e.res.Interrupted)
	e.res.ExitCode = int(r.numberWithin(0, 255))
	e.code = int(r.numberWithin(0, 255))
	e.res.Signal = r.text()
	e.res.Dir = r.text()
	e.res.Warnings = r.list()
	e.res.Took = r.duration()
	e.err = r.text()
	return e, r.end()
}

// wishes are the client's hello.
type wishes struct {
	version            int
	grace, drain, beat time.Duration
}

func (h *wishes) encode() []byte {
	var w writer
	for _, n := range []int64{int64(h.version), int64(h.grace), int64(h.drain), int64(h.beat)} {
		w.number(n)
	}
	return w
}

func decodeWishes(body []byte) (h wishes, err error) {
	r := &reader{left: body}
	h.version = int(r.numberWithin(0, math.MaxInt32))
	h.grace, h.drain, h.beat = r.duration(), r.duration(), r.duration()
	return h, r.end()
}

func (i *Info) encode() []byte {
	var w writer
	for _, n := range []int{i.Version, i.UID, i.GID, i.PID} {
		w.number(int64(n))
	}
	w.list([]string{i.SHA256, i.OS, i.Arch, i.Hostname, i.Home, i.Dir, i.Shell})
	return w
}

func decodeInfo(body []byte) (i Info, err error) {
	r := &reader{left: body}
	for _, n := range []*int{&i.Version, &i.UID, &i.GID, &i.PID} {
		*n = int(r.numberWithin(0, math.MaxUint32))
	}
	l := r.list()
	for k, s := range []*string{&i.SHA256, &i.OS, &i.Arch, &i.Hostname, &i.Home, &i.Dir, &i.Shell} {
		if k < len(l) {
			*s = l[k]
		}
	}
	return i, r.end()
}

// flow is one direction of one call that has a window.
type flow uint8

const (
	flowOutput flow = iota
	flowInput
	flowChannel
	flows
)

func encodeCredit(f flow, n int) []byte {
	var w writer
	w.number(int64(f))
	w.number(int64(n))
	return w
}

func decodeCredit(body []byte) (f flow, n int, err error) {
	r := &reader{left: body}
	f, n = flow(r.numberWithin(0, int64(flows)-1)), int(r.numberWithin(0, windowSize))
	return f, n, r.end()
}
