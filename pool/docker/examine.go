package docker

import (
	"context"

	cerrdefs "github.com/containerd/errdefs"
)

// Facts are what `hermes doctor` tells about an engine.
type Facts struct {
	Address string // where it is
	Version string
	Storage string // driver of the file system below containers
	Cgroup  string // "1" or "2": how limits are kept
	Missing []string
}

// Examine asks the engine at a configured address ("" is that of the environment) what it is, and which of the images it does not have. It
// changes nothing.
func (k *Kind) Examine(ctx context.Context, address string, images ...string) (Facts, error) {
	e, err := k.engine(address)
	if err != nil {
		return Facts{Address: address}, err
	}
	f := Facts{Address: e.at.host}
	info, err := e.facts(ctx)
	if err != nil {
		return f, err
	}
	f.Version, f.Storage, f.Cgroup = info.ServerVersion, info.Driver, info.CgroupVersion
	cli, err := e.client(ctx)
	if err != nil {
		return f, err
	}
	for _, image := range images {
		if _, err := cli.ImageInspect(ctx, image); cerrdefs.IsNotFound(err) {
			f.Missing = append(f.Missing, image)
		}
	}
	return f, nil
}
