// Package rollback is the command `hermes rollback`: what the agent changed in files, and taking it
// back.
package rollback

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/checkpoint"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/realpath"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes rollback`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use: "rollback", Aliases: []string{"checkpoints"}, Short: "Look at what a turn changed in your files, and take it back",
		Long: `Look at what a turn changed in your files, and take it back.

Before the first change of a turn the files are kept as they are: those that the agent edits, and, in a git repository, what its
commands change, except what git ignores. A turn is named by its number in the list or by its id. An undo can be undone: it stands
in the list like a turn.`,
		Args: cobra.ArbitraryArgs, RunE: base.Subcommands,
	}
	cmd.AddCommand(c.rollbackList(), c.rollbackShow(), c.rollbackDiff(), c.rollbackUndo())
	return cmd
}

// rollbackFlags are those of all its commands.
type rollbackFlags struct {
	session string
	asJSON  bool
}

func (f *rollbackFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.session, "session", "", "turns of this `session`: its id, the start of it, or its title; default: the one that changed files last")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// kept is the store and the records of the session that is meant, the oldest first.
func (c *command) kept(cmd *cobra.Command, f rollbackFlags) (*checkpoint.Store, []*checkpoint.Record, error) {
	start, err := c.Load()
	if err != nil {
		return nil, nil, err
	}
	core.LearnSecrets(start.Config) // they are hidden in what is shown
	store := core.OpenCheckpoints(start.Config)
	all, err := store.List("")
	if err != nil {
		return nil, nil, base.Failed(base.ExitFailed, "%w", err)
	}
	uid, err := c.rollbackSession(cmd, f.session, all)
	if err != nil || uid == "" {
		return store, nil, err
	}
	var out []*checkpoint.Record
	for _, r := range all {
		if r.Session == uid {
			out = append(out, r)
		}
	}
	return store, out, nil
}

// rollbackSession finds a session by its id among those that have records, which takes no database;
// by its title in it.
func (c *command) rollbackSession(cmd *cobra.Command, ref string, all []*checkpoint.Record) (string, error) {
	found := map[string]bool{}
	for _, r := range all {
		if ref == "" || ref == "last" {
			clear(found)
		}
		if ref == "" || ref == "last" || strings.HasPrefix(r.Session, ref) {
			found[r.Session] = true
		}
	}
	switch {
	case len(found) == 1:
		for uid := range found {
			return uid, nil
		}
	case len(found) > 1:
		return "", base.UsageError("--session %s: %d sessions begin like this; write more of the id", ref, len(found))
	case ref == "" || ref == "last":
		return "", nil
	}
	var uid string
	err := c.WithSession(cmd, ref, func(_ context.Context, _ client.Sessions, info event.SessionInfo) error {
		uid = info.UID
		return nil
	})
	return uid, err
}

func (c *command) rollbackList() *cobra.Command {
	var f rollbackFlags
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the turns that changed files", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, records, err := c.kept(cmd, f)
			if err != nil {
				return err
			}
			if f.asJSON {
				return base.WriteJSON(c.Streams.Out, append([]*checkpoint.Record{}, records...), true)
			}
			if len(records) == 0 {
				c.Note("no turn has changed files, or checkpoints are off (checkpoints.enabled)")
				return nil
			}
			t := base.Table{Head: []string{"TURN", "ID", "WHEN", "PATHS", "STATE", "WHAT"}}
			for _, r := range records {
				t.Row(strconv.Itoa(r.Number), r.ID, base.DateTime(r.Began), strconv.Itoa(len(r.Files)), r.Standing(), base.Cut(r.Title(), 60))
			}
			return t.Write(c.Streams.Out)
		},
	}
	f.add(cmd)
	return cmd
}

// record is the one that a number or an id names; "" names the newest turn that was not taken back.
func record(records []*checkpoint.Record, ref string) (*checkpoint.Record, error) {
	r := checkpoint.Find(records, ref)
	switch {
	case r != nil:
		return r, nil
	case ref == "":
		return nil, base.Failed(base.ExitFailed, "no turn has changed files that were not put back already")
	}
	return nil, base.UsageError("no turn %s; `hermes rollback list` shows them", ref)
}

func (c *command) rollbackShow() *cobra.Command {
	var f rollbackFlags
	cmd := &cobra.Command{
		Use: "show [turn]", Short: "Show which files a turn changed", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, r, err := c.oneRecord(cmd, f, args)
			if err != nil {
				return err
			}
			if f.asJSON {
				return base.WriteJSON(c.Streams.Out, r, true)
			}
			t := base.Table{}
			t.Row("turn", fmt.Sprintf("%d (%s)", r.Number, r.ID))
			t.Row("session", r.Session)
			t.Row("when", base.DateTime(r.Began))
			t.Row("what", r.Title())
			t.Row("state", r.Standing())
			for _, n := range r.Notes {
				t.Row("note", n)
			}
			if err := t.Write(c.Streams.Out); err != nil {
				return err
			}
			return c.printChanges(store.Diff(r), false)
		},
	}
	f.add(cmd)
	return cmd
}

func (c *command) oneRecord(cmd *cobra.Command, f rollbackFlags, args []string) (*checkpoint.Store, *checkpoint.Record, error) {
	store, records, err := c.kept(cmd, f)
	if err != nil {
		return nil, nil, err
	}
	ref := ""
	if len(args) > 0 {
		ref = args[0]
	}
	r, err := record(records, ref)
	return store, r, err
}

func (c *command) printChanges(diffs []checkpoint.Diff, whole bool) error {
	t := base.Table{}
	for _, d := range diffs {
		if whole && d.Unified != "" {
			if _, err := fmt.Fprint(c.Streams.Out, text.Sanitize(d.Unified)); err != nil {
				return err
			}
			continue
		}
		line := d.Summary
		if d.Unified != "" {
			line += fmt.Sprintf(" (+%d -%d)", d.Added, d.Removed)
		}
		t.Row("  "+string(d.Path), line)
	}
	return t.Write(c.Streams.Out)
}

func (c *command) rollbackDiff() *cobra.Command {
	var f rollbackFlags
	cmd := &cobra.Command{
		Use: "diff [turn] [file]...", Short: "Show what a turn changed, line by line",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, r, err := c.oneRecord(cmd, f, args)
			if err != nil {
				return err
			}
			var files []string
			if len(args) > 1 {
				files = absolute(args[1:])
			}
			diffs := store.Diff(r)
			if len(files) > 0 {
				diffs = checkpoint.Only(diffs, files)
			}
			if f.asJSON {
				return base.WriteJSON(c.Streams.Out, append([]checkpoint.Diff{}, diffs...), true)
			}
			return c.printChanges(diffs, true)
		},
	}
	f.add(cmd)
	return cmd
}

// absolute is files as records know them: folders resolved, a link itself not; those of back ends
// as they are written.
func absolute(files []string) []string {
	out := make([]string, len(files))
	for i, name := range files {
		if _, _, far := checkpoint.SplitFar(name); far {
			out[i] = name
			continue
		}
		abs, err := filepath.Abs(name)
		if err != nil {
			abs = name
		}
		dir, err := realpath.Resolve(filepath.Dir(abs))
		if err != nil {
			dir = filepath.Dir(abs)
		}
		out[i] = filepath.Join(dir, filepath.Base(abs))
	}
	return out
}

// undoFlags are those of `rollback undo`.
type undoFlags struct {
	rollbackFlags
	turn, since   string
	force, dryRun bool
}

func (c *command) rollbackUndo() *cobra.Command {
	var f undoFlags
	cmd := &cobra.Command{
		Use: "undo [file]...", Short: "Put files back as they were before a turn",
		Long: `Put files back as they were before a turn: all that it changed, or only the files that are named.

