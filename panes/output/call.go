package output

import (
	"fmt"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
)

// call is one tool call as this pane shows it.
type call struct {
	id      string
	session string
	parent  string // call inside of which this one ran
	name    string
	gist    string
	backend string
	started time.Time
	ended   time.Time
	result  *chat.ToolResult
	offset  map[event.Stream]int64 // next expected byte of each stream
	buf     buffer
}

func newCall(h event.Header, e event.ToolStarted) *call {
	return &call{
		id: e.Call.ID, session: h.Session, parent: h.Parent, name: e.Call.Name, gist: e.Gist,
		backend: e.Backend, started: h.At, offset: map[event.Stream]int64{},
	}
}

func (c *call) running() bool { return c.result == nil }

// output appends a delta. A gap (the mailbox kept only the tail) is said, a repeat is dropped.
func (c *call) output(e event.ToolOutput) {
	want := c.offset[e.Stream]
	data := e.Data
	switch {
	case e.Offset > want:
		c.buf.write(fmt.Appendf(nil, "\n… %d bytes were not shown …\n", e.Offset-want))
	case e.Offset < want:
		skip := want - e.Offset
		if skip >= int64(len(data)) {
			return
		}
		data = data[skip:]
	}
	c.offset[e.Stream] = e.Offset + int64(len(e.Data))
	c.buf.write(data)
}

// end closes the call. A call that streamed nothing shows its result instead.
func (c *call) end(at time.Time, r chat.ToolResult) {
	c.result, c.ended = &r, at
	if r.Backend != "" {
		c.backend = r.Backend
	}
	if len(c.offset) == 0 && len(r.Diffs) == 0 {
		c.note(r.Text)
	}
	for _, d := range r.Diffs {
		c.note(diffHead(d) + "\n" + d.Unified)
	}
	for _, w := range r.Warnings {
		c.note("! " + w)
	}
	if r.Spill != "" {
		c.note("full output: " + r.Spill)
	}
}

// note writes whole lines of our own below what is there.
func (c *call) note(s string) {
	if len(c.buf.partial) > 0 {
		c.buf.write([]byte{'\n'})
	}
	c.buf.write([]byte(strings.TrimRight(s, "\n") + "\n"))
}

func diffHead(d chat.FileDiff) string {
	s := fmt.Sprintf("%s %s  +%d -%d", d.Op, d.Path, d.Added, d.Removed)
	if d.OldPath != "" {
		s += "  from " + d.OldPath
	}
	return s
}

// took is how long the call runs or ran.
func (c *call) took(now time.Time) time.Duration {
	if c.running() {
		return now.Sub(c.started)
	}
	if c.result.Took > 0 {
		return c.result.Took
	}
	return c.ended.Sub(c.started)
}

// outcome says how the call went, in a word or two.
func (c *call) outcome() string {
	switch r := c.result; {
	case r == nil:
		return "running"
	case r.Interrupted:
		return "interrupted"
	case r.ExitCode != nil && *r.ExitCode != 0:
		return fmt.Sprintf("exit %d", *r.ExitCode)
	case r.IsError:
		return "failed"
	default:
		return "done"
	}
}
