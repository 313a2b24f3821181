// Package audit is the command `hermes audit`: what was done, as the audit log holds it.
package audit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/audit"
	"hermes/ui/cli/base"
)

// auditFlags choose entries and their form.
type auditFlags struct {
	filter       audit.Filter
	since, until string
	limit        int
	asJSON       bool
	verify       bool
}

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes audit`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	var f auditFlags
	cmd := &cobra.Command{
		Use: "audit", Short: "Show what the agent was allowed to do and did",
		Long: `Show what the agent was allowed to do and did: who approved what, why, what ran where and how it ended.

The record is logs/audit in the home, one JSON object a line. Each line holds the hash of the one before it: --verify finds lines that were
changed, removed or put in.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.audit(f) },
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.limit, "limit", "n", 100, "the newest so many; 0: all")
	fl.StringVar(&f.filter.Session, "session", "", "only of the session whose id begins so")
	fl.StringVar(&f.filter.What, "what", "", "only: start, ask, decide, end, process, backend, select, settings, memory")
	fl.StringVar(&f.filter.Backend, "backend", "", "only in this back end")
	fl.StringVar(&f.filter.Text, "grep", "", "only with this text in the command, the effects or the reason")
	fl.StringVar(&f.since, "since", "", "not older than: 2026-11-21, or 7d, 12h")
	fl.StringVar(&f.until, "until", "", "not newer than")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object a line, as it is recorded")
	fl.BoolVar(&f.verify, "verify", false, "check the whole record instead of showing it")
	return cmd
}

func (c *command) audit(f auditFlags) error {
	paths, err := c.Paths()
	if err != nil {
		return err
	}
	if f.verify {
		return c.auditVerify(paths.AuditDir)
	}
	now := time.Now()
	if f.filter.Since, err = base.ParseWhen(f.since, now); err != nil {
		return err
	}
	if f.filter.Until, err = base.ParseWhen(f.until, now); err != nil {
		return err
	}
	var list []audit.Entry
	err = audit.Read(paths.AuditDir, f.filter, func(e audit.Entry) error {
		list = append(list, e)
		if f.limit > 0 && len(list) > 2*f.limit {
			list = append(list[:0], list[len(list)-f.limit:]...)
		}
		return nil
	})
	if err != nil {
		return base.Failed(base.ExitFailed, "audit log: %w", err)
	}
	if f.limit > 0 && len(list) > f.limit {
		list = list[len(list)-f.limit:]
	}
	if len(list) == 0 {
		c.Note("nothing is recorded that fits; the record is in %s", paths.AuditDir)
		return nil
	}
	return c.auditPrint(list, f.asJSON)
}

func (c *command) auditPrint(list []audit.Entry, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(c.Streams.Out)
		for _, e := range list {
			if err := out.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
	t := base.Table{Head: []string{"TIME", "SESSION", "WHAT", "WHERE", "DETAIL"}}
	for _, e := range list {
		t.Row(e.At.Local().Format("2006-01-02 15:04:05"), base.Cut(e.Session, 12), e.What, e.Backend, auditDetail(e))
	}
	return t.Write(c.Streams.Out)
}

// auditDetail is what matters of an entry, in one line.
func auditDetail(e audit.Entry) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if e.Tool != "" {
		add("%s", e.Tool)
	}
	if e.Gist != "" {
		add("%s", base.Cut(e.Gist, 100))
	}
	if e.Decision != "" {
		add("%s by %s", e.Decision, e.By)
	}
	if len(e.Effects) > 0 {
		add("(%s)", base.Cut(strings.Join(e.Effects, "; "), 80))
	}
	if e.Reason != "" {
		add("because: %s", base.Cut(e.Reason, 80))
	}
	if e.ExitCode != nil {
		add("exit %s", strconv.Itoa(*e.ExitCode))
	}
	if e.Failed {
		add("failed")
	}
	if len(e.Files) > 0 {
		add("changed %s", base.Cut(strings.Join(e.Files, ", "), 80))
	}
	if e.Lost > 0 {
		add("%d events were lost", e.Lost)
	}
	return strings.Join(parts, " ")
}

func (c *command) auditVerify(dir string) error {
	count, breaks, err := audit.Verify(dir)
	if err != nil {
		return base.Failed(base.ExitFailed, "audit log: %w", err)
	}
	for _, b := range breaks {
		fmt.Fprintln(c.Streams.Out, base.OneLine(b.String()))
	}
	if len(breaks) > 0 {
		return base.SilentExit(base.ExitFailed)
	}
	fmt.Fprintf(c.Streams.Out, "%d entries, each follows the one before it\n", count)
	return nil
}
