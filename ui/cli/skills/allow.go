package skills

import (
	"fmt"

	"github.com/spf13/cobra"

	"hermes/ui/cli/base"
	"hermes/ui/text"
)

const allowText = `Let a skill have the variables and files that it asks for.

What a skill names in required_environment_variables and required_credential_files is passed to the commands and scripts of the sessions
that load it, once you have said yes: here, in the workbench (/skills, p), or when the agent first needs it. The yes is for the skill as it
is: when anything in its folder changes, you are asked again. --no remembers that you do not want it.`

func (c *command) skillsAllow() *cobra.Command {
	var yes, no bool
	cmd := &cobra.Command{
		Use: "allow <name>", Short: "Let a skill have the variables and files that it asks for", Long: allowText, Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.CompleteSkills,
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			s, err := lib.Find(cmd.Context(), project, args[0])
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			w, err := lib.WishOf(s)
			switch {
			case err != nil:
				return base.Failed(base.ExitFailed, "%w", err)
			case w == nil:
				return base.Failed(base.ExitUsage, "the skill %s asks for no variables and no files that could be passed", s.Name)
			case w.Tainted && !no:
				return base.Failed(base.ExitFailed, "the skill %s was written by a conversation that had read strangers' words: it is asked about in each session. Read it; when you have saved it yourself (hermes skills edit %s), this works", s.Name, s.Name)
			}
			c.Note("%s asks for %s (%s)", text.Sanitize(s.Name), text.Sanitize(w.Asks()), w.State)
			if !yes && !no {
				ok, err := c.Confirm(fmt.Sprintf("Pass that to commands and scripts of sessions that load %s?", text.Sanitize(s.Name)))
				if err != nil || !ok {
					return err
				}
			}
			if err := lib.Grant(cmd.Context(), project, w, !no); err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			if no {
				c.Note("nothing is passed, and nobody asks again until %s changes", text.Sanitize(s.Name))
				return nil
			}
			c.Note("passed from now on, until a byte of %s changes", text.Sanitize(s.Name))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&no, "no", false, "do not pass it, and do not ask again until the skill changes")
	cmd.MarkFlagsMutuallyExclusive("yes", "no")
	return cmd
}
