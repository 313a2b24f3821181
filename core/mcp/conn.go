package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/backend"
	"hermes/core/childenv"
	"hermes/core/event"
)

// Owner of the pool's processes: one session for all servers, so that those of one back end meet
// in one container.
const poolSession = "mcp"

const (
	stdioProtocol = "2025-11-25"    // what is asked for first: a newer way to begin ends some servers
	closeTime     = 5 * time.Second // to end a connection and its processes
)

// connection is one life of a server.
type connection struct {
	session *sdk.ClientSession
	backend string
	end     func() // closes it and ends its processes; may be called again
	cause   func(error) error
	hung    atomic.Bool // see hang
}

// errSlow is why a start was given up.
var errSlow = errors.New("it did not answer in time")

// connectInTime makes a connection within the limit for a start.
func (s *server) connectInTime(ctx context.Context, set Settings) (*connection, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	limit := set.startLimit()
	timer := time.AfterFunc(limit, func() { cancel(errSlow) })
	c, err := s.dialServer(ctx, set)
	if !timer.Stop() && err == nil {
		c.end()
		err = errSlow
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), errSlow) {
			err = fmt.Errorf("%w: %s (connect_timeout)", errSlow, limit)
		}
		cancel(nil)
		return nil, err
	}
	end := c.end
	c.end = func() { end(); cancel(nil) }
	return c, nil
}

func (s *server) dialServer(ctx context.Context, set Settings) (*connection, error) {
	if set.usesStdio() {
		return s.dialProgram(ctx, set)
	}
	return s.dialHTTP(ctx, set)
}

// dialProgram starts the program in its back end and speaks with it over the pool's channel.
func (s *server) dialProgram(ctx context.Context, set Settings) (*connection, error) {
	if err := s.m.o.Allowed(set); err != nil {
		return nil, stopFor(err)
	}
	r, err := s.startRequest(set)
	if err != nil {
		return nil, err
	}
	pool := s.m.o.Pool
	proc, err := pool.Start(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("it could not be started: %w", err)
	}
	channel, err := pool.Channel(poolSession, proc.ID)
	if err != nil {
		killProcess(pool, proc.ID)
		return nil, err
	}
	lines := NewLines(channel, func(line []byte) { s.log.addLine("stdout", line) })
	end := sync.OnceFunc(func() {
		_ = lines.Close()
		killProcess(pool, proc.ID)
	})
	session, err := s.newClient(set).Connect(ctx, &sdk.IOTransport{Reader: lines, Writer: lines, MaxLineLength: -1},
		&sdk.ClientSessionOptions{ProtocolVersion: stdioProtocol})
	c := &connection{
		session: session, backend: proc.Backend, end: end,
		cause: s.explainEnd(lines, proc.ID),
	}
	if err != nil {
		err = c.cause(err)
		end()
		return nil, err
	}
	c.end = sync.OnceFunc(func() {
		end()
		_ = session.Close() // what it says is about a stream that is closed already
	})
	return c, nil
}

// start lets the program speak over descriptor 3 as if it were its input and output. The variable
// that it takes the names from holds those of variables that the program does not get.
const (
	start     = `unset $` + dropNames + ` ` + dropNames + `; exec "$@" <&3 >&3 3>&-`
	dropNames = "HERMES_MCP_UNSET"
)

// startRequest is what the pool is asked to run.
func (s *server) startRequest(set Settings) (backend.Request, error) {
	place, err := s.backendOf(set)
	if err != nil {
		return backend.Request{}, err
	}
	r := backend.Request{
		Session: poolSession, Backend: place.Name, Dir: set.Cwd, Channel: true,
		Sink: func(from event.Stream, data []byte) { s.log.writeOutput(string(from), data) },
	}
	drop := "HERMES_HOME"
	if place.Traits.Local {
		drop = strings.Join(unsafeNames(os.Environ(), set.Env), " ")
		r.Dir = filepath.Clean(s.m.o.Cwd())
		if set.Cwd != "" {
			r.Dir = s.m.o.Expand(set.Cwd)
		}
	}
	r.Env = maps.Clone(set.Env)
	if r.Env == nil {
		r.Env = map[string]string{}
	}
	r.Env[dropNames] = drop
	run := append([]string{set.Command}, set.Args...)
	r.Argv, r.Shown = append([]string{"sh", "-c", start, "sh"}, run...), strings.Join(run, " ")
	return r, nil
}

// backendOf is the back end that the program runs in: the one that is named, else this machine.
func (s *server) backendOf(set Settings) (backend.Status, error) {
	var names []string
	var here []backend.Status
	for _, b := range s.m.o.Pool.List(poolSession) {
		names = append(names, b.Name)
		switch {
		case b.Name == set.Backend:
			return b, nil
		case b.Traits.Local && (b.Default || len(here) == 0):
			here = append([]backend.Status{b}, here...)
		}
	}
	switch {
	case set.Backend != "":
		return backend.Status{}, stopFor(fmt.Errorf("there is no back end %q; there are: %s", set.Backend, strings.Join(names, ", ")))
	case len(here) == 0:
		return backend.Status{}, stopFor(fmt.Errorf("no back end is this machine: name the one that it is to run in (backend: %s)", strings.Join(names, " or ")))
	}
	return here[0], nil
}

// unsafeNames are the variables of env that a server does not get: all but the safe ones and those
// that its entry names.
func unsafeNames(env []string, named map[string]string) []string {
	out := []string{"HERMES_HOME"}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if _, wanted := named[name]; wanted || !syntax.ValidName(name) {
			continue
		}
		if pass, _ := (childenv.Rule{}).Judge(name); !pass {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func killProcess(pool backend.Pool, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_, _ = pool.Kill(ctx, poolSession, id) // what does not end by this ends with its back end
}

// explainEnd says how a program's connection ended, in words for people.
func (s *server) explainEnd(lines *Lines, id string) func(error) error {
	return func(err error) error {
		var wire *jsonrpc.Error
		switch cause := lines.Cause(); {
		case errors.Is(cause, errFrame):
			return cause
		case errors.As(err, &wire):
			return errors.New(plainText(wire.Message))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		p, werr := s.m.o.Pool.Wait(ctx, poolSession, id, time.Second)
		last := s.log.lastLine()
		switch {
		case werr == nil && !p.Running && last != "":
			return fmt.Errorf("it ended with exit code %d; its last words: %s", p.ExitCode, last)
		case werr == nil && !p.Running:
			return fmt.Errorf("it ended with exit code %d and said nothing", p.ExitCode)
		case errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed):
			return errors.New("it closed its output")
		default:
			return err
		}
	}
}
