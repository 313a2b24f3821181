package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/quarantine"
	"hermes/core/skill"
	"hermes/core/skill/hub"
	"hermes/skills"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// installing is one `hermes skills install`.
type installing struct {
	quarantine.Request
	names    []string // of the skills to take; none takes all
	category string
	yes      bool
	update   bool
	asJSON   bool
	done     []installedJSON
}

// installedJSON is what `hermes skills install --json` prints of each that was chosen and can be
// used.
type installedJSON struct {
	Name    string   `json:"name"` // its key: procedure:NAME is a procedure
	Asks    []string `json:"asks"` // what it brings and asks for, a line each
	Changed bool     `json:"changed"`
	Error   string   `json:"error,omitempty"`
}

func (c *command) skillsInstall() *cobra.Command {
	var in installing
	cmd := &cobra.Command{
		Use: "install <folder, archive or git address> [name...]", Short: "Install skills and procedures from elsewhere, after a look at them", Args: cobra.MinimumNArgs(1),
		Long: `Install skills and procedures from a folder, an archive (.zip, .skill, .tar, .tar.gz, .tgz) or a git repository, after a look at them.

They are fetched into a quarantine, in which nothing runs and no model reads. Each text is scanned; what gives orders to the agent is not
installed. You see what each is, which of its files are programs, which commands a procedure runs, which variables, credential files and servers
it asks for, and are asked. Then the files are copied into the skills folder of the home, as versions that hermes skills undo and history know; where they
came from stands in skills/.hub/lock.json.`,
		Example: `  hermes skills install ./my-skill
  hermes skills install skills.zip review-change
  hermes skills install https://git.example.com/team/skills.git --ref v2 --path skills --category team
  hermes skills install --update ./my-skill`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Source, in.names = args[0], args[1:]
			return c.tellInstalled(&in, c.install(cmd.Context(), &in))
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&in.Ref, "ref", "", "this branch or `tag` of the repository")
	fl.StringVar(&in.Path, "path", "", "look in this `folder` of it")
	fl.StringVar(&in.category, "category", "", "put them into this `folder`, for example devops")
	fl.BoolVar(&in.update, "update", false, "replace skills of the same name that are in the home")
	fl.BoolVarP(&in.yes, "yes", "y", false, "do not ask")
	fl.BoolVar(&in.asJSON, "json", false, "print what was installed as JSON")
	return cmd
}

// tellInstalled prints what came of an installation, where it got that far.
func (c *command) tellInstalled(in *installing, err error) error {
	if !in.asJSON || in.done == nil && err != nil {
		return err
	}
	return errors.Join(base.WriteJSON(c.Streams.Out, append([]installedJSON{}, in.done...), true), err)
}

