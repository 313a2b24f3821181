package sessions

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

func (c *command) sessionsExport() *cobra.Command {
	var format, to string
	cmd := &cobra.Command{
		Use: "export <session>", Short: "Write a session as markdown, json or sharegpt", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := session.Format(format)
			if f != session.Markdown && f != session.JSON && f != session.ShareGPT {
				return base.UsageError("--format %s: choose markdown, json or sharegpt", format)
			}
			return c.WithSession(cmd, args[0], func(ctx context.Context, s client.Sessions, info event.SessionInfo) error {
				if to == "" || to == "-" {
					return s.Export(ctx, info.UID, c.Streams.Out, f)
				}
				if err := exportTo(to, func(w io.Writer) error { return s.Export(ctx, info.UID, w, f) }); err != nil {
					return err
				}
				c.Note("written to %s", to)
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", string(session.Markdown), "markdown, json (import reads it) or sharegpt")
	cmd.Flags().StringVarP(&to, "to", "o", "", "write to this `file`; it must not be there yet")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"markdown", "json", "sharegpt"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// exportTo makes a new file; half an export is removed.
func exportTo(path string, export func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			return base.UsageError("%s is there already; choose another name", path)
		}
		return fmt.Errorf("write %s: %w", path, err)
	}
	w := bufio.NewWriter(file)
	if err = errors.Join(export(w), w.Flush(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func (c *command) sessionsImport() *cobra.Command {
	return &cobra.Command{
		Use:   "import <file>",
		Short: "Take in a JSON export, or the state.db of a Python hermes",
		Long: `Take in a JSON export (- reads it from standard input), or the state.db of a Python hermes, which is only read.
What is here already is left alone, so that an import can be repeated.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.WithSessions(cmd, func(ctx context.Context, s client.Sessions) error { return c.importFrom(ctx, s, args[0]) })
		},
	}
}

func (c *command) importFrom(ctx context.Context, s client.Sessions, path string) error {
	if path == "-" {
		return c.importJSON(ctx, s, c.Streams.In)
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer file.Close()
	r := bufio.NewReader(file)
	head, _ := r.Peek(16)
	if !strings.HasPrefix(string(head), "SQLite format 3") {
		return c.importJSON(ctx, s, r)
	}
	report, err := s.ImportHermes(ctx, path, c.progress())
	if err != nil {
		return err
	}
	for _, p := range report.Problems {
		c.Note("hermes: %s", p)
	}
	_, err = fmt.Fprintf(c.Streams.Out, "imported %s with %s; %d were here already\n",
		text.Count(report.Sessions, "session", "sessions"), text.Count(report.Messages, "message", "messages"), report.Skipped)
	return err
}

// progress shows an advance on a terminal, in place.
func (c *command) progress() func(done, total int) {
	if !base.IsTerminal(c.Streams.Err) {
		return func(int, int) {}
	}
	return func(done, total int) {
		fmt.Fprintf(c.Streams.Err, "\r%d of %d sessions", done, total)
		if done == total {
			fmt.Fprintln(c.Streams.Err)
		}
	}
}

func (c *command) importJSON(ctx context.Context, s client.Sessions, r io.Reader) error {
	list, err := s.Import(ctx, r)
	if err != nil {
		return err
	}
	for _, info := range list {
		if _, err := fmt.Fprintf(c.Streams.Out, "imported %s %s\n", info.UID, base.OneLine(info.Title)); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		c.Note("nothing new: every session of the file is here already")
	}
	return nil
}

func (c *command) sessionsFork() *cobra.Command {
	var at int64
	cmd := &cobra.Command{
		Use: "fork <session>", Short: "Copy a session, to go on in two ways", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.WithSession(cmd, args[0], func(ctx context.Context, s client.Sessions, info event.SessionInfo) error {
				fork, err := s.Fork(ctx, info.UID, at)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.Streams.Out, fork.UID)
				return err
			})
		},
	}
	cmd.Flags().Int64Var(&at, "at", 0, "up to and including the `message` with this id; 0: all")
	return cmd
}

func (c *command) sessionsRename() *cobra.Command {
	return &cobra.Command{
		Use: "rename <session> <title>", Short: "Give a session a title", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.WithSession(cmd, args[0], func(ctx context.Context, s client.Sessions, info event.SessionInfo) error {
				return s.Rename(ctx, info.UID, strings.Join(args[1:], " "))
			})
		},
	}
}

func (c *command) sessionsRemove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm <session>...", Aliases: []string{"delete"}, Short: "Remove sessions for good", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.WithStored(cmd, func(ctx context.Context, app client.Client) error { return c.remove(ctx, app, args, yes) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// remove resolves all before it removes one, so that a wrong name removes nothing.
func (c *command) remove(ctx context.Context, app client.Client, refs []string, yes bool) error {
	list := make([]event.SessionInfo, len(refs))
	for i, ref := range refs {
		info, err := app.History().Resolve(ctx, ref)
		if err != nil {
			return base.Failed(base.ExitUsage, "%w; nothing was removed", err)
		}
		list[i] = info
	}
	for _, info := range list {
		if !yes {
			ok, err := c.Confirm(fmt.Sprintf("Remove %s %q with %s for good?", info.UID, base.OneLine(info.Title), text.Count(info.Messages, "message", "messages")))
			if err != nil || !ok {
				return err
			}
		}
		if err := app.DeleteSession(ctx, info.UID); err != nil {
			return err
		}
		c.Note("removed %s", info.UID)
	}
	return nil
}

func (c *command) sessionsStats() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "stats", Short: "Count what is stored", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.WithSessions(cmd, func(ctx context.Context, s client.Sessions) error {
				stats, err := s.Stats(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return base.WriteJSON(c.Streams.Out, viewStats(stats), true)
				}
				return c.printStats(stats)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) printStats(s session.Stats) error {
	t := base.Table{}
	t.Row("sessions", fmt.Sprintf("%d (%d archived)", s.Sessions, s.Archived))
	t.Row("messages", fmt.Sprint(s.Messages))
	t.Row("tool calls", fmt.Sprint(s.ToolCalls))
	t.Row("tokens", fmt.Sprintf("%d in, %d out", s.Usage.Input, s.Usage.Output))
	if s.Usage.CostKnown {
		t.Row("cost", fmt.Sprintf("$%.4f", float64(s.Usage.Cost)/1e6))
	}
	t.Row("on disk", base.ByteSize(s.Bytes))
	t.Row("from", base.DateTime(s.Oldest)+" to "+base.DateTime(s.Newest))
	for _, group := range []struct {
		name string
		by   map[string]int
	}{{"source", s.BySource}, {"model", s.ByModel}} {
		for _, name := range keysOf(group.by) {
			t.Row(group.name, fmt.Sprintf("%s: %d", cmp.Or(name, "none was asked"), group.by[name]))
		}
	}
	return t.Write(c.Streams.Out)
}

func (c *command) sessionsCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "check", Short: "Examine the database and repair it; exit code 1 when something is still wrong", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := c.examineStore(cmd)
			if cmd.Context().Err() == nil && (err != nil || slices.ContainsFunc(report.Problems, ofTheFile)) {
				for _, p := range report.Problems {
					c.Note("hermes: %s", base.OneLine(p))
				}
				c.Note("hermes: the database is opened again, which repairs it")
				report, err = c.examineStore(cmd)
			}
			if err != nil {
				return err
			}
			if asJSON {
				err = base.WriteJSON(c.Streams.Out, viewCheck(report), true)
			} else {
				err = c.printCheck(report)
			}
			if err == nil && len(report.Problems) > 0 {
				return base.SilentExit(base.ExitFailed)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// ofTheFile reports whether a problem is one of the file, which opening it anew repairs.
func ofTheFile(problem string) bool { return strings.HasPrefix(problem, "database:") }

// examineStore opens the database, which repairs what an earlier look at it found, and looks at all
// of it.
func (c *command) examineStore(cmd *cobra.Command) (report session.CheckReport, err error) {
	err = c.WithSessions(cmd, func(ctx context.Context, s client.Sessions) (err error) {
		report, err = s.Check(ctx)
		return err
	})
	return report, err
}

func (c *command) printCheck(r session.CheckReport) error {
	for _, p := range r.Problems {
		if _, err := fmt.Fprintln(c.Streams.Out, base.OneLine(p)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(c.Streams.Out, "%s checked in %s: %s\n", text.Count(r.Messages, "message", "messages"), r.Took.Round(1e6),
		text.Count(len(r.Problems), "problem", "problems"))
	return err
}
