package wire

import (
	"context"
	"errors"
	"io"

	"hermes/pool/runner"
)

// Client runs commands on the other side of a stream. All methods are safe for concurrent use.
type Client struct{ gone chan error }

// Connect greets the program on the other side of rw, until ctx is done, and returns a Client. It owns rw, and has closed it when it fails.
// What comes before the greeting (a login's noise, the error of a shell) is skipped, and is part of the error when no greeting comes.
func Connect(_ context.Context, rw io.ReadWriteCloser, _ Options) (*Client, error) {
	return nil, errors.Join(errors.New("not connected"), rw.Close())
}

// Info is what the other side said about itself.
func (c *Client) Info() Info { return Info{} }

// Gone receives one cause when the stream is lost, and is then closed. It is closed without one by Close.
func (c *Client) Gone() <-chan error { return c.gone }

// Run runs a command to its end, as runner.Runner.Run does. Cancelling ctx ends its whole tree and returns the partial result; when the
// other side does not answer that within the grace and 3 s, an error says so.
func (c *Client) Run(context.Context, runner.Spec) (runner.Result, error) {
	return runner.Result{}, ErrClosed
}

// Start starts a command in the background, and returns when it runs. Its output is kept in a ring on our side.
func (c *Client) Start(runner.Spec) (*Process, error) { return nil, ErrClosed }

// Close ends the commands of this connection, waits for that until ctx is done, and closes the stream. The far program ends when
// it was the last connection.
func (c *Client) Close(context.Context) error { return nil }
