package base

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"hermes/ui/text"
)

// Agrees asks on stderr. Nobody there means no.
func (c *Command) Agrees(question string) bool {
	if !IsTerminal(c.Streams.In) {
		c.Note("%s Nobody can be asked here: --yes does it.", question)
		return false
	}
	fmt.Fprint(c.Streams.Err, text.Sanitize(question)+" [y/N] ")
	answer := ""
	_, _ = fmt.Fscanln(c.Streams.In, &answer)
	return answer == "y" || answer == "Y" || answer == "yes"
}

// Confirm wants a yes. Without a terminal there is nobody to ask, and the answer is an error that
// says so.
func (c *Command) Confirm(question string) (bool, error) {
	if !IsTerminal(c.Streams.In) {
		return false, Failed(ExitRefused, "%s Nobody is here to say yes: add --yes", question)
	}
	fmt.Fprint(c.Streams.Err, question+" [y/N] ")
	line, err := bufio.NewReader(c.Streams.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// ReadSecret reads one line, without showing it on a terminal.
func ReadSecret(in io.Reader, prompt io.Writer, name string) (string, error) {
	if f, ok := in.(*os.File); ok && IsTerminal(in) {
		fmt.Fprint(prompt, name+": ")
		data, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(prompt)
		return strings.TrimSpace(string(data)), err
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", UsageError("no value for %s on standard input", name)
	}
	return line, nil
}
