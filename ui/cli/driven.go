package cli

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"

	"hermes/ui/cli/base"
)

//go:embed driven.txt
var drivenText string

// openToPrograms is what a program that Hermes started may ask of Hermes: commands without the
// name of the program, with the options that it may not use.
func openToPrograms() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(drivenText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		path, flags, _ := strings.Cut(line, " --")
		out[path] = nil
		if flags != "" {
			out[path] = strings.Split(flags, " --")
		}
	}
	return out
}

// refuseWhenDriven makes what is for the person to say refuse in a program that Hermes started: a
// script of a project runs unasked, and may call it.
func (c *command) refuseWhenDriven(cmd *cobra.Command, open map[string][]string) {
	for _, sub := range cmd.Commands() {
		c.refuseWhenDriven(sub, open)
	}
	run := cmd.RunE
	if run == nil {
		return
	}
	path := strings.TrimPrefix(cmd.CommandPath(), "hermes ")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.Driven() {
			withheld, ok := open[path]
			if !ok {
				return refuseDriven(cmd.CommandPath())
			}
			for _, name := range withheld {
				if cmd.Flags().Changed(name) {
					return refuseDriven(cmd.CommandPath() + " --" + name)
				}
			}
		}
		return run(cmd, args)
	}
}

func refuseDriven(what string) error {
	return base.Failed(base.ExitRefused, "%s is for you to say, and a program that hermes started said it (a shell of `hermes pool shell` is one, and a tmux that began there): type it in a terminal of your own", what)
}
