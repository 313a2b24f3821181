package base

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/prompt"
	"hermes/core/skill"
)

// SkillLibrary is the skills for the folder we are in, and that folder's project.
func (c *Command) SkillLibrary() (lib *skill.Library, project string, start Start, err error) {
	if start, err = c.Load(); err != nil {
		return nil, "", start, err
	}
	for _, p := range start.Problems {
		c.Note("hermes: %s", p)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, "", start, Failed(ExitFailed, "%w", err)
	}
	return core.OpenSkills(start.Config), prompt.ProjectRoot(here), start, nil
}

// CompleteSkills offers names with what they are for.
func (c *Command) CompleteSkills(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	lib, project, _, err := c.SkillLibrary()
	if err != nil || len(args) > 0 && cmd.Name() == "view" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, s := range lib.Catalog(cmd.Context(), project).Skills {
		if strings.HasPrefix(s.Name, prefix) {
			out = append(out, s.Name+"\t"+OneLine(s.Description))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
