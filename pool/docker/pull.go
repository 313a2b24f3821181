package docker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"hermes/core/event"
	"hermes/pool"
)

// pullImage fetches an image, and says how far it is.
func (e *engine) pullImage(ctx context.Context, ref string, r pool.Report) error {
	r.Step(event.BackendPulling, "image "+ref)
	auth, note := registryCredentials(ctx, ref)
	if note != "" {
		e.kind.opt.Log("%s", note)
	}
	err := e.fetchImage(ctx, ref, auth, r)
	if err == nil || ctx.Err() != nil {
		return err
	}
	err = e.pullFailure(ref, err)
	if note != "" {
		err = fmt.Errorf("%w (%s)", err, note)
	}
	return err
}

// errStalled is the cause of a pull that was given up.
var errStalled = errors.New("no progress")

// fetchImage reads the whole stream: errors are in it, and not reading it would cancel the pull
// without a word.
func (e *engine) fetchImage(ctx context.Context, ref, auth string, r pool.Report) error {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(e.kind.opt.PullStall, func() { cancel(errStalled) })
	defer stall.Stop()
	stream, err := cli.ImagePull(ctx, ref, image.PullOptions{RegistryAuth: auth})
	if err != nil {
		return errorOrCause(ctx, err)
	}
	defer stream.Close()
	p := newProgress(r.Progress)
	lines := bufio.NewReaderSize(stream, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			advanced, err := p.addLine(line)
			if err != nil {
				return err
			}
			if advanced {
				stall.Reset(e.kind.opt.PullStall)
			}
		}
		if errors.Is(err, io.EOF) {
			p.reportState(true)
			return errorOrCause(ctx, nil)
		}
		if err != nil {
			return errorOrCause(ctx, err)
		}
	}
}

// errorOrCause is err, or why the context made it happen.
func errorOrCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// pullFailure says what happened to a pull. Engines before 23 answer 500 to much that has a number
// of its own, so that the text counts too.
func (e *engine) pullFailure(ref string, err error) error {
	text := strings.ToLower(err.Error())
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	named, parseErr := reference.ParseNormalizedNamed(ref)
	if parseErr != nil {
		return fmt.Errorf("image %q is not a name that an image can have: %w", ref, parseErr)
	}
	where := reference.Domain(named)
	switch {
	case errors.Is(err, errStalled):
		return fmt.Errorf("pulling %s: no progress for %v: %s or the way to it is stuck", ref, e.kind.opt.PullStall, where)
	case client.IsErrConnectionFailed(err):
		return e.explainError(err)
	case errdefs.IsUnauthorized(err) || errdefs.IsPermissionDenied(err) || has("unauthorized", "no basic auth credentials", "authentication required", "access denied", "denied:"):
		return fmt.Errorf("pulling %s: %s wants other credentials, or there is no such image: log in with docker login %s: %w", ref, where, where, err)
	case errdefs.IsNotFound(err) || has("manifest unknown", "not found", "name unknown", "no such image"):
		return fmt.Errorf("pulling %s: %s has no such image or tag: %w", ref, where, err)
	case has("connection refused", "no such host", "i/o timeout", "network is unreachable", "tls handshake timeout", "dial tcp", "server misbehaving"):
		return fmt.Errorf("pulling %s: the engine cannot reach %s: %w", ref, where, err)
	case has("no space left on device"):
		return fmt.Errorf("pulling %s: the disk of the engine is full: %w", ref, err)
	case has("no matching manifest", "does not match the specified platform"):
		return fmt.Errorf("pulling %s: there is no such image for the engine's architecture: %w", ref, err)
	}
	return fmt.Errorf("pulling %s: %w", ref, err)
}

// ensureImage returns what the engine knows about an image, which it fetches when the policy says
// so.
func (e *engine) ensureImage(ctx context.Context, s fullSpec, r pool.Report, existing bool) (image.InspectResponse, error) {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return image.InspectResponse{}, err
	}
	if s.Pull == PullAlways && !existing {
		if err := e.pullImage(ctx, s.Image, r); err != nil {
			return image.InspectResponse{}, err
		}
	}
	got, err := cli.ImageInspect(ctx, s.Image)
	if err == nil || !errdefs.IsNotFound(err) {
		return got, e.explainError(err)
	}
	if existing {
		return got, err
	}
	if s.Pull == PullNever {
		return got, fmt.Errorf("the engine has no image %s, and pull: never forbids to fetch it", s.Image)
	}
	if err := e.pullImage(ctx, s.Image, r); err != nil {
		return got, err
	}
	got, err = cli.ImageInspect(ctx, s.Image)
	return got, e.explainError(err)
}

// imageOf returns what is known of the image that a container was made of, when its name leads to
// none any more.
func (e *engine) imageOf(ctx context.Context, c capi.InspectResponse) (image.InspectResponse, error) {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return image.InspectResponse{}, err
	}
	got, err := cli.ImageInspect(ctx, c.Image)
	if err == nil || !errdefs.IsNotFound(err) {
		return got, e.explainError(err)
	}
	info, err := e.machineFacts(ctx) // the image was removed by force: the container holds what it needs of it
	if err != nil {
		return got, err
	}
	arch := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[info.Architecture]
	if arch == "" {
		arch = info.Architecture
	}
	known, err := json.Marshal(map[string]any{
		"Id": c.Image, "Os": "linux", "Architecture": arch, "Config": map[string]string{"WorkingDir": c.Config.WorkingDir},
	})
	if err != nil {
		return got, err
	}
	err = json.Unmarshal(known, &got)
	return got, err
}
