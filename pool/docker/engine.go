package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
)

// engine is one Docker engine, shared by all back ends on it. It is opened by the first of them
// that starts.
type engine struct {
	kind *Kind
	at   endpoint

	turn   chan struct{} // holds one while cli is looked at
	cli    *client.Client
	silent time.Time // when somebody had waited in vain; looked at with cli

	mu        sync.Mutex
	info      *system.Info
	swept     bool
	reached   bool
	installed map[string]string // digest of the runner by volume: known to be whole

	watch watcher
}

// connectClient returns the connection. The version is agreed on here, once: the client would do it
// with its first request too, but without care for requests that others make meanwhile.
func (e *engine) connectClient(ctx context.Context) (*client.Client, error) {
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("the Docker engine at %s does not answer: %w", e.at.host, ctx.Err())
	}
	defer func() { <-e.turn }()
	if e.cli != nil {
		return e.cli, nil
	}
	if time.Since(e.silent) < silence { // who waited behind somebody for it does not wait once more
		return nil, &Unreachable{Engine: e.at.host, Err: errSilent}
	}
	opts, err := e.at.clientOptions(max(answerTime, 2*e.kind.opt.PullStall))
	if err != nil {
		return nil, err
	}
	cli, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, fmt.Errorf("docker engine %s: %w", e.at.host, err)
	}
	answer, err := e.waitForAnswer(ctx, cli)
	if err != nil {
		if errors.Is(err, errSilent) {
			e.silent = time.Now()
		}
		return nil, errors.Join(err, cli.Close())
	}
	cli.NegotiateAPIVersionPing(answer)
	e.cli = cli
	return cli, nil
}

const (
	pingTime   = 15 * time.Second // for the smallest question there is: an engine in a machine that wakes up takes its time
	sshTime    = 45 * time.Second // with the connection that has to be made before
	answerTime = 2 * time.Minute  // for the beginning of any other answer
	silence    = 3 * time.Second  // how long it is believed that it does not answer
)

var errSilent = errors.New("it takes connections, but does not answer")

// waitForAnswer returns when the engine answers, or when it is clear that it does not.
func (e *engine) waitForAnswer(ctx context.Context, cli *client.Client) (types.Ping, error) {
	patience := pingTime
	if strings.HasPrefix(e.at.host, "ssh://") {
		patience = sshTime
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	answer, err := cli.Ping(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return answer, &Unreachable{Engine: e.at.host, Err: errSilent}
	}
	return answer, e.explainError(err)
}

// clientOptions tell the client how to get there, and for how long it waits for the beginning of an
// answer. Without negotiation the version of the client's own day would be asked for, which older
// and much newer engines refuse.
func (at endpoint) clientOptions(patience time.Duration) ([]client.Opt, error) {
	transport := &http.Transport{ResponseHeaderTimeout: patience}
	opts := []client.Opt{
		client.WithAPIVersionNegotiation(), client.WithUserAgent("hermes"),
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
	}
	if v := os.Getenv(client.EnvOverrideAPIVersion); v != "" {
		opts = append(opts, client.WithVersion(v))
	}
	if strings.HasPrefix(at.host, "ssh://") {
		argv, err := sshCommand(at.host)
		if err != nil {
			return nil, err
		}
		return append(opts, client.WithHost("http://docker.invalid"), client.WithDialContext(dialCommand(argv))), nil
	}
	if t := at.tls; t != (tlsFiles{}) {
		config, err := t.clientConfig()
		if err != nil {
			return nil, fmt.Errorf("docker engine %s: its certificates: %w", at.host, err)
		}
		transport.TLSClientConfig = config
	}
	return append(opts, client.WithHost(at.host)), nil
}

// machineFacts are what the engine says about its machine. They are asked for once.
func (e *engine) machineFacts(ctx context.Context) (system.Info, error) {
	e.mu.Lock()
	info := e.info
	e.mu.Unlock()
	if info != nil {
		return *info, nil
	}
	cli, err := e.connectClient(ctx)
	if err != nil {
		return system.Info{}, err
	}
	fresh, err := cli.Info(ctx)
	if err != nil {
		return system.Info{}, e.explainError(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.info = &fresh
	return fresh, nil
}

// explainError makes an engine's error one for people. What it is can still be asked of it.
func (e *engine) explainError(err error) error {
	var explained *Unreachable
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.As(err, &explained):
		return err
	case errors.Is(err, fs.ErrPermission): // of the socket: it is no file of hermes, and the rest of the text says nothing more
		return fmt.Errorf("the Docker engine at %s does not let this user in: join the group docker, or use a rootless engine", e.at.host)
	case client.IsErrConnectionFailed(err):
		return &Unreachable{Engine: e.at.host, Err: err}
	case errdefs.IsPermissionDenied(err):
		return fmt.Errorf("the Docker engine at %s refuses this: %w", e.at.host, err)
	case strings.Contains(err.Error(), "no space left on device"):
		return fmt.Errorf("the disk of the Docker engine at %s is full: free some (docker system df shows what is used): %w", e.at.host, err)
	}
	return err
}

// Unreachable is an error of an engine that does not answer.
type Unreachable struct {
	Engine string
	Err    error
}

func (u *Unreachable) Error() string {
	hint := "is it running?"
	if runtime.GOOS == "darwin" {
		hint = "is Docker Desktop (or colima) running?"
	}
	return fmt.Sprintf("the Docker engine at %s cannot be reached: %s (%v)", u.Engine, hint, u.Err)
}

func (u *Unreachable) Unwrap() error { return u.Err }

// wasUsed says whether it was spoken to.
func (e *engine) wasUsed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reached
}

func (e *engine) close() error {
	e.watch.close()
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	if e.cli == nil {
		return nil
	}
	err := e.cli.Close()
	e.cli = nil
	return err
}
