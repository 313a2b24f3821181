package wire

import (
	"context"
	"errors"

	"hermes/core/files"
	"hermes/core/realpath"
	"hermes/pool/runner"
)

// serveFiles answers a request about files: it comes as standard input, and the reply goes as
// output.
func (t *task) serveFiles(s runner.Spec) {
	ask, err := t.wholeInput(files.MaxRequest)
	if err != nil {
		t.sendRefusal(err)
		return
	}
	place := t.conn.server.place.Info
	dir := s.Home
	if s.Dir != "" {
		dir = realpath.Absolute(place.Home, dir, s.Dir)
	}
	answer := files.Serve(t.ctx, files.Local{Home: place.Home, Dir: dir}, ask)
	t.sendOutput(runner.Stdout, answer)
	e := ending{res: runner.Result{Dir: s.Dir, Interrupted: t.ctx.Err() != nil}}
	t.conn.link.queueFrame(kindExit, t.id, e.encode())
}

// wholeInput is all of standard input, at most limit bytes.
func (t *task) wholeInput(limit int) ([]byte, error) {
	defer t.input.dropAll()
	defer context.AfterFunc(t.ctx, t.input.closeInput)() // who gave up sends no more
	var all []byte
	for {
		p, ok := t.input.takeNext()
		if !ok {
			return all, nil
		}
		if all = append(all, p.data...); len(all) > limit {
			return nil, errors.New("the request is too large")
		}
		if due := t.taken.creditDue(len(p.data)); due > 0 {
			t.conn.link.queueFrame(kindCredit, t.id, encodeCredit(flowInput, due))
		}
	}
}
