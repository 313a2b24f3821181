// Package approvals is the command `hermes approvals`: what was allowed for good, and what would be
// asked.
package approvals

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"hermes/core/approval"
	"hermes/core/config"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes approvals`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use: "approvals", Short: "What may run unasked: list, revoke, explain", RunE: base.Subcommands,
		Long: `What may run unasked.

A command runs unasked when everything that it does is within the level of the session: 0 reads, 1 makes new files,
2 works on the project, 3 deletes, publishes, installs. What is above is asked. A few things never run.`,
	}
	cmd.AddCommand(c.approvalsListCommand(), c.approvalsRevokeCommand(), c.explainCommand())
	return cmd
}

// remembered is the file of what was allowed for more than one session, and the settings if they
// can be read.
func (c *command) remembered() (*approval.File, *config.Config, error) {
	start, err := c.Load()
	if err != nil {
		return nil, nil, err
	}
	return approval.NewFile(filepath.Join(start.Config.Paths().Home, "approvals.json")), start.Config, nil
}

func (c *command) approvalsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "Show what was allowed for good, and what is forbidden", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			file, cfg, err := c.remembered()
			if err != nil {
				return err
			}
			entries, err := file.Entries()
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			if asJSON {
				return base.WriteJSON(c.Streams.Out, entries, true)
			}
			return c.printRemembered(entries, cfg)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) printRemembered(entries []approval.Entry, cfg *config.Config) error {
	t := base.Table{Head: []string{"id", "scope", "back end", "folder", "until", "what"}}
	for _, e := range entries {
		until := "revoked"
		if !e.Expires.IsZero() {
			until = base.DateTime(e.Expires)
		}
		if e.Expired(time.Now()) {
			until += " (over)"
		}
		t.Row(e.ID, string(e.Scope), base.OrDash(e.Backend), base.OrDash(e.Dir), until, base.Cut(e.Words(), 80))
	}
	for _, cmd := range cfg.CommandAllowlist {
		t.Row("-", "settings", "-", "-", "changed", base.Cut("exactly: "+cmd, 80))
	}
	for _, pattern := range cfg.Approvals.Deny {
		t.Row("-", "forbidden", "-", "-", "changed", base.Cut(pattern, 80))
	}
	if len(t.Rows) == 0 {
		c.Note("nothing is remembered: what is above the level of a session (approvals.level) is asked each time")
		return nil
	}
	return t.Write(c.Streams.Out)
}

func (c *command) approvalsRevokeCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "revoke [id]...", Short: "Ask again about what was allowed for good",
		RunE: func(_ *cobra.Command, ids []string) error {
			if all == (len(ids) > 0) {
				return base.UsageError("name the ids that `hermes approvals list` shows, or --all")
			}
			file, _, err := c.remembered()
			if err != nil {
				return err
			}
			gone, err := file.Revoke(all, ids...)
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			c.Note("%s revoked; it is asked again", text.Count(gone, "approval", "approvals"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "revoke everything")
	return cmd
}

// explainFlags are the circumstances that a command is explained for.
type explainFlags struct {
	json, nul bool
	level     int
	mode      string
	backend   string
	dir       string
}

func (c *command) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use: "explain [-- command...]", Short: "Say what would happen to a command, and why; runs nothing",
		Long: `Say what would happen to a command, and why. Nothing runs, and no settings are read.

