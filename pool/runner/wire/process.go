package wire

import (
	"context"
	"io"

	"hermes/pool/runner"
)

// Process is a command in the background on the far side. When the connection is lost it counts as ended, with exit code 255 and a
// note in its output.
type Process struct{}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return nil }

// Exit returns the exit code, and whether the process has ended.
func (p *Process) Exit() (code int, ended bool) { return 0, false }

// Output is as runner.Process.Output.
func (p *Process) Output(int64, int) (data []byte, start, end int64) { return nil, 0, 0 }

// Write sends data to standard input; eof closes it afterwards. It fails when the process does not read for 5 s.
func (p *Process) Write([]byte, bool) error { return nil }

// Resize changes the size of its terminal.
func (p *Process) Resize(runner.Size) error { return nil }

// Signal sends a signal, by its number, to the process' group.
func (p *Process) Signal(int) error { return nil }

// Kill ends the process and its tree, and waits for that until ctx is done.
func (p *Process) Kill(context.Context) error { return nil }

// Warnings returns what had to be said about its start.
func (p *Process) Warnings() []string { return nil }

// Channel is our end of the socket of Spec.Channel; nil without. The caller closes it.
func (p *Process) Channel() io.ReadWriteCloser { return nil }
