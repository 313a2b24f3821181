package approval

import (
	"errors"
	"slices"
	"strings"

	"hermes/core/intent"
	"hermes/skills/procedure/request"
)

// wasTyped reports whether the person's own text asks for exactly this command and for nothing
// else: "$ command" lines only, or one fenced shell block only. A leading "@name" names the back
// end: another one, like any argument beside the command (a folder to run it in), is the model's
// own idea and is asked. As soon as there is prose around them, commands may be a pasted log that
// the person asks about, and what a model makes of that is asked.
func wasTyped(prompt string, in intent.Intent) bool {
	if in.Shell == nil || in.OtherArgs != "" {
		return false
	}
	command := strings.TrimSpace(in.Shell.Command)
	backend, commands := typedCommands(prompt)
	return command != "" && (in.Backend == "" || in.Backend == backend) && slices.Contains(commands, command)
}

// OnlyCommands reports whether a text is nothing but commands that a person typed, as typed defines
// them, or a procedure to run. No model need be asked what they mean.
func OnlyCommands(prompt string) bool {
	if _, ok := request.Parse(prompt); ok {
		return true
	}
	_, commands := typedCommands(prompt)
	return len(commands) > 0 && !slices.Contains(commands, "")
}

// ExpandCommand returns what a person typed with "!" before a command as the line that it is short
// for, "$ command"; any other text, "!!" too, as it is.
func ExpandCommand(text string) string {
	if rest, ok := strings.CutPrefix(text, "!"); ok && strings.TrimSpace(rest) != "" && rest[0] != '!' {
		return "$ " + strings.TrimSpace(rest)
	}
	return text
}

// TypedBackend returns the back end that a text of nothing but commands names, "" for none. A sign
// without a command is an error.
func TypedBackend(text string) (string, error) {
	if sign := strings.TrimSpace(text); sign == "$" || sign == "!" {
		return "", errors.New("nothing to run: write the command behind the " + sign)
	}
	if !OnlyCommands(text) {
		return "", nil
	}
	backend, _ := typedCommands(text)
	return backend, nil
}

// typedCommands returns the commands of a text that holds nothing but commands, and the back end
// that it names.
func typedCommands(prompt string) (backend string, commands []string) {
	text := strings.TrimSpace(strings.ReplaceAll(prompt, "\r\n", "\n"))
	if name, ok := strings.CutPrefix(text, "@"); ok {
		end := strings.IndexAny(name, " \t\n")
		if end < 0 {
			return "", nil
		}
		backend, text = name[:end], name[end:]
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if block, ok := shellBlock(lines); ok {
		return backend, []string{block}
	}
	for i := 0; i < len(lines); i++ {
		cmd, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "$ ")
		if !ok {
			return backend, nil
		}
		for strings.HasSuffix(cmd, `\`) && i+1 < len(lines) {
			i++
			cmd += "\n" + lines[i]
		}
		commands = append(commands, strings.TrimSpace(cmd))
	}
	return backend, commands
}

// shellBlock returns the inside of lines that are one fenced shell block and nothing else.
func shellBlock(lines []string) (inside string, ok bool) {
	if len(lines) < 3 || lines[len(lines)-1] != "```" {
		return "", false
	}
	switch lines[0] {
	case "```sh", "```bash", "```shell":
	default:
		return "", false
	}
	body := lines[1 : len(lines)-1]
	if slices.ContainsFunc(body, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "```") }) {
		return "", false
	}
	return strings.TrimSpace(strings.Join(body, "\n")), true
}
