package wire

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"hermes/core/crash"
	"hermes/pool/runner"
)

// task is the far side of a call.
type task struct {
	conn *conn
	id   uint32
	o    order
	ctx  context.Context // done when the command is to end
	stop context.CancelFunc

	out     *window
	backlog *queue // output in the background, so that it waits for no connection
	input   *queue
	taken   meter // of input
	channel struct {
		in    *queue
		out   *window
		taken meter
	}
	wishes chan func(*runner.Attached) // resize, signal: until it runs, and then
}

func newTask(c *conn, id uint32, o order) *task {
	t := &task{conn: c, id: id, o: o, out: newWindow(), input: newQueue(false), wishes: make(chan func(*runner.Attached), 16)}
	t.channel.in, t.channel.out = newQueue(false), newWindow()
	t.ctx, t.stop = context.WithCancel(context.Background())
	if o.background {
		t.backlog = newQueue(true)
	}
	return t
}

// handleFrame is called by the reader of the connection only, and does not wait.
func (t *task) handleFrame(f frame) error {
	switch f.kind {
	case kindCancel:
		t.stop()
	case kindInput:
		return t.takeInput(f.body)
	case kindCredit:
		return t.addCredit(f.body)
	case kindChannel:
		if !t.channel.in.putCopy(0, f.body) {
			return errGarbled
		}
	case kindChannelEnd:
		t.channel.in.closeInput()
	case kindResize, kindSignal:
		return t.queueWish(f)
	default:
		return errGarbled
	}
	return nil
}

func (t *task) takeInput(body []byte) error {
	if len(body) == 0 || !t.o.input || !t.input.putCopy(0, body[1:]) {
		return errGarbled
	}
	if body[0] == 1 {
		t.input.closeInput()
	}
	return nil
}

func (t *task) addCredit(body []byte) error {
	f, n, err := decodeCredit(body)
	switch {
	case err != nil:
		return err
	case f == flowOutput:
		t.out.addCredit(n)
	case f == flowChannel:
		t.channel.out.addCredit(n)
	default:
		return errGarbled
	}
	return nil
}

// queueWish keeps a resize or a signal for the running command. Of too many at once the rest is
// left out.
func (t *task) queueWish(f frame) error {
	r := &reader{left: f.body}
	var do func(*runner.Attached)
	if f.kind == kindResize {
		size := runner.Size{Rows: r.readCells(), Cols: r.readCells()}
		do = func(a *runner.Attached) { _ = a.Resize(size) }
	} else {
		number := int(r.numberWithin(1, 64))
		do = func(a *runner.Attached) { _ = a.Signal(number) }
	}
	if err := r.checkEnd(); err != nil {
		return err
	}
	select {
	case t.wishes <- do:
	default:
	}
	return nil
}

// runCommand runs the command.
func (t *task) runCommand() {
	defer t.releaseAll()
	s, err := t.completeSpec()
	if err != nil {
		t.sendRefusal(err)
		return
	}
	if s.Files {
		t.serveFiles(s)
		return
	}
	tap := t.sendOutput
	if t.backlog != nil {
		tap = func(s runner.Stream, data []byte) { t.backlog.putCopy(s, data) }
	}
	a, err := t.conn.run.Attach(s, tap)
	if err != nil {
		t.sendRefusal(err)
		return
	}
	if t.o.background {
		var w writer
		w.writeList(a.Warnings())
		t.conn.link.queueFrame(kindStarted, t.id, w)
	}
	t.conn.link.queueFrame(kindExit, t.id, t.moveData(a))
}

func (t *task) sendRefusal(err error) {
	why := refusedAsItIs
	if errors.Is(err, runner.ErrClosed) {
		why = refusedByEnd
	}
	t.conn.link.queueFrame(kindRefused, t.id, []byte{why}, []byte(err.Error()))
}

// Who refuses a command: the first byte of kindRefused.
const (
	refusedAsItIs byte = iota // something is wrong with it, here and after a new start
	refusedByEnd              // the runner ends
)

// releaseAll lets go of everything that waits for the task.
func (t *task) releaseAll() {
	t.conn.removeTask(t)
	t.stop()
	t.detachClient()
}

// detachClient is the end of the way to the client. The command goes on, into the void.
func (t *task) detachClient() {
	t.out.close()
	t.channel.out.close()
	t.input.closeInput()
	t.channel.in.closeInput()
	if t.backlog != nil {
		t.backlog.dropAll()
	}
}

