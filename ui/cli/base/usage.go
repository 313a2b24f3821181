package base

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hermes/core/nearest"
)

// Subcommands is what a command does that only holds others: show them, or say that the word is
// none of them.
func Subcommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return UsageError("%s", unknownCommand(cmd, args[0]))
}

// mistaken says what is wrong with a command line, and what to write instead. Cobra tells its
// mistakes apart by their text only.
func mistaken(cmd *cobra.Command, err error) string {
	message := strings.ReplaceAll(err.Error(), "\n\n", "\n")
	path := cmd.CommandPath()
	before := cmd.Flags().Args()
	if !cmd.HasParent() && len(before) > 0 && foreignCommands[before[0]].noun {
		said, _ := foreignWords(before[0])
		return said
	}
	switch {
	case strings.HasPrefix(message, "unknown command "):
		return unknownCommand(cmd, quoted(message))
	case strings.HasPrefix(message, "unknown flag: --"):
		flag := strings.TrimPrefix(message, "unknown flag: ")
		if near, ok := nearest.Name(strings.TrimPrefix(flag, "--"), flags(cmd)); ok {
			return fmt.Sprintf("%s; did you mean --%s?", noFlag(cmd, flag), near)
		}
		return fmt.Sprintf("%s; `%s --help` lists them", noFlag(cmd, flag), path)
	case strings.HasPrefix(message, "unknown shorthand flag: "):
		flag := message[strings.LastIndex(message, " ")+1:]
		return fmt.Sprintf("%s; `%s --help` lists them", noFlag(cmd, flag), path)
	case strings.HasPrefix(message, "accepts "), strings.HasPrefix(message, "requires "):
		what := "too few words"
		if tooMany(message) {
			what = "too many words"
		}
		return fmt.Sprintf("%s: %s; write it like this: %s", path, what, strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	default:
		return fmt.Sprintf("%s: %s; `%s --help` shows how it is used", path, message, path)
	}
}

func noFlag(cmd *cobra.Command, flag string) string {
	if !cmd.HasParent() {
		return "there is no flag " + flag
	}
	return cmd.CommandPath() + " has no flag " + flag
}

// unknownCommand is about a word where a command was expected, or nothing.
func unknownCommand(cmd *cobra.Command, word string) string {
	path := cmd.CommandPath()
	if !cmd.HasAvailableSubCommands() {
		return fmt.Sprintf("%s takes no words, and %q is one; `%s --help` shows how it is used", path, word, path)
	}
	fix := "`" + path + " --help` lists them"
	if near, ok := nearest.Name(word, commands(cmd)); ok {
		fix = "did you mean " + near + "?"
	}
	if said, known := foreignWords(word); known && !cmd.HasParent() {
		return said
	}
	if !cmd.HasParent() {
		return fmt.Sprintf("there is no command %q; %s", word, fix)
	}
	return fmt.Sprintf("%s has no command %q; %s", path, word, fix)
}

// PromptArgs takes words for a prompt. A single word is none: it is a command that was mistyped,
// and so is a first word that is nearly one.
func PromptArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || cmd.ArgsLenAtDash() == 0 || strings.ContainsAny(strings.TrimSpace(args[0]), " \n\t"):
		return nil
	case strings.TrimSpace(strings.Join(args, "")) == "":
		return UsageError("the prompt is empty; without one `%s` opens the workbench", cmd.CommandPath())
	case len(args) == 1:
		return UsageError("%s; as a prompt: hermes -- %s", unknownCommand(cmd, args[0]), args[0])
	}
	if _, near := nearest.Name(args[0], commands(cmd)); near || foreignCommands[args[0]].noun {
		return UsageError("%s; as a prompt it stands in quotes", unknownCommand(cmd, args[0]))
	}
	return nil
}

// Names are the commands of the command line.
func Names(root *cobra.Command) (out []string) {
	for _, sub := range root.Commands() {
		out = append(out, sub.Name())
	}
	return out
}

func commands(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	return names
}

func flags(cmd *cobra.Command) (names []string) {
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}

// quoted is the first word in quotes of a message.
func quoted(message string) string {
	parts := strings.SplitN(message, `"`, 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}

// tooMany reads the numbers of "accepts 1 arg(s), received 2" and its relatives.
func tooMany(message string) bool {
	var n []int
	for _, s := range regexp.MustCompile(`\d+`).FindAllString(message, -1) {
		i := 0
		if _, err := fmt.Sscan(s, &i); err != nil {
			return false
		}
		n = append(n, i)
	}
	return len(n) > 1 && n[len(n)-1] > n[len(n)-2]
}
