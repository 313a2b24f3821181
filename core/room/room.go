// Package room says where the files of a session are: on this machine, in a container, on a far
// host. It is the one meaning of "the files of the back end that the session uses" for the file
// tools, the composer and checkpoints.
//
// The contract: a name that does not exist is an error, and nothing else answers in the place of a
// back end that does not: a file of another place would be another file. Only an operation on a
// file brings a back end up; finding a Room asks nobody.
package room

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/files"
	"hermes/core/realpath"
)

// Room is a place with files.
type Room struct {
	Name     string // of the back end; "" is this machine
	Files    files.System
	Isolated bool // a container: its files are its own, but for Mounts
	Ready    bool // it is up: looking into it starts nothing
	Mounts   []Mount
}

// Mount is a folder of this machine, or of the engine's, as a room sees it.
type Mount struct{ Host, Inside string }

// Finder finds the rooms of sessions.
type Finder struct {
	Pool backend.Pool
	Home string // the person's; ~ on this machine
}

// Find returns the room of a back end, by its name; "" is the session's own.
func (f Finder) Find(session, name string) (Room, error) {
	if f.Pool == nil {
		return f.here(), nil
	}
	list := f.Pool.List(session)
	i := slices.IndexFunc(list, func(s backend.Status) bool { return s.Name == name || name == "" && s.Selected })
	if i < 0 && name == "" {
		i = slices.IndexFunc(list, func(s backend.Status) bool { return s.Default })
	}
	if i >= 0 {
		return f.of(session, list[i]), nil
	}
	if name == "" {
		return f.here(), nil
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return Room{}, fmt.Errorf("there is no back end %q: there are %s", name, strings.Join(names, ", "))
}

func (f Finder) here() Room { return Room{Files: files.Local{Home: f.Home}, Ready: true} }

func (f Finder) of(session string, s backend.Status) Room {
	if s.Traits.Local {
		return f.here()
	}
	r := Room{Name: s.Name, Isolated: s.Traits.Isolated, Ready: s.State == event.BackendReady}
	for _, m := range s.Mounts {
		if host, rest, ok := strings.Cut(m, ":"); ok {
			inside, _, _ := strings.Cut(rest, ":")
			r.Mounts = append(r.Mounts, Mount{Host: host, Inside: path.Clean(inside)})
		}
	}
	r.Files = &files.Far{Ask: func(ctx context.Context, name, path string, request []byte) ([]byte, error) {
		return execWhole(ctx, f.Pool, backend.Request{
			Session: session, Backend: s.Name, Argv: []string{name, path}, Files: true, Stdin: request, MaxOutput: files.MaxReply,
		})
	}}
	return r
}

// execWhole is the output of a command, which must have come whole.
func execWhole(ctx context.Context, pool backend.Pool, r backend.Request) ([]byte, error) {
	res, err := pool.Exec(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case res.Interrupted:
		return nil, errors.New(strings.Join(append(res.Warnings, "it was interrupted"), ": "))
	case res.Truncated:
		return nil, errors.New("the answer is too large: ask for less")
	}
	return res.Output, nil
}

// Host returns what a path of the room is on the machine that its container runs on, when a mount
// shows it that.
func (r Room) Host(real string) (string, bool) {
	best := Mount{}
	for _, m := range r.Mounts {
		if realpath.Within(real, m.Inside) && len(m.Inside) > len(best.Inside) {
			best = m
		}
	}
	if best.Inside == "" {
		return "", false
	}
	return path.Join(best.Host, strings.TrimPrefix(real, strings.TrimSuffix(best.Inside, "/"))), true
}

// Show is a path as people and models see it.
func (r Room) Show(abs string) string {
	if r.Name == "" {
		return abs
	}
	return r.Name + ":" + abs
}

// Bare takes the name of the room off a path, as Show put it there.
func (r Room) Bare(path string) string {
	if rest, ok := strings.CutPrefix(path, r.Name+":"); ok && r.Name != "" && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "~")) {
		return rest
	}
	return path
}
