package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A frame is 4 bytes of length (of all that follows), 1 byte of kind, 4 bytes of call (0: the
// connection itself), and its content.
type kind uint8

const (
	kindHello      kind = iota + 1 // both: the first frame of each side
	kindBeat                       // both: nothing but a sign of life
	kindBye                        // both: a wish to end, and its fulfilment; content: a reason
	kindStart                      // to the server: a command
	kindStarted                    // to the client: a background command runs; content: warnings
	kindRefused                    // to the client: the command did not begin; content: who refuses it, why
	kindOutput                     // to the client: a stream and its bytes
	kindExit                       // to the client: the last word of a call
	kindCredit                     // both: a flow may carry so many bytes more
	kindInput                      // to the server: whether it ends, and bytes of standard input
	kindChannel                    // both: bytes of the channel
	kindChannelEnd                 // both: no more of them
	kindResize                     // to the server: rows, columns
	kindSignal                     // to the server: a number
	kindCancel                     // to the server: end it
)

const (
	headSize = 9
	maxData  = 64 << 10        // bytes of a stream in one frame
	maxSmall = maxData + 4<<10 // content of all frames but a start
	maxStart = 16 << 20        // content of a start: command, arguments and environment
)

// frame is one frame. Its content is valid until the next one is read.
type frame struct {
	kind kind
	call uint32
	body []byte
}

func appendFrame(to []byte, k kind, call uint32, body ...[]byte) []byte {
	size := headSize - 4
	for _, b := range body {
		size += len(b)
	}
	to = binary.BigEndian.AppendUint32(to, uint32(size))
	to = append(to, byte(k))
	to = binary.BigEndian.AppendUint32(to, call)
	for _, b := range body {
		to = append(to, b...)
	}
	return to
}

// frames reads frames. It never allocates more than the peer may send in one, and no more than it
// did send.
type frames struct {
	from io.Reader
	buf  []byte
}

func (r *frames) nextFrame() (frame, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r.from, head[:]); err != nil {
		return frame{}, err
	}
	size := int(binary.BigEndian.Uint32(head[:])) - (headSize - 4)
	f := frame{kind: kind(head[4]), call: binary.BigEndian.Uint32(head[5:])}
	limit := maxSmall
	if f.kind == kindStart {
		limit = maxStart
	}
	if size < 0 || size > limit || f.kind == 0 || f.kind > kindCancel {
		return frame{}, fmt.Errorf("the other side does not speak the protocol: frame of kind %d with %d bytes", f.kind, size)
	}
	var err error
	f.body, err = r.readBytes(size)
	return f, err
}

// readBytes grows the buffer with what arrives, not with what was promised.
func (r *frames) readBytes(size int) ([]byte, error) {
	if cap(r.buf) > 2*maxSmall {
		r.buf = nil // a large start is over
	}
	r.buf = r.buf[:0]
	for len(r.buf) < size {
		step := min(size-len(r.buf), maxSmall)
		old := len(r.buf)
		if cap(r.buf) < old+step {
			r.buf = append(make([]byte, 0, max(2*cap(r.buf), old+step)), r.buf...)
		}
		r.buf = r.buf[:old+step]
		if _, err := io.ReadFull(r.from, r.buf[old:]); err != nil {
			return nil, unexpectedEOF(err)
		}
	}
	return r.buf, nil
}

func unexpectedEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // io.ReadFull returns it bare
		return io.ErrUnexpectedEOF
	}
	return err
}
