// Package spent is the command `hermes usage`: what model calls used and cost.
package spent

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/agent"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/store"
	"hermes/ui/cli/base"
)

// Command makes `hermes usage`.
func Command(c *base.Command) *cobra.Command {
	var session, since string
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use: "usage", Short: "What model calls used and cost: by day, model, session and turn",
		Long: `What model calls used and cost: by day, model, session and turn.

With --session it also tells what the next model call of that session is made of. Costs are those that a server told, or the prices of
the catalogue and of your settings; calls without a known price are counted beside. Of what was read, "cached" came from a provider's
cache, and "to cache" was written to one; of what was written, "thought" was reasoning. What deleted sessions used stays in the sums.`,
		Example: "  hermes usage\n  hermes usage --since 30d --json\n  hermes usage --session last",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := base.ParseWhen(since, time.Now())
			if err != nil {
				return err
			}
			return c.WithStored(cmd, func(ctx context.Context, app client.Client) error {
				var info event.SessionInfo
				if session != "" {
					if info, err = app.History().Resolve(ctx, session); err != nil {
						return base.Failed(base.ExitUsage, "%w", err)
					}
				}
				r, err := client.UsageOf(ctx, app, info.UID, from, limit)
				r.Title = info.Title
				switch {
				case err != nil:
					return err
				case asJSON:
					return base.WriteJSON(c.Streams.Out, r, true)
				default:
					return printSpent(c.Streams.Out, r)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&session, "session", "", "only this `session`: its id, the start of it, its title, or last")
	f.StringVar(&since, "since", "", "not older than: 2026-11-21, or 7d, 12h")
	f.IntVarP(&limit, "limit", "n", 10, "at most so many lines a list")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printSpent(w io.Writer, r client.UsageReport) error {
	if r.Session != "" {
		if _, err := fmt.Fprintf(w, "session %s  %s\n\n", r.Session, base.OneLine(r.Title)); err != nil {
			return err
		}
		if err := printComposition(w, *r.Composition); err != nil {
			return err
		}
	}
	t := base.Table{Head: []string{"", "calls", "read", "cached", "to cache", "written", "thought", "cost", ""}}
	group := func(name string, rows []store.UsageRow, key func(store.UsageRow) string) {
		for i, row := range rows {
			if i == 0 {
				t.Row("", "", "", "", "", "", "", "", "")
				t.Row(strings.ToUpper(name[:1]) + name[1:])
			}
			addRow(&t, key(row), row)
		}
	}
	addRow(&t, "all", r.Total)
	addRow(&t, "today", r.Today)
	byKey := func(row store.UsageRow) string { return "  " + base.Cut(row.Key, 40) }
	group("days", r.Days, byKey)
	group("models", r.Models, byKey)
	if len(r.Purposes) > 1 || len(r.Purposes) == 1 && r.Purposes[0].Key != "" {
		group("purposes", r.Purposes, func(row store.UsageRow) string { return "  " + client.PurposeName(row.Key) })
	}
	group("sessions", r.Sessions, func(row store.UsageRow) string {
		return "  " + client.SessionName(base.Cut(row.Key, 24), base.Cut(row.Name, 40))
	})
	group("turns", r.Turns, func(row store.UsageRow) string { return "  " + base.Cut(row.Name, 40) })
	return t.Write(w)
}

// addRow adds a row of sums.
func addRow(t *base.Table, name string, r store.UsageRow) {
	u := r.Usage
	t.Row(name, fmt.Sprint(r.Calls), fmt.Sprint(u.Input), client.CacheRate(u), fmt.Sprint(u.Written), fmt.Sprint(u.Output), fmt.Sprint(u.Reasoning), client.CostWords(r))
}

func printComposition(w io.Writer, m agent.Composition) error {
	t := base.Table{Head: []string{"next call", "tokens", ""}}
	for _, s := range m.Shares {
		t.Row("  "+client.ShareName(s.Name), fmt.Sprint(s.Tokens), fmt.Sprintf("%d%%", s.Tokens*100/max(m.Tokens, 1)))
	}
	t.Row("  all, estimated", fmt.Sprint(m.Tokens), windowShare(m.Tokens, m.Window))
	if m.Counted > 0 {
		t.Row("  last call, counted", fmt.Sprint(m.Counted), windowShare(m.Counted, m.Window))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func windowShare(tokens, window int) string {
	if window <= 0 {
		return "the window is not known"
	}
	return fmt.Sprintf("%d%% of %d", tokens*100/window, window)
}