Without a command it reads one from each line of stdin, or with -0 each up to a NUL. With --json it prints one object a command:
command, verdict (allow, ask, refuse), effects, span (bytes of the command), reason.`,
		Example: `  hermes approvals explain -- 'git fetch origin && rm -rf build/'
  hermes approvals explain --json < commands.txt`,
		RunE: func(_ *cobra.Command, args []string) error { return c.explain(f, args) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print one JSON object a command")
	fl.BoolVarP(&f.nul, "null", "0", false, "commands on stdin end with NUL, not with a line")
	fl.IntVar(&f.level, "level", int(approval.LevelStandard), "what runs unasked: 0 reads, 1 makes files, 2 works on the project, 3 is sensitive")
	fl.StringVar(&f.mode, "mode", string(approval.ModeManual), "manual, smart or off")
	fl.StringVar(&f.backend, "backend", config.Defaults().Terminal.Backend, "where it would run: "+explainPlaces())
	fl.StringVar(&f.dir, "dir", "", "the `folder` it would start in; default: here")
	return cmd
}

func (c *command) explain(f explainFlags, args []string) error {
	where, err := f.context()
	if err != nil {
		return err
	}
	if start, err := c.Load(); err == nil { // settings that cannot be read keep nobody from an explanation
		where.DataDir = start.Config.Paths().Home
	}
	out := bufio.NewWriterSize(c.Streams.Out, 1<<16)
	said := 0
	say := func(cmd string) error {
		said++
		a := approval.Explain(cmd, approval.Mode(f.mode), where)
		if f.json {
			return base.WriteJSON(out, a, false)
		}
		return printExplanation(out, a)
	}
	if len(args) > 0 {
		err = say(asCommand(args))
	} else {
		if !base.IsTerminal(c.Streams.In) {
			err = eachCommand(c.Streams.In, f.nul, say)
		}
		if err == nil && said == 0 {
			err = base.UsageError("no command to explain: write it behind --, as in `hermes approvals explain -- 'git push'`, or give it on standard input")
		}
	}
	return errors.Join(err, out.Flush())
}

func (f explainFlags) context() (approval.Context, error) {
	if f.level < 0 || f.level > 3 {
		return approval.Context{}, base.UsageError("--level %d: 0, 1, 2 or 3", f.level)
	}
	switch approval.Mode(f.mode) {
	case approval.ModeManual, approval.ModeSmart, approval.ModeOff:
	default:
		return approval.Context{}, base.UsageError("--mode %s: manual, smart or off", f.mode)
	}
	dir := f.dir
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = "/work"
	}
	where := approval.ContextIn(abs)
	where.Level = approval.Level(f.level)
	kind, known := config.KindNamed(f.backend)
	where.Sandboxed = f.backend == isolated
	where.Local = known && kind.Traits.Local
	if !known && !where.Sandboxed && f.backend != isolated+"-mounts" {
		return where, base.UsageError("--backend %s: write one of %s", f.backend, explainPlaces())
	}
	return where, nil
}

// isolated is a place that sees no folders of this machine; with -mounts it sees some.
const isolated = "container"

// explainPlaces are where a command can be said to run: what keeps it in, or a kind that does not.
func explainPlaces() string {
	names := []string{isolated + " (no host folders)", isolated + "-mounts"}
	for _, k := range config.Kinds() {
		if !k.Traits.Isolated {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ", ")
}

// asCommand is a command line from the words of ours: one word is the line as it is.
func asCommand(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	words := make([]string, len(args))
	for i, a := range args {
		q, err := syntax.Quote(a, syntax.LangBash)
		if err != nil {
			q = a
		}
		words[i] = q
	}
	return strings.Join(words, " ")
}

// eachCommand hands over what r holds, command by command.
func eachCommand(r io.Reader, nul bool, do func(string) error) error {
	end := byte('\n')
	if nul {
		end = 0
	}
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := in.ReadBytes(end)
		if len(line) > 0 {
			line = bytes.TrimSuffix(line, []byte{end})
			if !nul { // a file of Windows; a carriage return anywhere else is looked at
				line = bytes.TrimSuffix(line, []byte{'\r'})
			}
			if doErr := do(string(line)); doErr != nil {
				return doErr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return base.Failed(base.ExitFailed, "reading commands: %w", err)
		}
	}
}

// printExplanation is one command for people: the verdict, the command with its span marked, and
// its effects.
func printExplanation(w io.Writer, a approval.Explanation) error {
	t := base.Table{}
	t.Row(a.Verdict, a.Command)
	if err := t.Write(w); err != nil {
		return err
	}
	if from, to := a.Span[0], a.Span[1]; to > from && to <= len(a.Command) && !strings.ContainsAny(a.Command, "\n\t") {
		pad := len(a.Verdict) + 2 + text.Width(base.OneLine(a.Command[:from]))
		if from > 0 && a.Command[from-1] == ' ' {
			pad++
		}
		if _, err := io.WriteString(w, strings.Repeat(" ", pad)+strings.Repeat("^", max(1, text.Width(base.OneLine(a.Command[from:to]))))+"\n"); err != nil {
			return err
		}
	}
	for _, e := range a.Effects {
		if _, err := io.WriteString(w, "  "+base.OneLine(string(e.Class)+": "+e.Reason)+"\n"); err != nil {
			return err
		}
	}
	if a.Loose != "" {
		_, err := io.WriteString(w, "  looser: "+base.OneLine(a.Loose)+"\n")
		return err
	}
	return nil
}
