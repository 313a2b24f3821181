// Package cli is the command line: what `hermes` does without the workbench, and how the workbench
// is opened. A command is a package below it; base is what they share.
//
// The contract: Main is the whole program as a function, so that tests run it in their own process.
// Results go to stdout, everything else to stderr. What models, tools and files said is stripped of
// control sequences before it is printed as text. A failure is one sentence on stderr: what
// happened, where, and what to do. Exit codes are for scripts, see Exit.
//
// The rest of the program comes in through Program; base declares the few methods that the commands
// need of it.
package cli

import (
	"context"
	"os"

	"hermes/ui/cli/base"
)

// What the program hands over and gets back.
type (
	// Program is what main hands to the command line.
	Program = base.Program
	// Start says with what the program is built.
	Start = base.Start
	// Workbench says what the full-screen program opens with.
	Workbench = base.Workbench
	// Streams are where a command reads and writes.
	Streams = base.Streams
	// Exit is the exit code of the program.
	Exit = base.Exit
)

// Exit codes, for scripts.
const (
	ExitOK          = base.ExitOK
	ExitFailed      = base.ExitFailed
	ExitUsage       = base.ExitUsage
	ExitRefused     = base.ExitRefused
	ExitProvider    = base.ExitProvider
	ExitInterrupted = base.ExitInterrupted
)

// Main runs one command line, without the program's name in args, and returns the exit code. Env is
// "NAME=value" each; the environment of the process is not looked at.
func Main(ctx context.Context, p Program, args []string, s Streams, env []string) int {
	c := &command{&base.Command{Program: p, Streams: s, Env: env}}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		c.Report(cmd, err)
	}
	return int(base.ExitCode(err))
}

// Process runs Main with the arguments, streams and environment of this process.
func Process(ctx context.Context, p Program) int {
	return Main(ctx, p, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ())
}
