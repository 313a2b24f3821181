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

func (w *writer) writeNumber(n int64)  { *w = binary.AppendVarint(*w, n) }
func (w *writer) writeText(s string)   { w.writeNumber(int64(len(s))); *w = append(*w, s...) }
func (w *writer) writeList(l []string) { w.writeNumber(int64(len(l))); forEach(l, w.writeText) }
func (w *writer) writeFlags(f ...bool) { w.writeNumber(packFlags(f)) }
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

func (r *reader) readNumber() int64 {
	n, size := binary.Varint(r.left)
	if r.bad || size <= 0 {
		r.bad = true
		return 0
	}
	r.left = r.left[size:]
	return n
}

func (r *reader) numberWithin(low, high int64) int64 {
	n := r.readNumber()
	if n < low || n > high {
		r.bad = true
		return low
	}
	return n
}

func (r *reader) readText() string {
	n := r.numberWithin(0, int64(len(r.left)))
	if r.bad || n > int64(len(r.left)) {
		r.bad = true
		return ""
	}
	s := string(r.left[:n])
	r.left = r.left[n:]
	return s
}

func (r *reader) readList() []string {
	n := r.numberWithin(0, int64(len(r.left))) // each takes a byte at least
	var l []string
	for range n {
		s := r.readText()
		if r.bad {
			return nil
		}
		l = append(l, s)
	}
	return l
}

func (r *reader) readFlags(into ...*bool) {
	n := r.numberWithin(0, 1<<len(into)-1)
	for i, f := range into {
		*f = n&(1<<i) != 0
	}
}

func (r *reader) readDuration() time.Duration { return time.Duration(r.numberWithin(0, math.MaxInt64)) }

func (r *reader) checkEnd() error {
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
	w.writeFlags(o.background, o.input, s.Strict, s.Channel, s.Merge, s.Size != nil, s.Files)
	w.writeText(s.Command)
	w.writeList(s.Argv)
	w.writeText(s.Shell)
	w.writeText(s.Dir)
	w.writeText(s.Home)
	w.writeList(s.Env)
	w.writeNumber(int64(len(s.Extra)))
	for name, value := range s.Extra {
		w.writeText(name)
		w.writeText(value)
	}
	w.writeNumber(int64(s.Timeout))
	if s.Size != nil {
		w.writeNumber(int64(s.Size.Rows))
		w.writeNumber(int64(s.Size.Cols))
	}
	return w
}

func decodeOrder(body []byte) (o order, err error) {
	r, s, tty := &reader{left: body}, &o.spec, false
	r.readFlags(&o.background, &o.input, &s.Strict, &s.Channel, &s.Merge, &tty, &s.Files)
	s.Command = r.readText()
	s.Argv = r.readList()
	s.Shell = r.readText()
	s.Dir = r.readText()
	s.Home = r.readText()
	s.Env = r.readList()
	n := r.numberWithin(0, int64(len(r.left)))
	s.Extra = make(map[string]string, min(n, 64))
	for range n {
		name := r.readText()
		s.Extra[name] = r.readText()
		if r.bad {
			break
		}
	}
	s.Timeout = r.readDuration()
	if tty {
		s.Size = &runner.Size{Rows: r.readCells(), Cols: r.readCells()}
	}
	return o, r.checkEnd()
}

func (r *reader) readCells() uint16 { return uint16(r.numberWithin(0, math.MaxUint16)) }

// ending is an exit: the result without its output.
type ending struct {
	res  runner.Result
	code int    // of the command itself, also when it was interrupted
	err  string // instead of a result
}

func (e *ending) encode() []byte {
	var w writer
	w.writeFlags(e.res.TimedOut, e.res.Interrupted)
	w.writeNumber(int64(e.res.ExitCode))
	w.writeNumber(int64(e.code))
	w.writeText(e.res.Signal)
	w.writeText(e.res.Dir)
	w.writeList(e.res.Warnings)
	w.writeNumber(int64(e.res.Took))
	w.writeText(e.err)
	return w
}

func decodeEnding(body []byte) (e ending, err error) {
	r := &reader{left: body}
	r.readFlags(&e.res.TimedOut, &e.res.Interrupted)
	e.res.ExitCode = int(r.numberWithin(0, 255))
	e.code = int(r.numberWithin(0, 255))
	e.res.Signal = r.readText()
	e.res.Dir = r.readText()
	e.res.Warnings = r.readList()
	e.res.Took = r.readDuration()
	e.err = r.readText()
	return e, r.checkEnd()
}

// wishes are the client's hello.
type wishes struct {
	version            int
	grace, drain, beat time.Duration
}

func (h *wishes) encode() []byte {
	var w writer
	for _, n := range []int64{int64(h.version), int64(h.grace), int64(h.drain), int64(h.beat)} {
		w.writeNumber(n)
	}
	return w
}

func decodeWishes(body []byte) (h wishes, err error) {
	r := &reader{left: body}
	h.version = int(r.numberWithin(0, math.MaxInt32))
	h.grace, h.drain, h.beat = r.readDuration(), r.readDuration(), r.readDuration()
	return h, r.checkEnd()
}

func (i *Info) encode() []byte {
	var w writer
	for _, n := range []int{i.Version, i.UID, i.GID, i.PID} {
		w.writeNumber(int64(n))
	}
	w.writeList([]string{i.SHA256, i.OS, i.Arch, i.Hostname, i.Home, i.Dir, i.Shell})
	return w
}

func decodeInfo(body []byte) (i Info, err error) {
	r := &reader{left: body}
	for _, n := range []*int{&i.Version, &i.UID, &i.GID, &i.PID} {
		*n = int(r.numberWithin(0, math.MaxUint32))
	}
	l := r.readList()
	for k, s := range []*string{&i.SHA256, &i.OS, &i.Arch, &i.Hostname, &i.Home, &i.Dir, &i.Shell} {
		if k < len(l) {
			*s = l[k]
		}
	}
	return i, r.checkEnd()
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
	w.writeNumber(int64(f))
	w.writeNumber(int64(n))
	return w
}

func decodeCredit(body []byte) (f flow, n int, err error) {
	r := &reader{left: body}
	f, n = flow(r.numberWithin(0, int64(flows)-1)), int(r.numberWithin(0, windowSize))
	return f, n, r.checkEnd()
}
