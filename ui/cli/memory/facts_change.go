package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/recall"
	"hermes/ui/cli/base"
)

func (c *command) facts() *cobra.Command {
	var l recall.Listing
	var asJSON bool
	cmd := &cobra.Command{
		Use: "facts [TEXT]", Short: "List what is in long-term memory, newest first", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				l.Text = args[0]
			}
			return c.withFacts(func(ctx context.Context, s *recall.Store) error {
				all, err := s.List(ctx, l)
				if err != nil {
					return base.Failed(base.ExitFailed, "%w", err)
				}
				if asJSON {
					return base.WriteJSON(c.Streams.Out, append([]recall.Item{}, all...), true)
				}
				switch {
				case len(all) == 0 && l.Text != "":
					fmt.Fprintf(c.Streams.Out, "Nothing that is remembered has %q in it.\n", l.Text)
				case len(all) == 0:
					fmt.Fprintln(c.Streams.Out, "Nothing is remembered.")
				}
				for _, it := range all {
					c.printFact(it, "")
				}
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&l.Replaced, "replaced", false, "also those that a newer fact replaced")
	fl.IntVarP(&l.Limit, "limit", "n", 50, "most `facts` shown; 0 shows all")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// byID makes a command that does something to one fact.
func (c *command) byID(use, short, done string, do func(ctx context.Context, s *recall.Store, id int64) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	asJSON := base.JSONFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		id, err := factID(args[0])
		if err != nil {
			return err
		}
		return c.withFacts(func(ctx context.Context, s *recall.Store) error {
			if err := do(ctx, s, id); err != nil {
				return factError(id, err)
			}
			it, err := s.Get(ctx, id)
			if err != nil {
				return factError(id, err)
			}
			return c.TellDone(c.Streams.Out, *asJSON, it, done, id)
		})
	}
	return cmd
}

func factID(arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, base.UsageError("%q is no number of a fact: `hermes memory facts` shows them", arg)
	}
	return id, nil
}

func factError(id int64, err error) error {
	if errors.Is(err, recall.ErrNotFound) {
		return base.Failed(base.ExitFailed, "there is no fact %d: `hermes memory facts` shows what there is", id)
	}
	return base.Failed(base.ExitFailed, "%w", err)
}

func (c *command) pin() *cobra.Command {
	return c.byID("pin NUMBER", "Keep a fact for ever", "Number %d is pinned.", func(ctx context.Context, s *recall.Store, id int64) error {
		return s.Pin(ctx, id, true)
	})
}

func (c *command) unpin() *cobra.Command {
	return c.byID("unpin NUMBER", "Let a pinned fact expire again", "Number %d is no longer pinned.", func(ctx context.Context, s *recall.Store, id int64) error {
		return s.Pin(ctx, id, false)
	})
}

func (c *command) useful() *cobra.Command {
	return c.byID("useful NUMBER", "Say that a fact helped: it counts as used", "Number %d counts as used today.", func(ctx context.Context, s *recall.Store, id int64) error {
		if _, err := s.Get(ctx, id); err != nil {
			return err
		}
		return s.Use(ctx, "person "+time.Now().Format(time.DateOnly), id)
	})
}

func (c *command) amend() *cobra.Command {
	cmd := &cobra.Command{Use: "amend NUMBER VALUE", Short: "Give a fact another value; the old one is kept as replaced", Args: cobra.ExactArgs(2)}
	asJSON := base.JSONFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		id, err := factID(args[0])
		if err != nil {
			return err
		}
		return c.withFacts(func(ctx context.Context, s *recall.Store) error {
			done, err := s.Edit(ctx, id, args[1])
			if err != nil {
				return factError(id, err)
			}
			return c.TellDone(c.Streams.Out, *asJSON, storedJSON(done), "Stored as number %d, in place of number %d.", done.ID, done.Replaced)
		})
	}
	return cmd
}

// storedJSON is what a command says of a fact that it stored.
func storedJSON(done recall.Stored) map[string]any {
	return map[string]any{"id": done.ID, "replaced": done.Replaced, "same": done.Same}
}

func (c *command) forget() *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "forget NUMBER...", Short: "Remove facts for good, with what they had replaced", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ids := make([]int64, len(args))
			for i, arg := range args {
				var err error
				if ids[i], err = factID(arg); err != nil {
					return err
				}
			}
			return c.withFacts(func(ctx context.Context, s *recall.Store) error {
				for _, id := range ids {
					it, err := s.Get(ctx, id)
					if err != nil {
						return factError(id, err)
					}
					if !asJSON {
						c.printFact(it, "")
					}
				}
				if !yes {
					if agreed, err := c.Confirm("Forget this for good?"); err != nil || !agreed {
						return err
					}
				}
				gone, err := s.Forget(ctx, ids...)
				if err != nil {
					return base.Failed(base.ExitFailed, "%w", err)
				}
				return c.TellDone(c.Streams.Out, asJSON, map[string]any{"forgotten": append([]recall.Item{}, gone...)}, "%d forgotten.", len(gone))
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) export() *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "Print long-term memory as JSON lines, which store --lines reads", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return c.withFacts(func(ctx context.Context, s *recall.Store) error {
				all, err := s.List(ctx, recall.Listing{})
				if err != nil {
					return base.Failed(base.ExitFailed, "%w", err)
				}
				for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
					all[i], all[j] = all[j], all[i]
				}
				return recall.WriteLines(c.Streams.Out, all)
			})
		},
	}
}

func (c *command) cleanup() *cobra.Command {
	var days int
	var asJSON bool
	var clean recall.Cleanup
	cmd := &cobra.Command{
		Use: "cleanup", Short: "Remove facts that are old and were not used, after an export", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if days < 1 {
				return base.UsageError("--max-age-days %d: at least 1", days)
			}
			clean.MaxAge = time.Duration(days) * 24 * time.Hour
			return c.withFacts(func(ctx context.Context, s *recall.Store) error {
				gone, exported, err := s.CleanUp(ctx, clean)
				if err != nil {
					return base.Failed(base.ExitFailed, "%w", err)
				}
				words := "Nothing is old enough."
				switch {
				case len(gone) == 0:
				case clean.DryRun:
					words = fmt.Sprintf("%d would go.", len(gone))
				default:
					words = fmt.Sprintf("%d removed. They are kept in %s", len(gone), exported)
				}
				return c.TellDone(c.Streams.Out, asJSON, map[string]any{
					"gone": append([]recall.Item{}, gone...), "export": exported, "dry_run": clean.DryRun,
				}, "%s", words)
			})
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	fl.IntVar(&days, "max-age-days", 90, "`days` after which a fact is old")
	fl.BoolVar(&clean.KeepUsed, "keep-frequently-accessed", true, "keep old facts that were used within that time")
	fl.BoolVarP(&clean.DryRun, "dry-run", "n", false, "only say what would go")
	return cmd
}
