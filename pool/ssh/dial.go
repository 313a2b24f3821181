package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"hermes/core/crash"
)

// beat is how often a connection is asked whether it lives, and silence how long it may stay quiet.
const (
	beat    = 15 * time.Second
	silence = 45 * time.Second
)

// connection is a login at a host, through the hosts on the way.
type connection struct {
	*gossh.Client
	hops     []*gossh.Client // the nearest first, without the last
	warnings []string
	done     chan struct{} // closed by Close
	closing  sync.Once
}

// Close ends it and the ways to it.
func (c *connection) Close() {
	c.closing.Do(func() {
		close(c.done)
		_ = c.Client.Close()
		for i := len(c.hops) - 1; i >= 0; i-- {
			_ = c.hops[i].Close()
		}
	})
}

// dialTarget logs in. It takes no longer than ctx and the timeouts of the hosts allow.
func dialTarget(ctx context.Context, t target) (*connection, error) {
	c := &connection{done: make(chan struct{})}
	for i, next := range append(append([]target(nil), t.via...), t) {
		reach := net.Dialer{Timeout: next.timeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: beat, Interval: 5 * time.Second, Count: 4}}
		open := reach.DialContext
		if i > 0 {
			open = c.DialContext
			next.via = t.via[:i]
		}
		client, warnings, err := loginTo(ctx, next, open)
		c.warnings = append(c.warnings, warnings...)
		if err != nil {
			if c.Client != nil {
				c.Close()
			}
			return nil, onTheWay(t, next, i, err)
		}
		if c.Client != nil {
			c.hops = append(c.hops, c.Client)
		}
		c.Client = client
	}
	crash.Go("ssh keepalive", func() { c.keepAlive(beat, silence) })
	return c, nil
}

func onTheWay(t, next target, i int, err error) error {
	if i < len(t.via) {
		return fmt.Errorf("%s, on the way to %s: %w", next.alias, t.alias, err)
	}
	return err
}

type opener func(ctx context.Context, network, addr string) (net.Conn, error)

// loginTo connects to one host, checks that it is the right one, and proves who we are.
func loginTo(ctx context.Context, t target, open opener) (*gossh.Client, []string, error) {
	reach, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	known, err := readHostKeys(t.known)
	if err != nil {
		return nil, nil, err
	}
	defer known.Close()
	conn, err := open(reach, "tcp", t.hostPort())
	if err != nil {
		return nil, known.warnings, unreachableError(ctx, t, err)
	}
	id, err := collectKeys(reach, t)
	if err != nil {
		_ = conn.Close()
		return nil, known.warnings, err
	}
	defer id.Close()
	client, err := shakeHands(ctx, t, conn, known, id)
	return client, append(known.warnings, id.warnings...), err
}

// shakeHands bounds what the library does not: it reads from a host that may say nothing for ever,
// and asks an agent that may ask a person.
func shakeHands(ctx context.Context, t target, conn net.Conn, known *hostKeys, id *identity) (*gossh.Client, error) {
	patience := 2*t.timeout + time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		_ = conn.Close()
		id.Close()
	})
	defer stop()
	config := &gossh.ClientConfig{
		HostKeyCallback:   known.checkKey(t),
		HostKeyAlgorithms: known.keyAlgorithms(t),
		ClientVersion:     "SSH-2.0-hermes",
		BannerCallback:    func(string) error { return nil }, // not ours to show: it is for people who log in
	}
	id.setAuth(config)
	c, channels, requests, err := gossh.NewClientConn(conn, t.hostPort(), config)
	if err == nil && !stop() {
		_ = c.Close()
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, whyNot(ctx, t, id, patience, err)
	}
	return gossh.NewClient(c, channels, requests), nil
}

// whyNot puts the library's error into words.
func whyNot(ctx context.Context, t target, id *identity, patience time.Duration, err error) error {
	var host *HostKeyError
	if errors.As(err, &host) {
		return host
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s did not let us in within %v: it accepts connections, but says nothing (or the ssh agent waits for somebody)", t.hostPort(), patience)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("logging in at %s was given up: %w", t.hostPort(), ctx.Err())
	}
	if refused := id.explainRefusal(err); refused != nil {
		return refused
	}
	var unlike *gossh.AlgorithmNegotiationError
	if errors.As(err, &unlike) {
		return fmt.Errorf("%s is too old or too strict: %w", t.hostPort(), heard{err})
	}
	return fmt.Errorf("logging in at %s: %w (is that an ssh server?)", t.hostPort(), heard{err})
}

// heard is an error that may quote the host, which may write anything.
type heard struct{ err error }

func (h heard) Error() string { return cleanOutput([]byte(h.err.Error())) }
func (h heard) Unwrap() error { return h.err }

func unreachableError(ctx context.Context, t target, err error) error {
	var dns *net.DNSError
	var refused *gossh.OpenChannelError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("connecting to %s was given up: %w", t.hostPort(), ctx.Err())
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %s (%w): is the name right, or missing in ~/.ssh/config?", t.host, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s refused the connection: no ssh server listens there; is the port right? (%w)", t.hostPort(), err)
	case errors.As(err, &refused):
		return fmt.Errorf("the host before it does not reach %s: %s", t.hostPort(), cleanOutput([]byte(refused.Message)))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), strings.Contains(err.Error(), "i/o timeout"):
		return fmt.Errorf("%s did not answer within %v: is it up, and does a firewall stand between?", t.hostPort(), t.timeout)
	}
	return fmt.Errorf("connecting to %s: %w", t.hostPort(), err)
}

// keepAlive asks the host whether it is there, and closes the connection when it does not answer:
// every blocked read and write ends then.
func (c *connection) keepAlive(beat, silence time.Duration) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		late := time.AfterFunc(silence, func() { _ = c.Client.Close() })
		_, _, err := c.SendRequest("keepalive@openssh.com", true, nil)
		late.Stop()
		if err != nil {
			return
		}
	}
}
