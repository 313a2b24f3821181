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
}

func (c *command) skillsInstall() *cobra.Command {
	var in installing
	cmd := &cobra.Command{
		Use: "install <folder, archive or git address> [name...]", Short: "Install skills from elsewhere, after a look at them", Args: cobra.MinimumNArgs(1),
		Long: `Install skills from a folder, an archive (.zip, .skill, .tar, .tar.gz, .tgz) or a git repository, after a look at them.

They are fetched into a quarantine, in which nothing runs and no model reads. Each text is scanned; what gives orders to the agent is not
installed. You see what each skill is, which of its files are programs, which variables, credential files and servers it asks for, and
are asked. Then the files are copied into the skills folder of the home, as versions that hermes skills undo and history know; where they
came from stands in skills/.hub/lock.json.`,
		Example: `  hermes skills install ./my-skill
  hermes skills install skills.zip review-change
  hermes skills install https://git.example.com/team/skills.git --ref v2 --path skills --category team
  hermes skills install --update ./my-skill`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Source, in.names = args[0], args[1:]
			return c.install(cmd.Context(), in)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&in.Ref, "ref", "", "this branch or `tag` of the repository")
	fl.StringVar(&in.Path, "path", "", "look in this `folder` of it")
	fl.StringVar(&in.category, "category", "", "put them into this `folder`, for example devops")
	fl.BoolVar(&in.update, "update", false, "replace skills of the same name that are in the home")
	fl.BoolVarP(&in.yes, "yes", "y", false, "do not ask")
	return cmd
}

func (c *command) skillsUpdate() *cobra.Command {
	var yes bool
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
				e, ok := list[name]
				if !ok {
					return base.Failed(base.ExitUsage, "%s was not installed from elsewhere", base.OneLine(name))
				}
				failed = errors.Join(failed, c.install(cmd.Context(), installing{
					Request: quarantine.Request{Source: e.Source, Ref: e.Ref, Path: e.Path}, names: []string{name}, yes: yes, update: true,
				}))
			}
			return failed
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (c *command) install(ctx context.Context, in installing) error {
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
		ok, err := c.Confirm(fmt.Sprintf("Install %s into %s?", base.Count(len(good), "skill", "skills"), text.Sanitize(lib.Edits.Dir)))
		if err != nil || !ok {
			return err
		}
	}
	failed := len(list) - len(good)
	for _, s := range good {
		if err := c.installOne(ctx, lib, got, in, s); err != nil {
			c.Note("%s: %v", base.OneLine(s.Name), err)
			failed++
		}
	}
	if failed > 0 {
		return base.Failed(base.ExitFailed, "%s not installed", base.Count(failed, "skill was", "skills were"))
	}
	return nil
}

// chosen are the skills that were named, or all of what came.
func chosen(got *hub.Fetched, names []string) ([]*skills.Skill, error) {
	list, err := got.Skills()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("there is no folder with a SKILL.md in it")
	}
	if len(names) == 0 {
		return list, nil
	}
	var out []*skills.Skill
	var have []string
	for _, s := range list {
		have = append(have, s.Folder())
		if slices.Contains(names, s.Name) || slices.Contains(names, s.Folder()) {
			out = append(out, s)
		}
	}
	if len(out) < len(names) {
		return nil, fmt.Errorf("not all of these are in it; there are: %s", strings.Join(have, ", "))
	}
	return out, nil
}

// inspect shows what came, and returns what can be used.
func (c *command) inspect(dir string, list []*skills.Skill) (good []*skills.Skill) {
	out := func(format string, args ...any) { // places as they are in the source: the copy goes away
		fmt.Fprintln(c.Streams.Err, strings.ReplaceAll(fmt.Sprintf(format, args...), dir+string(filepath.Separator), ""))
	}
	for _, s := range list {
		hits := skill.CheckAll(s)
		switch {
		case !s.Usable():
			out("%s: broken", s.Folder())
			for _, p := range s.Problems {
				out("  %s", base.OneLine(p.Error()))
			}
			continue
		case skills.CheckName(s.Name) != nil:
			out("%s: %v", s.Folder(), skills.CheckName(s.Name))
			continue
		case len(hits) > 0:
			out("%s: BLOCKED, it gives orders to the agent", base.OneLine(s.Name))
			for _, h := range hits {
				out("  %s", base.OneLine(h.String()))
			}
			continue
		}
		good = append(good, s)
		out("%s  %s", base.OneLine(s.Name), base.OneLine(s.Description))
		for _, fact := range asksFor(s) {
			out("  %s", base.OneLine(fact))
		}
	}
	return good
}

