package base

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/logs"
	"hermes/core/tool"
	"hermes/ui/text"
)

// Exit is the exit code of the program.
type Exit int

// Exit codes, for scripts.
const (
	ExitOK          Exit = 0
	ExitFailed      Exit = 1   // the turn or the command failed; `doctor` and `check` found problems
	ExitUsage       Exit = 2   // the command line or a setting is wrong
	ExitRefused     Exit = 3   // something needed approval and was refused
	ExitProvider    Exit = 4   // no model answered: its provider or the network failed, or none is set up
	ExitInterrupted Exit = 130 // stopped by ctrl+c
)

// failure is an error with its exit code.
type failure struct {
	code Exit
	err  error
	said bool // the person knows already
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// UsageError is a mistake in the command line.
func UsageError(format string, args ...any) error {
	return &failure{code: ExitUsage, err: fmt.Errorf(format, args...)}
}

// Failed is an error that ends the program with a code.
func Failed(code Exit, format string, args ...any) error {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// SilentExit ends with a code when everything was said.
func SilentExit(code Exit) error { return &failure{code: code, err: errors.New("failed"), said: true} }

// ExitCode is the code for an error of a command.
func ExitCode(err error) Exit {
	var f *failure
	var toolset tool.UnknownError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &toolset):
		return ExitUsage
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case isCobraUsage(err):
		return ExitUsage
	default:
		return ExitFailed
	}
}

// isCobraUsage recognises what cobra says about arguments; it has no error types for it.
func isCobraUsage(err error) bool {
	for _, start := range []string{"unknown command", "unknown flag", "unknown shorthand", "flag needs", "invalid argument", "accepts ", "requires ", "if any flags in the group", "bad flag syntax"} {
		if strings.HasPrefix(err.Error(), start) {
			return true
		}
	}
	return false
}

// Report writes one error for a person.
func (c *Command) Report(cmd *cobra.Command, err error) {
	var f *failure
	if errors.As(err, &f) && f.said {
		return
	}
	message := err.Error()
	switch {
	case errors.Is(err, context.Canceled):
		message = "stopped"
	case errors.Is(err, fs.ErrPermission):
		message += "; check who owns the file or folder"
	case c.homeless(message):
		message += "; set HERMES_HOME to a folder that you may write to"
	case isCobraUsage(err):
		message = mistaken(cmd, err)
	}
	fmt.Fprintln(c.Streams.Err, "hermes: "+text.Sanitize(logs.Redact(message)))
}

// homeless reports a failure about a home that is not there and cannot be made.
func (c *Command) homeless(message string) bool {
	paths, err := c.Paths()
	if err != nil || IsFolder(paths.Home) || !strings.Contains(message, paths.Home) {
		return false
	}
	above := paths.Home
	for _, err := os.Lstat(above); err != nil && above != filepath.Dir(above); _, err = os.Lstat(above) {
		above = filepath.Dir(above)
	}
	return !IsFolder(above) || strings.Contains(message, "mkdir")
}

// Note says something on stderr that is no result.
func (c *Command) Note(format string, args ...any) {
	fmt.Fprintln(c.Streams.Err, text.Sanitize(fmt.Sprintf(format, args...)))
}
