package approval

import (
	"slices"
	"strings"
)

// Typed reports whether the person's own text asks for exactly this command and for nothing else: "$ command" lines only, or
// one fenced shell block only. A leading "@name" names the back end and is not part of it. As soon as there is prose around
// them, commands may be a pasted log that the person asks about, and what a model makes of that is asked.
func Typed(prompt, command string) bool {
	command = strings.TrimSpace(command)
	return command != "" && slices.Contains(typed(prompt), command)
}

// typed returns the commands of a text that holds nothing but commands.
func typed(prompt string) []string {
	text := strings.TrimSpace(strings.ReplaceAll(prompt, "\r\n", "\n"))
	if strings.HasPrefix(text, "@") {
		_, text, _ = strings.Cut(text, " ")
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if block, ok := shellBlock(lines); ok {
		return []string{block}
	}
	var out []string
	for i := 0; i < len(lines); i++ {
		cmd, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "$ ")
		if !ok {
			return nil
		}
		for strings.HasSuffix(cmd, `\`) && i+1 < len(lines) {
			i++
			cmd += "\n" + lines[i]
		}
		out = append(out, strings.TrimSpace(cmd))
	}
	return out
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
