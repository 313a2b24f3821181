package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes/core/clip"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxAnswer bounds what Ask returns, in bytes.
const maxAnswer = 64 << 10

var errHung = errors.New("it did not answer in time and was ended")

// Ask calls a tool of a server for the program itself: no model asked for it, and none is told. The
// server is started when it does not run. One that does not answer within ctx is ended.
func (m *Manager) Ask(ctx context.Context, name, tool string, args json.RawMessage) (string, error) {
	s, err := m.findServer(name)
	if err != nil {
		return "", err
	}
	conn, err := s.awaitConnection(ctx)
	if err != nil {
		return "", err
	}
	res, err := conn.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		s.log.addNote(tool + " did not answer in time: it is ended")
		s.dropConnection(conn)
		conn.endUnanswered()
		return "", ctx.Err()
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("%s: %w", tool, conn.cause(err))
	}
	var texts []string
	for _, c := range res.Content {
		if text, is := c.(*sdk.TextContent); is {
			texts = append(texts, text.Text)
		}
	}
	text := strings.Join(texts, "\n")
	switch {
	case len(text) > maxAnswer:
		return "", fmt.Errorf("%s answered with more than %d KiB", tool, maxAnswer>>10)
	case res.IsError:
		return "", fmt.Errorf("%s failed: %s", tool, clip.Runes(plainText(text), 300, "…"))
	}
	return text, nil
}

// awaitConnection starts a server and waits for its connection, for as long as leaves time to say
// why there is none.
func (s *server) awaitConnection(ctx context.Context) (*connection, error) {
	wait := ctx
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		wait, cancel = context.WithDeadline(ctx, end.Add(-time.Until(end)/4))
		defer cancel()
	}
	s.m.Await(wait, s.currentSettings().Name)
	conn, err := s.connectionOf(wait)
	if err != nil && ctx.Err() == nil && wait.Err() != nil {
		st := s.statusNow()
		return nil, notConnected(st.Name, st.State, st.Next, st.LastError)
	}
	return conn, err
}

// endUnanswered ends a connection whose other side does not answer, as a failure of that side.
func (c *connection) endUnanswered() {
	c.hung.Store(true)
	c.end()
}

// whyEnded says why a connection ended.
func (c *connection) whyEnded(err error) error {
	if c.hung.Load() {
		return errHung
	}
	return c.cause(err)
}
