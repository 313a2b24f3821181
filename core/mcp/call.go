package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/clip"
	"hermes/core/event"
	"hermes/core/tool"
)

const (
	longestCall = 4 * time.Hour    // whatever progress says
	reconnect   = 10 * time.Second // a call waits as long for a server that is being connected
)

// calling is a call on its way: what a server asks meanwhile is asked in its session.
type calling struct {
	session, turn, id string

	quiet *time.Timer // ends the call
	limit time.Duration

	samples int // times that it asked the model
}

// holdClock stops the clock of the call while a person is asked; what it returns lets it go on.
func (c *calling) holdClock() func() {
	c.quiet.Stop()
	return func() { c.quiet.Reset(c.limit) }
}

// errSilent is why a call was given up.
var errSilent = errors.New("it was silent for too long")

// sendCall sends a call and waits for its result.
func (s *server) sendCall(ctx context.Context, t *remote, c tool.Call) (*sdk.CallToolResult,
	error,
) {
	conn, err := s.connectionOf(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := t.set.callLimit()
	quiet := time.AfterFunc(limit, func() { cancel(fmt.Errorf("%w: %s (timeout of the server; ask for less at a time)", errSilent, limit)) })
	defer quiet.Stop()
	total := time.AfterFunc(longestCall, func() { cancel(fmt.Errorf("it took longer than %s", longestCall)) })
	defer total.Stop()

	me := &calling{session: c.Session, turn: c.Turn, id: c.ID, quiet: quiet, limit: limit}
	token := s.enrollCall(me, func(p *sdk.ProgressNotificationParams) {
		quiet.Reset(limit)
		c.Output(event.Note, []byte(progressLine(p)+"\n"))
	})
	defer s.leaveCall(me, token)
	params := &sdk.CallToolParams{Name: t.def.Name, Arguments: json.RawMessage(c.Args)}
	params.SetProgressToken(token)
	res, err := conn.session.CallTool(ctx, params)
	if err == nil {
		return res, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	var wire *jsonrpc.Error
	switch {
	case !errors.As(err, &wire):
		s.dropConnection(conn)
		return nil, conn.cause(err)
	case wire.Code == codeNotSent:
		s.dropConnection(conn)
		s.restartConnection() // the library holds such a connection for a good one
		return nil, conn.cause(explainNotSent(err))
	default:
		return nil, errors.New(plainText(wire.Message))
	}
}

// codeNotSent is the library's code for a request that did not reach the server.
const codeNotSent = -32005

// explainNotSent says of a request that did not reach the server why, without the library's words
// around it. Any other error is returned as it is.
func explainNotSent(err error) error {
	var wire *jsonrpc.Error
	var request *url.Error
	switch {
	case errors.As(err, &wire) && wire.Code == codeNotSent:
		_, why, _ := strings.Cut(err.Error(), wire.Message+": ")
		return errors.New("it could not be reached: " + plainText(why))
	case errors.As(err, &request):
		return fmt.Errorf("it could not be reached: %w", request)
	default:
		return err
	}
}

// dropConnection lets no other call use a connection that broke; the server's goroutine makes a new
// one.
func (s *server) dropConnection(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == c {
		s.conn = nil
	}
}

// connectionOf returns the connection; one that is being made is waited for, for a while.
func (s *server) connectionOf(ctx context.Context) (*connection, error) {
	deadline := time.NewTimer(reconnect)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		conn, state, next, why, set := s.conn, s.state, s.next, s.err, s.set
		soon := s.running && (state != StateRetrying || time.Until(next) < reconnect) && state != StateLogin && state != StateFailed
		s.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		if !soon {
			return nil, notConnected(set.Name, state, next, why)
		}
		tick := time.NewTimer(20 * time.Millisecond)
		select {
		case <-ctx.Done():
			tick.Stop()
			return nil, ctx.Err()
		case <-deadline.C:
			tick.Stop()
			return nil, notConnected(set.Name, state, next, why)
		case <-tick.C:
		}
	}
}

func notConnected(name string, state State, next time.Time, why string) error {
	text := fmt.Sprintf("the server is not connected (%s)", state)
	if why != "" {
		text += ": " + why
	}
	switch state {
	case StateRetrying:
		text += fmt.Sprintf(". It is tried again in %s", time.Until(next).Round(time.Second))
	case StateLogin:
		text += fmt.Sprintf(". The person has to log in: `hermes mcp login %s`", name)
	default:
	}
	return errors.New(text)
}

// enrollCall makes a token for the progress of a call.
func (s *server) enrollCall(me *calling, told func(*sdk.ProgressNotificationParams)) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	token := "c" + strconv.Itoa(s.calls)
	s.progress[token] = told
	s.active = append(s.active, me)
	return token
}

func (s *server) leaveCall(me *calling, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.progress, token)
	for i, a := range s.active {
		if a == me {
			s.active = append(s.active[:i:i], s.active[i+1:]...)
			break
		}
	}
}

// passProgress brings a server's word of progress to its call.
func (s *server) passProgress(p *sdk.ProgressNotificationParams) {
	s.mu.Lock()
	token, _ := p.ProgressToken.(string)
	told := s.progress[token]
	s.mu.Unlock()
	if told != nil {
		told(p)
	}
}

func progressLine(p *sdk.ProgressNotificationParams) string {
	text := strconv.FormatFloat(p.Progress, 'g', 6, 64)
	if p.Total > 0 {
		text += " of " + strconv.FormatFloat(p.Total, 'g', 6, 64)
	}
	if p.Message != "" {
		text += ": " + clip.Runes(plainText(p.Message), 200, "…")
	}
	return text
}
