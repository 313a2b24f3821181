package pool

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// resolve decides which back end runs a call: the one that the call names, else the session's selected one, else def. A name that does not
// exist gives def and a warning. Names has def first.
func resolve(requested, selected, def string, names []string) (name, warning string) {
	for _, want := range []string{requested, selected} {
		switch {
		case want == "":
			continue
		case slices.Contains(names, want):
			return want, ""
		default:
			return def, notFound(want, names)
		}
	}
	return def, ""
}

func notFound(name string, names []string) string {
	return fmt.Sprintf("backend '%s' not found. Available: %s", name, join(names))
}

func join(names []string) string { return strings.Join(names, ", ") }

// choose resolves a name for a session. A name that does not exist is no way from a container onto this machine: where there are other kinds
// of back ends and the default is this machine, it is an error.
func (p *Pool) choose(session, requested string) (name, warning string, err error) {
	c := p.config()
	name, warning = resolve(requested, p.selected(session), c.Default, c.names())
	if warning == "" || c.Backends[name].Kind != localKind {
		return name, warning, nil
	}
	for _, s := range c.Backends {
		if s.Kind != localKind {
			return "", "", errors.New(warning + ". The default is this machine, which runs only what asks for it: the command was not started")
		}
	}
	return name, warning, nil
}

// refuse says why def must not run what was meant for failed, "" when it may: never on this machine or on a far host, and never where a
// command can reach more than where it was to run.
func refuse(policy Fallback, failed, def Spec) string {
	switch {
	case failed.Name == def.Name:
		return "it is the default, which nothing stands in for"
	case policy == FallbackError:
		return "terminal.fallback is error"
	case def.Kind == localKind:
		return fmt.Sprintf("the default, '%s', is this machine, which never stands in for another place", def.Name)
	case def.Kind != "docker":
		return fmt.Sprintf("the default, '%s', is of kind %s: only a container stands in for another place", def.Name, def.Kind)
	case len(failed.AllowedCommands)+len(failed.DeniedCommands) > 0:
		return fmt.Sprintf("'%s' limits what commands may run and the default, '%s', does not", failed.Name, def.Name)
	case wide(def.Network) && failed.Kind == "docker" && network(def.Network) != network(failed.Network):
		return fmt.Sprintf("the default, '%s', has the network %s and '%s' has %s. Give the default `network: none` or the same one",
			def.Name, network(def.Network), failed.Name, network(failed.Network))
	}
	for _, m := range def.Mounts {
		if !covered(m, failed, def) {
			return fmt.Sprintf("the default, '%s', can %s %s and '%s' cannot. Take that mount from the default, or give it to '%s'",
				def.Name, access(m), m.Source, failed.Name, failed.Name)
		}
	}
	return ""
}

func network(name string) string { return cmp.Or(name, "bridge") }

func wide(name string) bool { return name != "none" }

func access(m Mount) string {
	if m.ReadOnly {
		return "read"
	}
	return "write"
}

// covered says whether failed may do to the source of m what m allows, on the same machine.
func covered(m Mount, failed, def Spec) bool {
	if failed.Engine != def.Engine {
		return false
	}
	inner := target(m.Source)
	return slices.ContainsFunc(failed.Mounts, func(f Mount) bool {
		outer := target(f.Source)
		within := outer == inner || strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+"/")
		return within && (m.ReadOnly || !f.ReadOnly)
	})
}

// target is what a path means: a link below a shared folder may lead out of it. What is not there is taken as it is written.
func target(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return filepath.Clean(name)
}
