package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hermes/core/crash"
)

// preamble is what the far program says first. It cannot be a part of a login's greeting by chance.
const preamble = "\x00\x01hermes-runner\x02\n"

// maxNoise is how much may come before it.
const maxNoise = 64 << 10

// skipToPreamble skips what comes before the preamble.
func skipToPreamble(in *bufio.Reader) error {
	var noise []byte
	for len(noise) < maxNoise {
		b, err := in.ReadByte()
		if err != nil {
			return noAnswerError(noise, err)
		}
		if noise = append(noise, b); b == '\n' && bytes.HasSuffix(noise, []byte(preamble)) {
			return nil
		}
	}
	return noAnswerError(noise, errors.New("too much else came"))
}

func noAnswerError(noise []byte, err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("it ended")
	}
	said := strings.TrimSpace(string(noise))
	if said == "" {
		return fmt.Errorf("the runner on the other side did not answer: %w", err)
	}
	if len(said) > 400 {
		said = "..." + said[len(said)-400:]
	}
	return fmt.Errorf("the runner on the other side did not answer: %w; what came instead: %q", err, said)
}

// Connect greets the program on the other side of rw, until ctx is done, and returns a Client. It
// owns rw, and has closed it when it fails. What comes before the greeting (a login's noise, the
// error of a shell) is skipped, and is part of the error when no greeting comes.
func Connect(ctx context.Context, rw io.ReadWriteCloser, o Options) (*Client, error) {
	o.setDefaults()
	l := newLink(rw)
	stop := context.AfterFunc(ctx, func() {
		l.endWith(fmt.Errorf("the runner on the other side did not answer in time: %w", ctx.Err()))
	})
	defer stop()
	hello := wishes{version: Version, grace: o.Grace, drain: o.Drain, beat: o.Heartbeat}
	l.queueFrame(kindHello, 0, hello.encode())
	info, err := l.exchangeHello(o)
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err != nil {
		l.endWith(err)
		<-l.flushed
		return nil, l.endCause()
	}
	c := newClient(l, o, info)
	crash.Go("wire read", c.readFrames)
	crash.Go("wire beat", func() { l.keepAlive(o.Heartbeat) })
	return c, nil
}

func (o *Options) setDefaults() {
	if o.Grace <= 0 {
		o.Grace = 2 * time.Second
	}
	if o.Drain <= 0 {
		o.Drain = 150 * time.Millisecond
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = 10 * time.Second
	}
	o.Heartbeat = max(o.Heartbeat, minBeat)
}

func (l *link) exchangeHello(o Options) (Info, error) {
	if err := skipToPreamble(l.in.from.(*bufio.Reader)); err != nil {
		return Info{}, err
	}
	f, err := l.nextFrame()
	if err != nil {
		return Info{}, noAnswerError(nil, err)
	}
	info, err := decodeInfo(f.body)
	switch {
	case f.kind == kindBye:
		return info, fmt.Errorf("the runner on the other side ends: %.200q", f.body)
	case info.Version != 0 && info.Version != Version:
		return info, fmt.Errorf("the runner on the other side speaks version %d of the protocol, this hermes version %d: start it anew", info.Version, Version)
	case f.kind != kindHello || err != nil:
		return info, errGarbled
	case o.SHA256 != "" && info.SHA256 != o.SHA256:
		return info, fmt.Errorf("the program on the other side is not the runner of this hermes: its SHA-256 is %.64q, not %s", info.SHA256, o.SHA256)
	}
	return info, nil
}
