package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/audit"
	"hermes/core/event"
	"hermes/core/memory"
	"hermes/core/tool/remember"
	"hermes/ui/cli/base"
)

// memoryStore is the memory of the profile, with the limits of its settings.
func (c *command) memoryStore() (*memory.Store, error) {
	start, err := c.Load()
	if err != nil {
		return nil, err
	}
	core.LearnSecrets(start.Config) // they are refused
	return base.OpenMemory(start.Config), nil
}

// recordMemory tells the audit log what a person did. It is done already, so what fails here is
// only said.
func (c *command) recordMemory(done memory.Change, action event.MemoryAction) {
	start, err := c.Load()
	if err != nil || done.Nothing() || !start.Config.Security.AuditLog {
		return
	}
	if err := audit.Record(start.Config.Paths().AuditDir, remember.Changed(done, action, event.MemoryByPerson)); err != nil {
		c.Note("%v", err)
	}
}

// changeFlags are those of every command that writes.
type changeFlags struct {
	target string
	force  bool
	asJSON bool
}

func (f *changeFlags) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.target, "target", "t", "memory", "`which` memory: memory (MEMORY.md) or user (USER.md)")
	fl.BoolVar(&f.force, "force", false, "keep it although it looks like orders to the agent; such an entry stays out of the prompt")
	fl.BoolVar(&f.asJSON, "json", false, "print what was changed as JSON")
	_ = cmd.RegisterFlagCompletionFunc("target", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"memory\tthe agent's notes", "user\twhat it knows of you"}, cobra.ShellCompDirectiveNoFileComp
	})
}

func (c *command) memoryAdd() *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use: "add [--] TEXT...", Short: "Add an entry; without a text it is read from standard input",
		Example: "  hermes memory add 'The staging server is called vega'\n  hermes memory add -t user 'Prefers short answers'",
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := c.textOf(args)
			if err != nil {
				return err
			}
			return c.applyChange(f, memory.Op{Action: memory.Add, Content: text})
		},
	}
	f.addTo(cmd)
	return cmd
}

func (c *command) textOf(args []string) (string, error) {
	if len(args) > 0 {
		return strings.Join(args, " "), nil
	}
	if base.IsTerminal(c.Streams.In) {
		return "", base.UsageError("write what is to be remembered behind the command")
	}
	data, err := io.ReadAll(io.LimitReader(c.Streams.In, maxScan))
	if err != nil {
		return "", base.Failed(base.ExitFailed, "reading standard input: %w", err)
	}
	return string(data), nil
}

func (c *command) memoryReplace() *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use: "replace OLD NEW", Short: "Replace the one entry that has OLD in it", Args: cobra.ExactArgs(2), ValidArgsFunction: c.completeEntries,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.applyChange(f, memory.Op{Action: memory.Replace, OldText: args[0], Content: args[1]})
		},
	}
	f.addTo(cmd)
	return cmd
}

func (c *command) memoryRemove() *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use: "remove OLD", Aliases: []string{"rm"}, Short: "Remove the one entry that has OLD in it", Args: cobra.ExactArgs(1), ValidArgsFunction: c.completeEntries,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.applyChange(f, memory.Op{Action: memory.Remove, OldText: args[0]})
		},
	}
	f.addTo(cmd)
	return cmd
}

// completeEntries offers the entries of the target.
func (c *command) completeEntries(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	none := cobra.ShellCompDirectiveNoFileComp
	name, err := cmd.Flags().GetString("target")
	if len(args) > 0 || err != nil {
		return nil, none
	}
	t, err := memory.ParseTarget(name)
	if err != nil {
		return nil, none
	}
	s, err := c.memoryStore()
	if err != nil {
		return nil, none
	}
	d, err := s.Load(t)
	if err != nil {
		return nil, none
	}
	var out []string
	for _, e := range d.Entries {
		if first, _, _ := strings.Cut(e.Text, "\n"); strings.HasPrefix(first, prefix) {
			out = append(out, base.OneLine(first))
		}
	}
	return out, none
}

// applyChange applies one operation of a person. What looks like orders is asked about, not
// refused: it is their own text.
func (c *command) applyChange(f changeFlags, op memory.Op) error {
	t, err := memory.ParseTarget(f.target)
	if err != nil {
		return base.UsageError("%v", err)
	}
	s, err := c.memoryStore()
	if err != nil {
		return err
	}
	ops := []memory.Op{op}
	done, err := s.Apply(t, ops, "person", memory.Rules{Anything: f.force})
	if r := memory.AsRefusal(err); r != nil && r.Why == memory.Injected && base.IsTerminal(c.Streams.In) {
		yes, asked := c.Confirm(r.Said() + "\nKeep it all the same? It stays out of the prompt.")
		if asked != nil || !yes {
			return asked
		}
		done, err = s.Apply(t, ops, "person", memory.Rules{Anything: true})
	}
	if err != nil {
		return c.explainRefusal(err)
	}
	c.recordMemory(done, event.MemoryWritten)
	return c.printChanged(done, f.asJSON)
}

// explainRefusal says why nothing was written, with the entries that it is about.
func (c *command) explainRefusal(err error) error {
	r := memory.AsRefusal(err)
	if r == nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	text := r.Said()
	for i, m := range r.Matches {
		text += fmt.Sprintf("\n  %d. %s", i+1, base.Cut(m, 100))
	}
	switch r.Why {
	case memory.Injected:
		text += "; --force keeps it, out of the prompt"
	case memory.Full:
		text += "; remove or shorten entries (`hermes memory edit`), or raise the limit in the settings (memory.memory_char_limit, memory.user_char_limit)"
	case memory.Missing:
		text += "; `hermes memory` shows the entries"
	case memory.Ambiguous, memory.Duplicate, memory.Secret, memory.Malformed, memory.Stale:
	}
	return base.Failed(base.ExitFailed, "%s", text)
}

