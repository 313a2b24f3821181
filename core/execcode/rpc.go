package execcode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"hermes/core/crash"
	"hermes/core/deadline"
	"hermes/core/tool"
)

const (
	maxRequest = 16 << 20 // bytes of one frame from a script: a whole file for write_file, escaped
	maxReply   = 16 << 20
	maxSkipped = 256 << 20 // bytes of a frame that is too long, until its end is given up
)

// request is a frame from a script: a call, or word that a kernel is done.
type request struct {
	ID   int64           `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Done *int            `json:"done"`
}

// reply answers a request with the same id.
type reply struct {
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

var (
	// errTooLong is a frame over the limit that was skipped to its end.
	errTooLong = fmt.Errorf("a call with more than %d MB: give it less", maxRequest>>20)
	// errEndless ends a channel: after a frame without an end nothing can be told apart any more.
	errEndless = fmt.Errorf("a frame of more than %d MB: the channel is closed", maxSkipped>>20)
)

// readFrame reads one line of at most limit bytes. Of one that is too long it returns the
// beginning, and errTooLong.
func readFrame(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return append(line, part[:limit-len(line)]...), skipLine(r, part, err)
		}
		if err == nil && line == nil {
			return part, nil // valid until the next read, which its one user waits with
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// skipLine reads to the end of a line that is too long.
func skipLine(r *bufio.Reader, part []byte, err error) error {
	for skipped := len(part); errors.Is(err, bufio.ErrBufferFull); skipped += len(part) {
		if skipped > maxSkipped {
			return errEndless
		}
		part, err = r.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return errTooLong
}

// idOf is the id that a request begins with; 0 when it does not.
func idOf(begin []byte) int64 {
	var id int64
	d := json.NewDecoder(bytes.NewReader(begin))
	for _, want := range []json.Token{json.Delim('{'), "id"} {
		if got, err := d.Token(); err != nil || got != want {
			return 0
		}
	}
	if d.Decode(&id) != nil {
		return 0
	}
	return id
}

// decodeRequest reads a request. It is given what a hostile script sends.
func decodeRequest(line []byte) (request, error) {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return request{}, fmt.Errorf("not a request: %w", err)
	}
	switch args := bytes.TrimSpace(r.Args); {
	case r.Done != nil:
		return r, nil
	case r.ID <= 0:
		return r, errors.New("a request needs an id above 0")
	case r.Tool == "":
		return r, errors.New("a request names a tool")
	case len(args) == 0 || bytes.Equal(args, []byte("null")):
		r.Args = json.RawMessage("{}")
	case args[0] != '{':
		return r, errors.New("args is an object")
	}
	return r, nil
}

// line is our end of a script's channel.
type line struct {
	ch   io.ReadWriteCloser
	in   *bufio.Reader
	send sync.Mutex
}

func newLine(ch io.ReadWriteCloser) *line { return &line{ch: ch, in: bufio.NewReaderSize(ch, 64<<10)} }

func (l *line) writeJSON(v any) error {
	var b bytes.Buffer
	if r, ok := v.(reply); ok && r.Error == "" && bytes.IndexByte(r.Result, '\n') < 0 { // JSON already: encoding it once more would read it all
		fmt.Fprintf(&b, `{"id":%d,"result":`, r.ID)
		b.Write(r.Result)
		b.WriteString("}\n")
		return l.writeFrame(b.Bytes())
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return l.writeFrame(b.Bytes())
}

func (l *line) writeFrame(frame []byte) error {
	l.send.Lock()
	defer l.send.Unlock()
	_, err := l.ch.Write(frame)
	return err
}

// dispatcher answers the calls of one run.
type dispatcher struct {
	line  *line
	call  func(ctx context.Context, c tool.NestedCall) tool.NestedResult
	names []string // what may be called
	limit int
	clock *deadline.Clock
	stays bool // the process is a kernel, and outlives the run

	mu   sync.Mutex
	made int
	open map[int64]bool
}

// serveCalls answers until the channel ends or a kernel says that it is done; then it returns the
// exit code. One call is one goroutine, and what they do ends with ctx.
func (d *dispatcher) serveCalls(ctx context.Context) (code int, done bool) {
	for {
		raw, err := readFrame(d.line.in, maxRequest)
		switch {
		case errors.Is(err, errTooLong):
			_ = d.line.writeJSON(reply{ID: idOf(raw), Error: err.Error()})
			continue
		case errors.Is(err, errEndless):
			_ = d.line.writeJSON(reply{Error: err.Error()})
			_ = d.line.ch.Close()
			return 0, false
		}
		if err != nil {
			return 0, false
		}
		r, err := decodeRequest(raw)
		switch {
		case err != nil:
			_ = d.line.writeJSON(reply{ID: r.ID, Error: err.Error()})
			continue
		case r.Done != nil:
			return *r.Done, true
		}
		if why := d.admitCall(r); why != "" {
			_ = d.line.writeJSON(reply{ID: r.ID, Error: why})
			continue
		}
		r.Args = slices.Clone(r.Args)
		crash.Go("script call "+r.Tool, func() { d.answerCall(ctx, r) })
	}
}

// admitCall takes a call from the budget, or says why it is refused: that costs nothing.
func (d *dispatcher) admitCall(r request) (refused string) {
	if !slices.Contains(d.names, r.Tool) {
		return fmt.Sprintf("Tool %.60q is not available in execute_code. Available: %s", r.Tool, strings.Join(d.names, ", "))
	}
	if why := refuseBackground(r); why != "" {
		return why
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.open[r.ID]:
		return fmt.Sprintf("the id %d is in use", r.ID)
	case d.made >= d.limit:
		return fmt.Sprintf(textLimit, d.limit)
	}
	d.made++
	d.open[r.ID] = true
	return ""
}

// notInScripts are arguments of terminal that make no sense there: nobody is left to look after
// what they start.
var notInScripts = []string{"background", "pty", "notify_on_complete", "watch_patterns"}

func refuseBackground(r request) string {
	if r.Tool != "terminal" {
		return ""
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(r.Args, &args) != nil {
		return "" // validation says it better
	}
	for _, name := range notInScripts {
		switch v := string(bytes.TrimSpace(args[name])); v {
		case "", "false", "null", "[]":
		default:
			return "terminal() in scripts is foreground only: " + name + " is not available here. Call terminal directly for that."
		}
	}
	return ""
}

func (d *dispatcher) answerCall(ctx context.Context, r request) {
	defer func() {
		d.mu.Lock()
		delete(d.open, r.ID)
		d.mu.Unlock()
	}()
	res := d.call(ctx, tool.NestedCall{Name: r.Tool, Args: r.Args, Waiting: d.clock.PauseWhile})
	switch {
	case ctx.Err() == nil:
		_ = d.line.writeJSON(replyOf(r.ID, res))
	case d.stays: // a thread of the script may be there still, and must not wait for ever
		_ = d.line.writeJSON(reply{ID: r.ID, Error: textOver})
	}
}

// callCount is how many were made.
func (d *dispatcher) callCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.made
}

// replyOf makes of a result what a script gets: the tool's data, else its text as data when it is
// JSON, else the text.
func replyOf(id int64, res tool.NestedResult) reply {
	switch text := strings.TrimSpace(res.Text); {
	case len(res.Data) > maxReply, len(text) > maxReply:
		return reply{ID: id, Error: fmt.Sprintf("the result of %s has more than %d MB: ask for less of it", res.Name, maxReply>>20)}
	case len(res.Data) > 0:
		return reply{ID: id, Result: res.Data}
	case res.IsError:
		return reply{ID: id, Error: res.Text}
	case strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		return reply{ID: id, Result: json.RawMessage(text)}
	}
	raw, err := json.Marshal(map[string]string{"content": res.Text})
	if err != nil {
		return reply{ID: id, Error: err.Error()}
	}
	return reply{ID: id, Result: raw}
}