A file that somebody else changed since is a conflict: nothing is changed then, unless --force is given.`,
		Example: `  hermes rollback undo --dry-run
  hermes rollback undo --turn 3 src/main.go
  hermes rollback undo --since 3`,
		RunE: func(cmd *cobra.Command, files []string) error { return c.undo(cmd, f, files) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.turn, "turn", "", "the `turn`; default: the newest one that was not taken back")
	fl.StringVar(&f.since, "since", "", "this `turn` and all after it")
	fl.BoolVar(&f.force, "force", false, "also put back what somebody else changed since")
	fl.BoolVarP(&f.dryRun, "dry-run", "n", false, "say what would be done, change nothing")
	cmd.MarkFlagsMutuallyExclusive("turn", "since")
	return cmd
}

func (c *command) undo(cmd *cobra.Command, f undoFlags, files []string) error {
	store, records, err := c.kept(cmd, f.rollbackFlags)
	if err != nil {
		return err
	}
	ref := f.turn
	if f.since != "" {
		ref = f.since
	}
	r, err := record(records, ref)
	if err != nil {
		return err
	}
	ids := []string{r.ID}
	if f.since != "" {
		ids = checkpoint.Since(records, r)
	}
	chosen := checkpoint.Selection{Records: ids, Files: absolute(files)}
	if slices.ContainsFunc(records, func(r *checkpoint.Record) bool { return slices.Contains(ids, r.ID) && r.AnyFar() }) {
		return c.WithStored(cmd, func(ctx context.Context, app client.Client) error { // its back ends are asked
			return c.putBack(ctx, app.Checkpointed(), f, chosen)
		})
	}
	return c.putBack(cmd.Context(), store, f, chosen)
}

// putBack plans an undo and carries it out.
func (c *command) putBack(ctx context.Context, store *checkpoint.Store, f undoFlags, chosen checkpoint.Selection) error {
	plan, err := store.Plan(ctx, chosen)
	if err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	if f.dryRun {
		return c.printPlan(plan, f.asJSON)
	}
	done, err := store.Undo(ctx, plan, f.force)
	if errors.Is(err, checkpoint.ErrConflict) {
		err = fmt.Errorf("%w (--force)", err)
	}
	if done != nil {
		err = errors.Join(err, c.printDone(done, f.asJSON))
	}
	if err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	return nil
}

func (c *command) printPlan(p *checkpoint.Plan, asJSON bool) error {
	if asJSON {
		return base.WriteJSON(c.Streams.Out, p, true)
	}
	t := base.Table{}
	for _, st := range p.Steps {
		why := st.Conflict
		if st.Impossible != "" {
			why = "cannot be: " + st.Impossible
		} else if why != "" {
			why = "conflict: " + why
		}
		t.Row(st.Action(), string(st.Path), why)
	}
	if len(p.Steps) == 0 {
		c.Note("%v", checkpoint.ErrNothing)
	}
	for _, n := range p.Notes {
		c.Note("%s", base.OneLine(n))
	}
	return t.Write(c.Streams.Out)
}

func (c *command) printDone(r *checkpoint.Record, asJSON bool) error {
	if asJSON {
		return base.WriteJSON(c.Streams.Out, r, true)
	}
	t := base.Table{}
	for _, f := range r.Files {
		t.Row("put back", string(f.Path))
	}
	for _, n := range r.Notes {
		c.Note("%s", base.OneLine(n))
	}
	if err := t.Write(c.Streams.Out); err != nil {
		return err
	}
	c.Note("%s put back; `hermes rollback undo --session %s --turn %s` undoes this", text.Count(len(r.Files), "path", "paths"), r.Session, r.ID)
	return nil
}
