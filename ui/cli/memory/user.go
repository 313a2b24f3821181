package memory

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/usermodel"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// user shows and changes what was counted of the person.
func (c *command) user() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "user", Short: "What is known of you: six keys, each value with its evidence",
		Long: `What is known of you: six keys, each value with its evidence.

It is counted from your messages by rules, without a model. The first five of tech_stack and the first communication_style are told to the model at
the start of a session, once they were seen in three sessions or you said them yourself.`,
		Example: "  hermes memory user\n  hermes memory user set communication_style 'short, with examples'\n  hermes memory user forget tech_stack PHP\n  hermes memory user off",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return c.withUser(func(s *usermodel.Store) error { return c.showUser(s, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		c.userChange("set KEY VALUE", "Say something of yourself", 2, 2, func(s *usermodel.Store, args []string) (string, error) {
			return "kept: " + args[0] + ": " + args[1], s.Set(args[0], args[1], time.Now())
		}),
		c.userChange("forget KEY [VALUE]", "Forget a value, or all of a key; it is not counted again", 1, 2, func(s *usermodel.Store, args []string) (string, error) {
			n, err := s.Forget(args[0], strings.Join(args[1:], ""))
			if err == nil && n == 0 {
				err = fmt.Errorf("nothing like that is known: `hermes memory user` shows what is")
			}
			return fmt.Sprintf("%d forgotten", n), err
		}),
		c.userChange("on", "Count, and tell new sessions", 0, 0, func(s *usermodel.Store, _ []string) (string, error) {
			return "the user model is on", s.Switch(true)
		}),
		c.userChange("off", "Count nothing, and tell nothing", 0, 0, func(s *usermodel.Store, _ []string) (string, error) {
			return "the user model is off; what is known stays until you forget it", s.Switch(false)
		}),
	)
	return cmd
}

func (c *command) withUser(do func(s *usermodel.Store) error) error {
	start, err := c.Load()
	if err != nil {
		return err
	}
	if err := do(usermodel.New(start.Config.Paths().Home)); err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	return nil
}

func (c *command) userChange(use, short string, least, most int, do func(s *usermodel.Store, args []string) (string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.RangeArgs(least, most)}
	asJSON := base.JSONFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return c.withUser(func(s *usermodel.Store) error {
			said, err := do(s, args)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return c.showUser(s, true)
			}
			_, err = fmt.Fprintln(c.Streams.Out, text.Sanitize(said))
			return err
		})
	}
	return cmd
}

func (c *command) showUser(s *usermodel.Store, asJSON bool) error {
	m, err := s.Load()
	if err != nil {
		return err
	}
	out := c.Streams.Out
	if asJSON {
		known := []usermodel.Value{}
		for _, key := range usermodel.Keys() {
			known = append(known, m.Of(key)...)
		}
		return base.WriteJSON(out, map[string]any{"off": m.Off, "values": known, "prompt": m.Prompt("")}, true)
	}
	if m.Off {
		fmt.Fprintln(out, "It is off: nothing is counted, nothing is told.")
	}
	for _, key := range usermodel.Keys() {
		fmt.Fprintln(out, key)
		all := m.Of(key)
		if len(all) == 0 {
			fmt.Fprintln(out, "  nothing is known")
		}
		for _, v := range all {
			fmt.Fprintln(out, "  "+text.Truncate(text.OneLine(text.Sanitize(v.String())), max(c.Width()-2, 40), "…"))
		}
	}
	if p := m.Prompt(""); p != "" {
		fmt.Fprintf(out, "\nNew sessions are told:\n%s\n", text.Sanitize(p))
	}
	return nil
}