// changedJSON is what a write did.
type changedJSON struct {
	Target  memory.Target `json:"target"`
	Added   []string      `json:"added"`
	Removed []string      `json:"removed"`
	Notes   []string      `json:"notes,omitempty"`
	Used    int           `json:"used"`
	Limit   int           `json:"limit"`
}

func (c *command) printChanged(done memory.Change, asJSON bool) error {
	if asJSON {
		return base.WriteJSON(c.Streams.Out, changedJSON{done.Target, neverNull(done.Added), neverNull(done.Removed), done.Notes, done.After.Used, done.After.Limit}, true)
	}
	for _, text := range done.Removed {
		fmt.Fprintln(c.Streams.Out, "- "+base.Cut(text, 100))
	}
	for _, text := range done.Added {
		fmt.Fprintln(c.Streams.Out, "+ "+base.Cut(text, 100))
	}
	for _, n := range done.Notes {
		c.Note("%s", n)
	}
	if done.Nothing() {
		c.Note("nothing was changed")
	}
	c.Note("%s: %s", done.Target.File(), done.After.Usage())
	for _, e := range done.After.Blocked() {
		c.Note("line %d is kept out of the prompt: it %s", e.Line, e.Hits[0].Reason)
	}
	return nil
}

// neverNull is s, never null in JSON.
func neverNull(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func (c *command) memoryUndo() *cobra.Command {
	var target string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use: "undo", Short: "Take the last change back; again goes one further back", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t := memory.Target("")
			if target != "" {
				var err error
				if t, err = memory.ParseTarget(target); err != nil {
					return base.UsageError("%v", err)
				}
			}
			s, err := c.memoryStore()
			if err != nil {
				return err
			}
			done, err := s.Undo(t, force)
			if r := memory.AsRefusal(err); r != nil {
				return base.Failed(base.ExitFailed, "%s; --force does it all the same", r.Text)
			}
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			c.recordMemory(done, event.MemoryUndone)
			return c.printChanged(done, asJSON)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&target, "target", "t", "", "`which` memory: memory or user; default: what was changed last")
	fl.BoolVar(&force, "force", false, "also when the file was changed by somebody else since")
	fl.BoolVar(&asJSON, "json", false, "print what was changed as JSON")
	return cmd
}

func (c *command) memoryEdit() *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use: "edit [memory|user]", Short: "Open a file in $EDITOR; what is written is checked, and never lost", Args: cobra.MaximumNArgs(1),
		ValidArgs: []string{"memory", "user"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.target = args[0]
			}
			return c.editMemory(cmd, f)
		},
	}
	f.addTo(cmd)
	return cmd
}

// editMemory lets the editor work on a draft beside the file. A draft that cannot be used stays,
// and the next edit goes on with it.
func (c *command) editMemory(cmd *cobra.Command, f changeFlags) error {
	t, err := memory.ParseTarget(f.target)
	if err != nil {
		return base.UsageError("%v", err)
	}
	s, err := c.memoryStore()
	if err != nil {
		return err
	}
	seen, err := s.Raw(t)
	if err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	draft := s.Path(t) + ".draft"
	if err := c.beginDraft(s, draft, seen); err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	data, err := c.editDraft(cmd, draft, seen)
	if err != nil {
		return err
	}
	if f.asJSON || !bytes.Equal(data, seen) {
		done, err := s.Write(t, seen, data, "person", memory.Rules{Anything: true})
		if err != nil {
			return base.Failed(base.ExitFailed, "%w. Nothing was changed; what you wrote is in %s, and `hermes memory edit %s` goes on with it", err, draft, t)
		}
		c.recordMemory(done, event.MemoryWritten)
		if err := c.printChanged(done, f.asJSON); err != nil {
			return err
		}
	} else {
		c.Note("nothing was changed")
	}
	return os.Remove(draft)
}

// editDraft is the draft after the editor. An old draft that was only looked at is not written over
// what was remembered since.
func (c *command) editDraft(cmd *cobra.Command, draft string, seen []byte) ([]byte, error) {
	begun, err := os.ReadFile(draft)
	if err != nil {
		return nil, base.Failed(base.ExitFailed, "%w", err)
	}
	broken := c.OpenEditor(cmd.Context(), draft)
	data, err := os.ReadFile(draft)
	switch {
	case broken != nil && err == nil && bytes.Equal(data, seen):
		return nil, errors.Join(base.Failed(base.ExitFailed, "%w; nothing was changed", broken), os.Remove(draft))
	case broken != nil:
		return nil, base.Failed(base.ExitFailed, "%w; what you wrote is in %s", broken, draft)
	case err != nil:
		return nil, base.Failed(base.ExitFailed, "%w", err)
	case bytes.Equal(data, begun) && !bytes.Equal(data, seen):
		return nil, base.Failed(base.ExitFailed, "nothing was changed: %s is as it was; mend it, or delete it to begin with the file as it is", draft)
	}
	return data, nil
}

func (c *command) beginDraft(s *memory.Store, draft string, seen []byte) error {
	if _, err := os.Lstat(draft); err == nil {
		c.Note("going on with %s, which could not be used the last time; delete it to begin with the file as it is", draft)
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return err
	}
	return os.WriteFile(draft, seen, 0o600)
}
