package output

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/style"
	"hermes/ui/text"
)

// callKey names a call: ids are unique within a session only.
type callKey struct{ session, id string }

// call is one tool call as this pane shows it: what it printed, and once it has ended how it went.
type call struct {
	id      string
	session string
	name    string
	gist    string
	backend string
	waits   string // id of the approval that it waits for
	started time.Time
	ended   time.Time
	result  *chat.ToolResult
	offset  map[event.Stream]int64 // next expected byte of each stream
	buf     buffer

	tail       []string // rows below the output; valid for the two below
	tailWidth  int
	tailStyles *style.Styles
	said       string // notes as they came, each in brackets on a line of its own
}

// maxSaid is more than the warnings of a result take.
const maxSaid = 16 << 10

func newCall(h event.Header, e event.ToolStarted) *call {
	return &call{
		id: e.Call.ID, session: h.Session, name: text.Inline(e.Call.Name), gist: text.Inline(e.Gist),
		backend: text.Inline(e.Backend), started: h.At, offset: map[event.Stream]int64{},
	}
}

func (c *call) key() callKey { return callKey{c.session, c.id} }

func (c *call) isRunning() bool { return c.result == nil }

// addOutput appends a delta. A gap (the mailbox kept only the tail) is said, a repeat is dropped.
func (c *call) addOutput(e event.ToolOutput) {
	want := c.offset[e.Stream]
	data := e.Data
	switch {
	case e.Offset > want:
		c.addNote(fmt.Sprintf("… %d bytes were not shown …", e.Offset-want))
	case e.Offset < want:
		skip := want - e.Offset
		if skip >= int64(len(data)) {
			return
		}
		data = data[skip:]
	}
	c.offset[e.Stream] = e.Offset + int64(len(e.Data))
	if e.Stream == event.Note { // said by Hermes: another back end, a lost directory
		if len(c.said) < maxSaid {
			c.said += string(data)
		}
		data = asWarning(data)
	}
	c.buf.writeRaw(data)
}

// asWarning marks each line of a note, so that it is not taken for output.
func asWarning(data []byte) []byte {
	lines := strings.SplitAfter(text.Sanitize(string(data)), "\n")
	var b strings.Builder
	for _, line := range lines {
		if body := strings.TrimRight(line, "\n"); body != "" {
			b.WriteString("\x1b[33m! " + body + "\x1b[0m" + line[len(body):])
			continue
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}

// finish closes the call. A call that streamed nothing shows its result instead.
func (c *call) finish(at time.Time, r chat.ToolResult) {
	c.result, c.ended, c.waits, c.tail = &r, at, "", nil
	if r.Backend != "" {
		c.backend = text.Inline(r.Backend)
	}
	if len(c.offset) == 0 && (len(r.Diffs) == 0 || r.IsError) {
		c.addNote(r.Text)
	}
	for _, part := range r.Parts {
		c.addNote("[" + text.Sanitize(part.Describe()) + "]")
	}
}

// addNote writes whole lines below what is there.
func (c *call) addNote(s string) {
	if s == "" {
		return
	}
	if len(c.buf.partial) > 0 {
		c.buf.writeRaw([]byte{'\n'})
	}
	c.buf.writeRaw([]byte(strings.TrimRight(s, "\n") + "\n"))
}

// elapsedAt is how long the call runs or ran.
func (c *call) elapsedAt(now time.Time) time.Duration {
	if c.isRunning() {
		return now.Sub(c.started)
	}
	if c.result.Took > 0 {
		return c.result.Took
	}
	return max(0, c.ended.Sub(c.started))
}

// hasClock reports that somebody knows how long the call took: not of one that did not run.
func (c *call) hasClock() bool {
	return c.isRunning() || c.elapsedAt(time.Time{}) > 0 || !c.result.Denied && !c.result.Interrupted
}

// clockText is took as it is shown. While the call runs it has no parts of a second: they would be
// old as soon as they are read.
func (c *call) clockText(now time.Time) string {
	d := c.elapsedAt(now)
	if c.isRunning() && d < 10*time.Second {
		return strconv.Itoa(int(max(0, d).Seconds())) + " s"
	}
	return text.Duration(d)
}

// outcomeText says how the call went, in a word or two.
func (c *call) outcomeText() string {
	switch r := c.result; {
	case c.waits != "":
		return "waits for you"
	case r == nil:
		return "running"
	case r.Interrupted:
		return "interrupted"
	case r.Denied:
		return "denied"
	case r.ExitCode != nil && *r.ExitCode != 0:
		return fmt.Sprintf("exit %d", *r.ExitCode)
	case r.IsError:
		return "failed"
	default:
		return "done"
	}
}
