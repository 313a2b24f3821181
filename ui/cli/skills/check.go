package skills

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/skill"
	"hermes/skills"
	"hermes/skills/procedure"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

const checkText = `Say what is wrong with skills and procedures, with file and line. A skill that cannot be used or is blocked ends check with
exit code 1, and lint with 2.

Without arguments all skills are checked. A path is a folder with a SKILL.md, a SKILL.md, a procedure (YAML), or a folder of skills,
anywhere: this is for whoever writes skills, too. What gives orders to the agent is blocked, here as everywhere.`

func (c *command) skillsCheck() *cobra.Command {
	cmd := c.checkCommand(base.ExitFailed)
	cmd.Use, cmd.Aliases = "check [path or name]...", []string{"scan"}
	cmd.Short = "Say what is wrong with skills, with file and line; exit code 1 when something is"
	return cmd
}

func (c *command) skillsLint() *cobra.Command {
	cmd := c.checkCommand(base.ExitUsage)
	cmd.Use, cmd.Short = "lint [path or name]...", "The same with exit code 2, for scripts"
	return cmd
}

// checkCommand is check with the exit code for what is broken.
func (c *command) checkCommand(broken base.Exit) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Long: checkText,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			names, _ := c.CompleteSkills(cmd, args, prefix)
			return names, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := c.check(cmd.Context(), args)
			if err != nil {
				return err
			}
			return c.printChecked(found, asJSON, broken)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checked is what is wrong with some skills.
type checked struct {
	Skills   int              `json:"skills"`
	Problems []skills.Problem `json:"problems"`
	Hits     []skill.Hit      `json:"hits"`
}

func (c *command) check(ctx context.Context, args []string) (checked, error) {
	out := checked{Problems: []skills.Problem{}, Hits: []skill.Hit{}}
	lib, project, _, err := c.SkillLibrary()
	if err != nil {
		return out, err
	}
	if len(args) == 0 {
		catalog := lib.Catalog(ctx, project)
		out.Problems = append(out.Problems, catalog.Problems...)
		out.addProcedures(catalog)
		if p := lib.Usage.Problem(); p != nil {
			out.Problems = append(out.Problems, *p)
		}
		for _, r := range lib.Rows(ctx, project) {
			if r.Procedure != nil {
				continue // looked at as files
			}
			out.Hits = append(out.Hits, r.Hits...)
			out.Skills++
		}
		return out, nil
	}
	for _, arg := range args {
		if _, err := os.Stat(arg); err == nil {
			if err := out.path(ctx, arg); err != nil {
				return out, err
			}
			continue
		}
		if strings.ContainsRune(arg, filepath.Separator) {
			return out, base.Failed(base.ExitUsage, "there is no file or folder %s", text.Sanitize(arg))
		}
		if p := procedureCalled(ctx, lib, project, arg); p != nil {
			out.lint(p.File, []byte(p.Text))
			continue
		}
		s, err := c.skillCalled(ctx, lib, project, arg)
		if err != nil {
			return out, err
		}
		out.add(s)
	}
	return out, nil
}

func (k *checked) add(s *skills.Skill) {
	k.Skills++
	k.Problems = append(k.Problems, s.Problems...)
	if s.Usable() {
		k.Hits = append(k.Hits, skill.CheckAll(s)...)
	}
}

// path checks a folder, a SKILL.md or a procedure.
func (k *checked) path(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return base.Failed(base.ExitUsage, "%w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && skills.IsProcedureFile(path) {
		return k.procedure(path)
	}
	if filepath.Base(path) == skills.File {
		path = filepath.Dir(path)
	}
	if _, err := os.Lstat(filepath.Join(path, skills.File)); err == nil {
		k.add(skills.One(path))
		return nil
	}
	catalog := skills.Load(ctx, skills.Options{Home: path, NoBuiltin: true})
	if len(catalog.Skills)+len(catalog.Broken)+len(catalog.Procedures) == 0 {
		return base.Failed(base.ExitUsage, "%s: there is no SKILL.md and no procedure in it or below it", path)
	}
	k.addProcedures(catalog)
	k.Problems = append(k.Problems, catalog.Problems...)
	for _, s := range append(catalog.Skills, catalog.Broken...) {
		s.Problems = nil // the catalog has named them
		k.add(s)
	}
	return nil
}

// procedure checks one YAML file.
func (k *checked) procedure(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return base.Failed(base.ExitUsage, "%w", err)
	}
	k.lint(file, data)
	return nil
}

func (k *checked) lint(file string, data []byte) {
	k.Skills++
	k.Problems = append(k.Problems, procedure.Parse(file, data).Problems...)
	k.Hits = append(k.Hits, skill.Scan(file, string(data), 1)...)
}

func (k *checked) addProcedures(catalog *skills.Catalog) {
	for _, f := range catalog.Procedures {
		data, err := f.Read()
		if err != nil {
			k.Problems = append(k.Problems, skills.Problem{File: f.Path, Line: 1, Why: err.Error(), Fatal: true})
			continue
		}
		k.lint(f.Path, data)
	}
}

func (c *command) printChecked(k checked, asJSON bool, broken base.Exit) error {
	failing := len(k.Hits) > 0
	for _, p := range k.Problems {
		failing = failing || p.Fatal
	}
	if asJSON {
		if err := base.WriteJSON(c.Streams.Out, k, true); err != nil {
			return err
		}
	} else {
		var b strings.Builder
		for _, p := range k.Problems {
			grade := "warn"
			if p.Fatal {
				grade = "bad "
			}
			fmt.Fprintf(&b, "%s  %s\n", grade, base.OneLine(p.Error()))
		}
		for _, h := range k.Hits {
			fmt.Fprintf(&b, "BLOCK %s\n", base.OneLine(h.String()))
		}
		fmt.Fprintf(&b, "%s checked: %s, %s\n", text.Count(k.Skills, "skill", "skills"), text.Count(len(k.Problems), "problem", "problems"), text.Count(len(k.Hits), "order to the agent", "orders to the agent"))
		if _, err := fmt.Fprint(c.Streams.Out, b.String()); err != nil {
			return err
		}
	}
	if failing {
		return base.SilentExit(broken)
	}
	return nil
}
