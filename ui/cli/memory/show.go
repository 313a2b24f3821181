package memory

import (
	"fmt"
	"strings"

	"hermes/core/injection"
	"hermes/core/memory"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// memoryJSON is one file for `hermes memory --json`.
type memoryJSON struct {
	Target  memory.Target `json:"target"`
	Path    string        `json:"path"`
	Used    int           `json:"used"`
	Limit   int           `json:"limit"`
	Over    bool          `json:"over"`
	Problem string        `json:"problem,omitempty"` // why it cannot be used
	Entries []entryJSON   `json:"entries"`
}

type entryJSON struct {
	Text string       `json:"text"`
	Line int          `json:"line"`
	Hits []memory.Hit `json:"hits,omitempty"` // why it is kept out of the prompt
}

// showMemory prints both files. One that cannot be used is said and makes the exit code 1.
func (c *command) showMemory(asJSON bool) error {
	s, err := c.memoryStore()
	if err != nil {
		return err
	}
	var all []memoryJSON
	broken := false
	for _, t := range memory.Targets() {
		d, err := s.Load(t)
		m := memoryJSON{Target: t, Path: d.Path, Used: d.Used, Limit: d.Limit, Over: d.Over(), Entries: []entryJSON{}}
		if err != nil {
			m.Problem, broken = err.Error(), true
		}
		for _, e := range d.Entries {
			m.Entries = append(m.Entries, entryJSON{e.Text, e.Line, e.Hits})
		}
		all = append(all, m)
		if !asJSON {
			c.printMemory(d, err)
		}
	}
	if asJSON {
		if err := base.WriteJSON(c.Streams.Out, all, true); err != nil {
			return err
		}
	}
	if broken {
		return base.SilentExit(base.ExitFailed)
	}
	return nil
}

func (c *command) printMemory(d memory.Document, err error) {
	out := c.Streams.Out
	if err != nil {
		fmt.Fprintf(out, "%s  cannot be used\n  %s\n\n", d.Target.File(), base.OneLine(err.Error()))
		return
	}
	over := ""
	if d.Over() {
		over = "  OVER THE LIMIT: what does not fit is left out of the prompt"
	}
	fmt.Fprintf(out, "%s  %s  (%s)%s\n", d.Target.File(), d.Usage(), base.OneLine(d.Path), over)
	if len(d.Entries) == 0 {
		fmt.Fprintln(out, "  nothing is remembered")
	}
	for i, e := range d.Entries {
		lines := text.Wrap(text.Sanitize(e.Text), c.Width()-5)
		fmt.Fprintf(out, "%3d. %s\n", i+1, strings.Join(lines, "\n     "))
		if e.Blocked() {
			h := e.Hits[0]
			fmt.Fprintf(out, "     BLOCKED, kept out of the prompt: it %s: %q (bytes %d to %d)\n", h.Reason, h.Text, h.Start, h.End)
		}
	}
	fmt.Fprintln(out)
}

// scanStored judges what is on disk, an entry each, and what the border of two entries may hide.
func (c *command) scanStored(judge func(name, text string, hits []injection.Finding) error) error {
	s, err := c.memoryStore()
	if err != nil {
		return err
	}
	for _, t := range memory.Targets() {
		d, err := s.Load(t)
		if err != nil {
			return base.Failed(base.ExitFailed, "%w", err)
		}
		for _, e := range d.Entries {
			var hits []injection.Finding
			for _, h := range e.Hits {
				hits = append(hits, injection.Finding{Rule: h.Rule, Reason: h.Reason, Start: h.Start, End: h.End})
			}
			if err := judge(fmt.Sprintf("%s:%d", t.File(), e.Line), e.Text, hits); err != nil {
				return err
			}
		}
	}
	return nil
}