// moveData moves what goes in and out until the command has ended, and returns its last word.
func (t *task) moveData(a *runner.Attached) []byte {
	over, sent, spoken := make(chan struct{}), make(chan struct{}), make(chan struct{})
	if t.o.input {
		crash.Go("wire input", func() { t.writeInput(a) })
	}
	crash.Go("wire output", func() {
		defer close(sent)
		t.sendBacklog()
	})
	if ch := a.Channel(); ch != nil {
		crash.Go("wire channel", func() {
			defer close(spoken)
			t.sendFromChannel(ch)
		})
		crash.Go("wire channel", func() { t.writeToChannel(ch) })
	} else {
		close(spoken)
	}
	if t.o.background {
		crash.Go("wire wishes", func() { t.handleWishes(a, over) })
	}
	res, code, err := a.Wait(t.ctx)
	close(over)
	t.input.closeInput()
	t.drainBefore(sent, spoken)
	e := ending{res: res, code: code}
	if err != nil {
		e.err = err.Error()
	}
	return e.encode()
}

// drainBefore lets what is still to be said be said before the last word.
func (t *task) drainBefore(sent, spoken chan struct{}) {
	if t.backlog != nil {
		t.backlog.closeInput()
	}
	<-sent
	wait := time.NewTimer(channelPatience)
	defer wait.Stop()
	select {
	case <-spoken:
	case <-wait.C: // a child in the background still has the socket
	}
	t.channel.in.closeInput()
}

const channelPatience = 500 * time.Millisecond

// sendOutput sends output, and waits for the window and for room.
func (t *task) sendOutput(s runner.Stream, data []byte) {
	head := []byte{byte(s)}
	for len(data) > 0 {
		n := t.out.takeCredit(min(len(data), maxData), nil)
		if n == 0 || !t.conn.link.queueWhenRoom(nil, kindOutput, t.id, head, data[:n]) {
			return
		}
		data = data[n:]
	}
}

// sendBacklog sends what waits in the backlog.
func (t *task) sendBacklog() {
	if t.backlog == nil {
		return
	}
	for {
		p, ok := t.backlog.takeNext()
		if !ok {
			return
		}
		t.sendOutput(p.stream, p.data)
	}
}

// writeInput writes standard input.
func (t *task) writeInput(a *runner.Attached) {
	for {
		p, ok := t.input.takeNext()
		if !ok {
			_ = a.Write(nil, true)
			return
		}
		if a.Write(p.data, false) != nil {
			t.input.dropAll() // the client is told by the end of the call, or never cares
			_ = a.Write(nil, true)
			return
		}
		if due := t.taken.creditDue(len(p.data)); due > 0 {
			t.conn.link.queueFrame(kindCredit, t.id, encodeCredit(flowInput, due))
		}
	}
}

// sendFromChannel sends what the command writes to the channel.
func (t *task) sendFromChannel(ch io.Reader) {
	buf := make([]byte, maxData/2)
	for {
		n, err := ch.Read(buf)
		for data := buf[:n]; len(data) > 0; {
			k := t.channel.out.takeCredit(len(data), nil)
			if k == 0 || !t.conn.link.queueWhenRoom(nil, kindChannel, t.id, data[:k]) {
				return
			}
			data = data[k:]
		}
		if err != nil {
			t.conn.link.queueFrame(kindChannelEnd, t.id)
			return
		}
	}
}

// writeToChannel writes to the channel what the client sent, and closes it when nothing more comes:
// that ends listen too.
func (t *task) writeToChannel(ch io.WriteCloser) {
	defer ch.Close()
	for {
		p, ok := t.channel.in.takeNext()
		if !ok {
			return
		}
		if _, err := ch.Write(p.data); err != nil {
			t.channel.in.dropAll()
			return
		}
		if due := t.channel.taken.creditDue(len(p.data)); due > 0 {
			t.conn.link.queueFrame(kindCredit, t.id, encodeCredit(flowChannel, due))
		}
	}
}

func (t *task) handleWishes(a *runner.Attached, over <-chan struct{}) {
	for {
		select {
		case do := <-t.wishes:
			do(a)
		case <-over:
			return
		}
	}
}

// completeSpec completes what the client sent by what only this side knows.
func (t *task) completeSpec() (runner.Spec, error) {
	s, place := t.o.spec, &t.conn.server.place
	s.Live = t.o.input
	if s.Command != "" && s.Shell == "" {
		if s.Shell = place.Info.Shell; s.Shell == "" {
			return s, errNoShell
		}
	}
	if s.Home == "" {
		s.Home = place.Info.Dir
	}
	added := make(map[string]string, len(s.Env))
	for _, kv := range s.Env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			added[name] = value
		}
	}
	s.Env = runner.Environ(place.Env, s.Size != nil, added, s.Extra)
	return s, nil
}

var errNoShell = errors.New("the command was not started: there is neither bash nor sh here; only argument vectors can run")
