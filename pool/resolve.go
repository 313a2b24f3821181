package pool

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// resolveName decides which back end runs a call: the one that the call names, else the session's
// selected one, else def. A name that does not exist gives def and a warning. Names has def first.
func resolveName(requested, selected, def string, names []string) (name, warning string) {
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
	return fmt.Sprintf("backend '%s' not found. Available: %s", name, joinNames(names))
}

func joinNames(names []string) string { return strings.Join(names, ", ") }

// chooseBackend resolves a name for a session. A name that does not exist is no way from a
// container onto this machine: where there are other kinds of back ends and the default is this
// machine, it is an error.
func (p *Pool) chooseBackend(session, requested string) (name, warning string, err error) {
	c := p.config()
	name, warning = resolveName(requested, p.selectedBackend(session), c.Default, c.backendNames())
	if warning == "" || !c.Backends[name].about.Local {
		return name, warning, nil
	}
	for _, s := range c.Backends {
		if !s.about.Local {
			return "", "", errors.New(warning + ". The default is this machine, which runs only what asks for it: the command was not started")
		}
	}
	return name, warning, nil
}

// refuseFallback says why def must not run what was meant for failed, "" when it may: never on this
// machine or on a far host, and never where a command can reach more than where it was to run.
func refuseFallback(policy Fallback, failed, def Spec) string {
	switch {
	case failed.Name == def.Name:
		return "it is the default, which nothing stands in for"
	case policy == FallbackError:
		return "terminal.fallback is error"
	case def.about.Local:
		return fmt.Sprintf("the default, '%s', is this machine, which never stands in for another place", def.Name)
	case !def.about.Isolated:
		return fmt.Sprintf("the default, '%s', is of kind %s: only a container stands in for another place", def.Name, def.Kind)
	case failed.about.Limited:
		return fmt.Sprintf("'%s' limits what commands may run and the default, '%s', does not", failed.Name, def.Name)
	case def.about.Network != NoNetwork && failed.about.Isolated && def.about.Network != failed.about.Network:
		return fmt.Sprintf("the default, '%s', has the network %s and '%s' has %s. Give the default `network: none` or the same one",
			def.Name, def.about.Network, failed.Name, failed.about.Network)
	}
	for _, m := range def.about.Mounts {
		if !allowedByDefault(m, failed, def) {
			return fmt.Sprintf("the default, '%s', can %s %s and '%s' cannot. Take that mount from the default, or give it to '%s'",
				def.Name, mountAccess(m), m.Source, failed.Name, failed.Name)
		}
	}
	return ""
}

func mountAccess(m Mount) string {
	if m.ReadOnly {
		return "read"
	}
	return "write"
}

// allowedByDefault says whether failed may do to the source of m what m allows, on the same
// machine.
func allowedByDefault(m Mount, failed, def Spec) bool {
	if failed.about.At != def.about.At {
		return false
	}
	inner := linkTarget(m.Source)
	return slices.ContainsFunc(failed.about.Mounts, func(f Mount) bool {
		outer := linkTarget(f.Source)
		within := outer == inner || strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+"/")
		return within && (m.ReadOnly || !f.ReadOnly)
	})
}

// linkTarget is what a path means: a link below a shared folder may lead out of it. What is not
// there is taken as it is written.
func linkTarget(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return filepath.Clean(name)
}
