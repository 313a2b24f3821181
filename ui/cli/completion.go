package cli

import (
	"bytes"
	_ "embed"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"hermes/ui/cli/base"
)

// bashWords is how the script for bash finds the words of the line. The package bash-completion
// does it where it is installed.
//
//go:embed completion.bash
var bashWords string

// wordsOfPackage is the line of cobra's script that needs that package.
const wordsOfPackage = "    _get_comp_words_by_ref \"$@\" cur prev words cword\n"

// addCompletion adds `hermes completion`.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, sub := range root.Commands() {
		if sub.Name() != "completion" {
			continue
		}
		sub.Args, sub.RunE, sub.GroupID = cobra.ArbitraryArgs, base.Subcommands, groupSettings
		sub.Short = "Print what makes a shell complete commands, keys and values by tab"
		for _, shell := range sub.Commands() {
			if shell.Name() == "bash" {
				shell.Long = sub.Short + ".\n\n  source <(hermes completion bash)\n\nin a shell, or in ~/.bashrc for every new one."
				shell.RunE = printBashCompletion
			}
		}
	}
}

func printBashCompletion(cmd *cobra.Command, _ []string) error {
	var script bytes.Buffer
	bare, err := cmd.Flags().GetBool("no-descriptions")
	if err := errors.Join(err, cmd.Root().GenBashCompletionV2(&script, !bare)); err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write([]byte(strings.Replace(script.String(), wordsOfPackage, bashWords, 1)))
	return err
}
