package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// engineTime is how long doctor waits for one engine.
const engineTime = 3 * time.Second

// Engine is what is known of an engine that back ends use.
type Engine struct {
	Address string
	About   string   // version, storage driver, cgroups
	Missing []string // images that it does not have
	Err     error
}

// backends looks at where commands run. Far hosts are not called: that may ask for a touch of a key, and shows up in logs there.
func (x *examination) backends(ctx context.Context) {
	def, places := x.start.Config.Places()
	var containers, hosts []string
	for _, name := range slices.Sorted(maps.Keys(places)) {
		switch p := places[name]; p.Kind {
		case "docker":
			containers = append(containers, name)
		case "ssh":
			hosts = append(hosts, name+" ("+p.Host+")")
		}
	}
	x.add("back ends", good, "", "%d, of which %s is the default (%s)", len(places), def, places[def].Kind)
	if len(hosts) > 0 {
		x.add("hosts", good, "", "%s; not called: `hermes pool up NAME` tries one", strings.Join(hosts, ", "))
	}
	if len(containers) == 0 || x.c.program.Engine == nil {
		return
	}
	images := map[string][]string{} // by engine
	for _, name := range containers {
		p := places[name]
		if !slices.Contains(images[p.Engine], p.Image) {
			images[p.Engine] = append(images[p.Engine], p.Image)
		}
	}
	for _, address := range slices.Sorted(maps.Keys(images)) {
		bounded, cancel := context.WithTimeout(ctx, engineTime)
		without := warn
		if places[def].Kind == "docker" && places[def].Engine == address {
			without = bad
		}
		x.engine(x.c.program.Engine(bounded, address, images[address]), without)
		cancel()
	}
}

func (x *examination) engine(e Engine, without verdict) {
	switch {
	case e.Err != nil:
		x.add("engine", without, "commands for its containers fail until it answers; terminal.backends.<name>.engine or DOCKER_HOST name another one", "%v", e.Err)
	case len(e.Missing) > 0:
		x.add("engine", good, "`hermes pool pull` fetches it now; else the first use does", "%s: %s; not there yet: %s", e.Address, e.About, strings.Join(e.Missing, ", "))
	default:
		x.add("engine", good, "", "%s: %s; all images are there", e.Address, e.About)
	}
}
