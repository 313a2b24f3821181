// Package memory is the command `hermes memory`: what the agent remembers, and scans of texts.
package memory

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/injection"
	"hermes/ui/cli/base"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes memory`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "memory", Short: "What the agent remembers across sessions: show, change, scan",
		Long: `What the agent remembers across sessions.

Two small files of the home folder are part of every new session's prompt: memories/MEMORY.md has the agent's own notes, memories/USER.md what
it knows of you. Without a subcommand both are shown, with what is kept out of the prompt and why.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return base.Subcommands(cmd, args)
			}
			return c.showMemory(asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(c.memoryAdd(), c.memoryReplace(), c.memoryRemove(), c.memoryEdit(), c.memoryUndo(), c.memoryScan(), c.embed(), c.user(),
		c.store(), c.recall(), c.facts(), c.forget(), c.pin(), c.unpin(), c.useful(), c.amend(), c.export(), c.cleanup())
	return cmd
}

// scanFlags are the ways to read and to answer.
type scanFlags struct{ lines, asJSON, exitCode, stored bool }

func (c *command) memoryScan() *cobra.Command {
	var f scanFlags
	cmd := &cobra.Command{
		Use:   "scan [FILE]...",
		Short: "Say whether a text tries to give orders to the agent",
		Long: `Say whether a text tries to give orders to the agent.

The same scan stands before everything that reaches the system prompt: a text with a hit stays on disk and is kept out of the prompt.
Without a file the text is read from standard input; what is remembered is scanned when that is a terminal, or with --stored.`,
		RunE: func(_ *cobra.Command, files []string) error { return c.scanFiles(files, f) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.lines, "lines", false, "judge each line by itself")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object for each text")
	fl.BoolVar(&f.stored, "stored", false, "scan what is remembered (MEMORY.md and USER.md), an entry each")
	fl.BoolVar(&f.exitCode, "exit-code", false, "end with 1 when something is blocked")
	return cmd
}

// maxScan bounds what is read of one text: far more than any prompt takes.
const maxScan = 64 << 20

func (c *command) scanFiles(files []string, f scanFlags) error {
	out := bufio.NewWriter(c.Streams.Out)
	blocked := false
	say := func(name, text string, hits []injection.Finding) error {
		v := verdictOn(text, hits)
		blocked = blocked || v.Verdict == "block"
		return v.writeScanned(out, name, f.asJSON)
	}
	judge := func(name, text string) error { return say(name, text, injection.Scan(text)) }
	if f.stored || len(files) == 0 && base.IsTerminal(c.Streams.In) {
		if err := c.scanStored(say); err != nil {
			return err
		}
	} else if len(files) == 0 {
		if err := scanReader(c.Streams.In, "", f.lines, judge); err != nil {
			return err
		}
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return base.UsageError("%v", err)
		}
		err = scanReader(file, name, f.lines, judge)
		_ = file.Close()
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return base.Failed(base.ExitFailed, "writing the answer: %w", err)
	}
	if blocked && f.exitCode {
		return base.SilentExit(base.ExitFailed)
	}
	return nil
}

func scanReader(r io.Reader, name string, lines bool, judge func(name, text string) error) error {
	if !lines {
		data, err := io.ReadAll(io.LimitReader(r, maxScan+1))
		if err != nil {
			return base.Failed(base.ExitFailed, "reading %s: %w", placeName(name), err)
		}
		if len(data) > maxScan {
			return base.UsageError("%s is larger than %d MiB: scan it in parts", placeName(name),
				maxScan>>20)
		}
		return judge(name, string(data))
	}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if line != "" {
			if bad := judge(fmt.Sprintf("%s:%d", placeName(name), n), strings.TrimRight(line, "\r\n")); bad != nil {
				return bad
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return base.Failed(base.ExitFailed, "reading %s: %w", placeName(name), err)
		}
	}
}

func placeName(name string) string {
	if name == "" {
		return "standard input"
	}
	return name
}

// scanned is the verdict on one text. Span and Reason are those of the first hit.
type scanned struct {
	Verdict string    `json:"verdict"` // allow or block
	Span    *[2]int   `json:"span"`    // bytes of the text; null when allowed
	Reason  string    `json:"reason"`
	Hits    []scanHit `json:"hits,omitempty"`
}

// scanHit is one hit.
type scanHit struct {
	Span   [2]int `json:"span"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

func verdictOn(text string, found []injection.Finding) scanned {
	if len(found) == 0 {
		return scanned{Verdict: "allow", Reason: "no order to the agent was found"}
	}
	v := scanned{Verdict: "block", Reason: found[0].Reason}
	for _, h := range found {
		v.Hits = append(v.Hits, scanHit{
			Span: [2]int{h.Start, h.End}, Line: 1 + strings.Count(text[:h.Start], "\n"), Text: injection.Excerpt(text, h), Rule: h.Rule, Reason: h.Reason,
		})
	}
	v.Span = &v.Hits[0].Span
	return v
}

func (v scanned) writeScanned(w io.Writer, name string, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(v)
	}
	prefix := ""
	if name != "" {
		prefix = base.OneLine(name) + ": "
	}
	if v.Verdict == "allow" {
		_, err := fmt.Fprintf(w, "%sallow\n", prefix)
		return err
	}
	for _, h := range v.Hits {
		if _, err := fmt.Fprintf(w, "%sblock: line %d: %s: %q\n", prefix, h.Line, h.Reason, h.Text); err != nil {
			return err
		}
	}
	return nil
}
