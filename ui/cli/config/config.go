// Package config is the command `hermes config`: settings, shown, checked and changed.
package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/config"
	"hermes/ui/cli/base"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes config`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{Use: "config", Short: "Show, check and change settings", Args: cobra.ArbitraryArgs, RunE: base.Subcommands}
	cmd.AddCommand(c.configShow(), c.configPath(), c.configCheck(), c.configEdit(), c.configSet(), c.configGet())
	return cmd
}

func (c *command) configShow() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show the settings that differ from the defaults, and where they come from", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			var values []config.Value
			for _, v := range start.Config.Values() {
				if all || v.Origin != "default" {
					values = append(values, v)
				}
			}
			if asJSON {
				if values == nil {
					values = []config.Value{}
				}
				return base.WriteJSON(c.Streams.Out, values, true)
			}
			return c.printValues(values, start.Problems)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "the defaults too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) printValues(values []config.Value, problems []config.Problem) error {
	t := base.Table{}
	for _, v := range values {
		t.Row(v.Key, base.Cut(v.Value, 80), v.Origin)
	}
	if err := t.Write(c.Streams.Out); err != nil {
		return err
	}
	if len(values) == 0 {
		c.Note("everything is as it comes; `hermes config show --all` lists it")
	}
	for _, p := range problems {
		c.Note("hermes: %s", p)
	}
	return nil
}

func (c *command) configPath() *cobra.Command {
	var env bool
	cmd := &cobra.Command{
		Use: "path", Short: "Print where config.yaml is, or would be", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			paths, err := c.Paths()
			if err != nil {
				return err
			}
			path := paths.ConfigFile
			if env {
				path = paths.EnvFile
			}
			_, err = fmt.Fprintln(c.Streams.Out, path)
			return err
		},
	}
	cmd.Flags().BoolVar(&env, "env", false, "where .env is, the file for secrets")
	return cmd
}

func (c *command) configCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "check", Short: "Look for mistakes in the settings; exit code 2 when there are any", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.Options()
			if err != nil {
				return err
			}
			cfg, problems := config.Load(o)
			if asJSON {
				if problems == nil {
					problems = []config.Problem{}
				}
				err = errors.Join(base.WriteJSON(c.Streams.Out, problems, true), c.printWithoutEffect(cmd.Context(), c.Streams.Err, cfg))
			} else {
				err = errors.Join(c.printProblems(cfg, problems), c.printWithoutEffect(cmd.Context(), c.Streams.Out, cfg))
			}
			if err != nil {
				return err
			}
			wrong := core.CheckModels(cfg.Paths())
			for _, err := range wrong {
				c.Note("%s", base.OneLine(err.Error()))
			}
			if len(problems)+len(wrong) > 0 {
				return base.SilentExit(base.ExitUsage)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printWithoutEffect tells of settings that do nothing or give nothing: they are no mistakes.
func (c *command) printWithoutEffect(ctx context.Context, out io.Writer, cfg *config.Config) error {
	var lines []string
	for _, s := range cfg.WithoutEffect() {
		lines = append(lines, s.Where+": "+s.Key+" has no effect in this version")
	}
	for _, w := range c.WrongNames(ctx, cfg) { // another hermes in this home may have what they name
		lines = append(lines, w.String())
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, base.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) printProblems(cfg *config.Config, problems []config.Problem) error {
	if len(problems) == 0 {
		_, err := fmt.Fprintf(c.Streams.Out, "%s: no mistakes\n", cfg.Paths().ConfigFile)
		return err
	}
	for _, p := range problems {
		if _, err := fmt.Fprintln(c.Streams.Out, base.OneLine(p.String())); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) configGet() *cobra.Command {
	return &cobra.Command{
		Use: "get <key>", Short: "Print a setting, or all below a key", Args: cobra.ExactArgs(1), ValidArgsFunction: completeKeys,
		RunE: func(_ *cobra.Command, args []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			if config.SecretName(args[0]) {
				return base.UsageError("%s is a secret, and secrets are not printed; `hermes config path --env` says where they are", args[0])
			}
			values, err := start.Config.Get(args[0])
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			if len(values) == 1 && !strings.Contains(strings.TrimPrefix(values[0].Key, args[0]), ".") {
				_, err := fmt.Fprintln(c.Streams.Out, base.OneLine(values[0].Value))
				return err
			}
			t := base.Table{}
			for _, v := range values {
				t.Row(v.Key, v.Value)
			}
			return t.Write(c.Streams.Out)
		},
	}
}

func (c *command) configSet() *cobra.Command {
	return &cobra.Command{
		Use:   "set <key> <value>",
		Short: "Change a setting in config.yaml, or a secret in .env",
		Long: `Change a setting in config.yaml: comments, order and everything else in the file stay.
A key in upper case like OPENAI_API_KEY is a secret and goes to .env, which only you can read; - reads it from stdin.`,
		Example: `  hermes config set model openai/gpt-5
  hermes config set display.theme daylight
  hermes config set keys.session.new ctrl+t
  hermes config set OPENAI_API_KEY -`,
		Args: cobra.ExactArgs(2), ValidArgsFunction: c.completeSetting,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := c.Options()
			if err != nil {
				return err
			}
			paths, err := o.Paths()
			if err != nil {
				return err
			}
			key, value := args[0], args[1]
			if config.SecretName(key) {
				return c.setSecret(paths, key, value)
			}
			doubts, err := c.foreseeProblems(cmd.Context(), o, key, value)
			if err == nil {
				err = config.Set(paths, key, value)
			}
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			for _, why := range doubts {
				c.Note("%s is kept, but %s", key, why)
			}
			return nil
		},
	}
}

func (c *command) setSecret(paths config.Paths, name, value string) error {
	if value == "-" {
		secret, err := base.ReadSecret(c.Streams.In, c.Streams.Err, name)
		if err != nil {
			return err
		}
		value = secret
	}
	if err := config.SetSecret(paths, name, value); err != nil {
		return base.Failed(base.ExitUsage, "%w", err)
	}
	c.Note("%s is in %s now", name, paths.EnvFile)
	return nil
}

func (c *command) configEdit() *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Open config.yaml in your editor, then check it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.Options()
			if err != nil {
				return err
			}
			paths, err := o.Paths()
			if err != nil {
				return err
			}
			if err := c.edit(cmd.Context(), paths); err != nil {
				return err
			}
			cfg, problems := config.Load(o)
			if err := c.printProblems(cfg, problems); err != nil {
				return err
			}
			if len(problems) > 0 {
				return base.SilentExit(base.ExitUsage)
			}
			return nil
		},
	}
}

// edit opens config.yaml. A file that is not there yet is begun.
func (c *command) edit(ctx context.Context, paths config.Paths) error {
	if err := begin(paths); err != nil {
		return err
	}
	return c.OpenEditor(ctx, paths.ConfigFile)
}

// begin writes a config.yaml that says how to go on, unless there is one.
func begin(paths config.Paths) error {
	if err := os.MkdirAll(paths.Home, 0o700); err != nil {
		return fmt.Errorf("make folder %s: %w", paths.Home, err)
	}
	file, err := os.OpenFile(paths.ConfigFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", paths.ConfigFile, err)
	}
	defer file.Close()
	_, err = file.WriteString("# Settings of hermes. `hermes config show --all` lists every key and its value.\n# Secrets belong in .env beside this file.\n")
	return err
}
