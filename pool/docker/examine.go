package docker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/pool"
)

// examineTime is how long one engine is waited for.
const examineTime = 3 * time.Second

// Examine asks each engine of specs what it is and which images it lacks. It changes nothing.
func (k *Kind) Examine(ctx context.Context, specs []pool.Spec, def string) (found []backend.Finding) {
	images, needed := map[string][]string{}, map[string]bool{}
	for _, s := range specs {
		own := specOf(s)
		if !slices.Contains(images[own.Engine], own.Image) {
			images[own.Engine] = append(images[own.Engine], own.Image)
		}
		needed[own.Engine] = needed[own.Engine] || s.Name == def
	}
	for _, address := range slices.Sorted(maps.Keys(images)) {
		bounded, cancel := context.WithTimeout(ctx, examineTime)
		about, missing, err := k.describeEngine(bounded, address, images[address])
		cancel()
		f := backend.Finding{Level: event.Info, Subject: "engine", Text: about + "; all images are there"}
		switch {
		case err != nil:
			f.Level, f.Text = event.Warn, err.Error()
			if needed[address] {
				f.Level = event.Error
			}
			f.Fix = "commands for its containers fail until it answers; terminal.backends.<name>.engine or DOCKER_HOST name another one"
		case len(missing) > 0:
			f.Text = about + "; not there yet: " + strings.Join(missing, ", ")
			f.Fix = "`hermes pool pull` fetches it now; else the first use does"
		}
		found = append(found, f)
	}
	return found
}

// describeEngine says what the engine at an address is, and which images it does not have.
func (k *Kind) describeEngine(ctx context.Context, address string, images []string) (about string, missing []string, err error) {
	e, err := k.engineAt(address)
	if err != nil {
		return "", nil, err
	}
	info, err := e.machineFacts(ctx)
	if err != nil {
		return "", nil, err
	}
	cli, err := e.connectClient(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, image := range images {
		if _, err := cli.ImageInspect(ctx, image); cerrdefs.IsNotFound(err) {
			missing = append(missing, image)
		}
	}
	about = fmt.Sprintf("%s: version %s, storage %s, cgroup %s", e.at.host, info.ServerVersion, info.Driver, info.CgroupVersion)
	return about, missing, nil
}