// asksFor says what a skill brings and wants, a line each.
func asksFor(s *skills.Skill) (out []string) {
	var programs, others []string
	for _, f := range s.Files() {
		if strings.HasPrefix(f, "scripts/") {
			programs = append(programs, f)
		} else {
			others = append(others, f)
		}
	}
	vars := make([]string, len(s.Env))
	for i, v := range s.Env {
		vars[i] = v.Name
	}
	for _, fact := range []struct {
		what string
		list []string
	}{
		{"programs", programs},
		{"files", others},
		{"asks for variables", vars},
		{"asks for credential files", s.Credentials},
		{"works with servers", s.Servers},
		{"needs toolsets", s.Requires.Toolsets},
		{"needs tools", s.Requires.Tools},
	} {
		if len(fact.list) > 0 {
			out = append(out, fact.what+": "+strings.Join(fact.list, ", "))
		}
	}
	return out
}

// installOne copies a skill file by file through the library, so that each is checked, kept and
// told.
func (c *command) installOne(ctx context.Context, lib *skill.Library, got *hub.Fetched, in installing, s *skills.Skill) error {
	head, err := s.Raw()
	if err != nil {
		return err
	}
	from := skills.Provenance{Why: "installed from " + base.OneLine(got.Source)}
	r := skills.Request{Op: skills.Create, Name: s.Name, Category: in.category, Content: string(head)}
	old := lib.Catalog(ctx, "").Find(s.Name)
	if old != nil && old.Source == skills.User {
		if !in.update {
			return errors.New("there is a skill of this name in the home; --update replaces it")
		}
		r.Op, r.Category = skills.Edit, ""
	}
	changed, err := c.makeChange(ctx, lib, r, from)
	if err != nil {
		return err
	}
	entry := quarantine.Installed{
		Source: got.Source, Kind: got.Kind, Path: in.Path, Ref: in.Ref, Commit: got.Commit, InstalledAt: time.Now().UTC(), Files: []string{skills.File},
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00", skills.File, head)
	for _, rel := range s.Files() {
		body, err := s.Read(rel)
		if err != nil {
			c.Note("%s: %s is left out: %v", base.OneLine(s.Name), base.OneLine(rel), err)
			continue
		}
		did, err := c.makeChange(ctx, lib, skills.Request{Op: skills.WriteFile, Name: s.Name, File: rel, Content: body}, from)
		if err != nil {
			return fmt.Errorf("%s: %w; what was installed of it stays, `hermes skills remove %s` removes it", rel, err, s.Name)
		}
		changed = changed || did
		entry.Files = append(entry.Files, rel)
		fmt.Fprintf(sum, "%s\x00%s\x00", rel, body)
	}
	gone, err := c.removeOthers(ctx, lib, old, entry.Files, from)
	if err != nil {
		return err
	}
	changed = changed || gone
	entry.Hash = hex.EncodeToString(sum.Sum(nil))
	if err := quarantine.Record(hub.LockPath(lib.Edits.Dir), s.Name, entry); err != nil {
		return err
	}
	if !changed {
		c.Note("%s is as it was", s.Name)
		return nil
	}
	c.Note("%s is installed; /%s uses it, `hermes skills view %s` shows it", s.Name, s.Name, s.Name)
	return nil
}

// removeOthers removes the files of an older installation that the new one has not.
func (c *command) removeOthers(ctx context.Context, lib *skill.Library, old *skills.Skill, stay []string, from skills.Provenance) (bool, error) {
	if old == nil || old.Source != skills.User {
		return false, nil
	}
	removed := false
	for _, rel := range old.Files() {
		if slices.Contains(stay, rel) {
			continue
		}
		did, err := c.makeChange(ctx, lib, skills.Request{Op: skills.RemoveFile, Name: old.Name, File: rel}, from)
		if err != nil {
			return removed, fmt.Errorf("%s: %w", rel, err)
		}
		removed = removed || did
	}
	return removed, nil
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
	var force bool
	cmd := &cobra.Command{
		Use: "export <name>", Short: "Write a skill as an archive that install and other programs read", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.CompleteSkills,
		Example:           "  hermes skills export review-change -o review-change.skill",
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			s, err := c.skillCalled(cmd.Context(), lib, project, args[0])
			if err != nil {
				return err
			}
			return c.export(s, to, force)
		},
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "the `file`; - is standard output; else NAME.skill in this folder")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file when there is one")
	return cmd
}

func (c *command) export(s *skills.Skill, to string, force bool) error {
	if to == "-" {
		left, err := hub.Pack(c.Streams.Out, s)
		return c.exported(left, err)
	}
	if to == "" {
		to = s.Name + ".skill"
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
	left, err := hub.Pack(f, s)
	if err := c.exported(left, errors.Join(err, f.Close())); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	if full, err := filepath.Abs(to); err == nil {
		to = full
	}
	c.Note("%s", to)
	return nil
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