func (c *command) skillsUpdate() *cobra.Command {
	var all installing
	cmd := &cobra.Command{
		Use: "update [name...]", Short: "Fetch installed skills again from where they came from",
		Long: `Fetch installed skills again from where they came from, as skills/.hub/lock.json says, and install what has changed, after the same look.
Without a name all of them.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			lib, _, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			list, err := quarantine.List(hub.LockPath(lib.Edits.Dir))
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			if len(names) == 0 {
				names = slices.Sorted(maps.Keys(list))
			}
			var failed error
			for _, name := range names {
				if _, ok := list[name]; !ok {
					name = skills.ProcedureKey(name)
				}
				e, ok := list[name]
				if name, _ := skills.SplitKey(name); !ok {
					return base.Failed(base.ExitUsage, "%s was not installed from elsewhere", base.OneLine(name))
				}
				one := installing{
					Request: quarantine.Request{Source: e.Source, Ref: e.Ref, Path: e.Path}, names: []string{name}, yes: all.yes, update: true,
				}
				failed = errors.Join(failed, c.install(cmd.Context(), &one))
				all.done = append(all.done, one.done...)
			}
			return c.tellInstalled(&all, failed)
		},
	}
	cmd.Flags().BoolVarP(&all.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&all.asJSON, "json", false, "print what was installed as JSON")
	return cmd
}

func (c *command) install(ctx context.Context, in *installing) error {
	lib, _, _, err := c.SkillLibrary()
	if err != nil {
		return err
	}
	got, err := hub.Fetch(ctx, lib.Edits.Dir, in.Request)
	if err != nil {
		return base.Failed(base.ExitFailed, "nothing was installed: %w", err)
	}
	defer func() { _ = got.Close() }()
	for _, note := range got.Notes {
		c.Note("%s", base.OneLine(note))
	}
	list, err := chosen(got, in.names)
	if err != nil {
		return base.Failed(base.ExitUsage, "nothing was installed: %w", err)
	}
	good := c.inspect(got.Dir, list)
	if len(good) == 0 {
		return base.Failed(base.ExitFailed, "nothing was installed: none of them can be used")
	}
	if !in.yes {
		ok, err := c.Confirm(fmt.Sprintf("Install %s into %s?", countItems(good), text.Sanitize(lib.Edits.Dir)))
		if err != nil || !ok {
			return err
		}
	}
	failed := len(list) - len(good)
	for _, i := range good {
		changed, err := c.installOne(ctx, lib, got, in, i)
		done := installedJSON{Name: i.Key, Asks: append([]string{}, i.Facts...), Changed: changed}
		if err != nil {
			done.Error = base.OneLine(err.Error())
			c.Note("%s: %s", base.OneLine(i.Name()), done.Error)
			failed++
		}
		in.done = append(in.done, done)
	}
	if failed > 0 {
		return base.Failed(base.ExitFailed, "%d of %d could not be installed", failed, len(list))
	}
	return nil
}

// countItems is how many skills and procedures there are.
func countItems(list []hub.Item) string {
	procedures := 0
	for _, i := range list {
		if _, is := skills.SplitKey(i.Key); is {
			procedures++
		}
	}
	var out []string
	if n := len(list) - procedures; n > 0 {
		out = append(out, text.Count(n, "skill", "skills"))
	}
	if procedures > 0 {
		out = append(out, text.Count(procedures, "procedure", "procedures"))
	}
	return strings.Join(out, " and ")
}

// chosen are those that were named, or all of what came.
func chosen(got *hub.Fetched, names []string) ([]hub.Item, error) {
	list, err := got.Items()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("there is no folder with a SKILL.md in it, and no procedure")
	}
	if len(names) == 0 {
		return list, nil
	}
	var out []hub.Item
	var have []string
	for _, i := range list {
		have = append(have, i.Folder)
		if slices.ContainsFunc(names, i.IsCalled) {
			out = append(out, i)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(out, func(i hub.Item) bool { return i.IsCalled(name) }) {
			return nil, fmt.Errorf("there is no %s in it; there are: %s", name, strings.Join(have, ", "))
		}
	}
	return out, nil
}

// inspect shows what came, and returns what can be used.
func (c *command) inspect(dir string, list []hub.Item) (good []hub.Item) {
	out := func(format string, args ...any) { // places as they are in the source: the copy goes away
		fmt.Fprintln(c.Streams.Err, strings.ReplaceAll(fmt.Sprintf(format, args...), dir+string(filepath.Separator), ""))
	}
	for _, i := range list {
		switch {
		case !i.Usable():
			out("%s: broken", base.OneLine(i.Folder))
			for _, p := range i.Problems {
				out("  %s", base.OneLine(p.Error()))
			}
			continue
		case skills.CheckKey(i.Key) != nil:
			out("%s: %v", base.OneLine(i.Folder), skills.CheckKey(i.Key))
			continue
		case len(i.Hits) > 0:
			out("%s: BLOCKED, it gives orders to the agent", base.OneLine(i.Name()))
			for _, h := range i.Hits {
				out("  %s", base.OneLine(h.String()))
			}
			continue
		}
		good = append(good, i)
		out("%s  %s", base.OneLine(i.Name()), base.OneLine(i.Description))
		for _, fact := range i.Facts {
			out("  %s", base.OneLine(fact))
		}
	}
	return good
}

// installOne copies a skill or procedure file by file through the library, so that each is checked,
// kept and told.
func (c *command) installOne(ctx context.Context, lib *skill.Library, got *hub.Fetched, in *installing, i hub.Item) (changed bool, err error) {
	head, err := i.Text()
	if err != nil {
		return false, err
	}
	from := skills.Provenance{Why: "installed from " + base.OneLine(got.Source)}
	r := skills.Request{Op: skills.Create, Name: i.Key, Category: in.category, Content: string(head)}
	old, there := ownItem(ctx, lib, i.Key)
	if there {
		if !in.update {
			return false, fmt.Errorf("%s is in the home already; --update replaces it", skills.DescribeKey(i.Key))
		}
		r.Op, r.Category = skills.Edit, ""
	}
	if changed, err = c.makeChange(ctx, lib, r, from); err != nil {
		return changed, err
	}
	entry := quarantine.Installed{
		Source: got.Source, Kind: got.Kind, Path: in.Path, Ref: in.Ref, Commit: got.Commit, InstalledAt: time.Now().UTC(), Files: []string{i.Main},
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00", i.Main, head)
	for _, rel := range i.Files {
		body, err := i.Read(rel)
		if err != nil {
			c.Note("%s: %s is left out: %v", base.OneLine(i.Name()), base.OneLine(rel), err)
			continue
		}
		did, err := c.makeChange(ctx, lib, skills.Request{Op: skills.WriteFile, Name: i.Key, File: rel, Content: body}, from)
		if err != nil {
			return changed, fmt.Errorf("%s: %w; what was installed of it stays, `hermes skills remove %s` removes it", rel, err, i.Key)
		}
		changed = changed || did
		entry.Files = append(entry.Files, rel)
		fmt.Fprintf(sum, "%s\x00%s\x00", rel, body)
	}
	for _, rel := range old.Files { // of an older installation, that the new one has not
		if slices.Contains(entry.Files, rel) {
			continue
		}
		did, err := c.makeChange(ctx, lib, skills.Request{Op: skills.RemoveFile, Name: i.Key, File: rel}, from)
		if err != nil {
			return changed, fmt.Errorf("%s: %w", rel, err)
		}
		changed = changed || did
	}
	entry.Hash = hex.EncodeToString(sum.Sum(nil))
	if err := quarantine.Record(hub.LockPath(lib.Edits.Dir), i.Key, entry); err != nil {
		return changed, err
	}
	if !changed {
		c.Note("%s is as it was", i.Name())
		return false, nil
	}
	c.Note("%s is installed; /%s uses it, `hermes skills view %s` shows it", i.Name(), i.Name(), i.Name())
	return true, nil
}

// ownItem is what the home has of a key, of which the files beside it are removed with an update.
func ownItem(ctx context.Context, lib *skill.Library, key string) (old hub.Item, there bool) {
	name, isProcedure := skills.SplitKey(key)
	if isProcedure {
		return old, lib.OwnProcedure(ctx, name) != nil
	}
	if s := lib.Catalog(ctx, "").Find(name); s != nil && s.Source == skills.User {
		return hub.ItemOf(s), true
	}
	return old, false
}

// makeChange carries out r; false says that all was so already.
func (c *command) makeChange(ctx context.Context, lib *skill.Library, r skills.Request, from skills.Provenance) (bool, error) {
	change, err := lib.Plan(ctx, r)
	if errors.Is(err, skills.ErrSame) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	change.From = from
	lib.Changed()
	if err := lib.Apply(change, "user"); err != nil {
		return false, err
	}
	lib.Changed()
	return true, nil
}

func (c *command) skillsExport() *cobra.Command {
	var to string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use: "export <name>", Short: "Write a skill or procedure as an archive that install and other programs read", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.CompleteSkills,
		Example:           "  hermes skills export review-change -o review-change.skill",
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			if p := procedureCalled(cmd.Context(), lib, project, args[0]); p != nil {
				return c.export(hub.ItemOfProcedure(p), to, force, asJSON)
			}
			s, err := c.skillCalled(cmd.Context(), lib, project, args[0])
			if err != nil {
				return err
			}
			return c.export(hub.ItemOf(s), to, force, asJSON)
		},
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "the `file`; - is standard output; else NAME.skill in this folder")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file when there is one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) export(i hub.Item, to string, force, asJSON bool) error {
	if to == "-" {
		left, err := hub.Pack(c.Streams.Out, i)
		return c.exported(left, err)
	}
	if to == "" {
		to = i.Name() + ".skill"
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if force {
		mode = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(to, mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return base.Failed(base.ExitUsage, "%s is there already; --force replaces it", to)
	}
	if err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	left, err := hub.Pack(f, i)
	if err := c.exported(left, errors.Join(err, f.Close())); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	if full, err := filepath.Abs(to); err == nil {
		to = full
	}
	return c.TellDone(c.Streams.Err, asJSON, map[string]any{"name": i.Key, "file": to, "left_out": append([]string{}, left...)}, "%s", to)
}

func (c *command) exported(left []string, err error) error {
	for _, rel := range left {
		c.Note("%s is left out: it is no text", base.OneLine(rel))
	}
	if err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	return nil
}
