package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes/core/backend"
	"hermes/core/clip"
	"hermes/core/config"
	"hermes/core/event"
)

// poolSession owns the commands of hooks in the pool.
const poolSession = "hooks"

// maxOutput bounds each of the two streams of a command, in bytes.
const maxOutput = 64 << 10

// refusesCode is the exit code by which a command refuses; what it says on stderr is the reason.
const refusesCode = 2

// Commands runs hooks that are commands.
type Commands struct{ Pool backend.Pool }

// Of makes hooks of the settings.
func (c Commands) Of(set config.Hooks) []Hook {
	var out []Hook
	set.Each(func(e string, h config.Hook) {
		if h.Command == "" {
			return
		}
		out = append(out, Hook{
			Event: Event(e), Name: h.Name, Matcher: h.Matcher, Command: h.Command, Backend: h.Backend,
			Timeout: h.Timeout, OnError: h.OnError, Run: c.runCommand,
		})
	})
	return out
}

func (c Commands) runCommand(ctx context.Context, h Hook, in Input, payload []byte) (Reply, error) {
	place, err := c.place(h.Backend)
	if err != nil {
		return Reply{}, err
	}
	var out, said bounded
	r := backend.Request{
		Session: poolSession, Backend: place.Name, Argv: []string{"sh", "-c", h.Command}, Shown: h.Command, Stdin: payload, MaxOutput: maxOutput,
		Env: map[string]string{"HERMES_HOOK_EVENT": string(h.Event), "HERMES_PROJECT_DIR": in.Cwd},
		Sink: func(from event.Stream, data []byte) {
			if from == event.Stdout {
				out.addOutput(data)
			} else if from != event.Note {
				said.addOutput(data)
			}
		},
	}
	if place.Traits.Local {
		r.Dir = in.Cwd
	}
	res, err := c.Pool.Exec(ctx, r)
	switch {
	case err != nil:
		return Reply{}, fmt.Errorf("it could not be run: %w", err)
	case out.full || said.full:
		return Reply{}, fmt.Errorf("it printed more than %d KiB", maxOutput>>10)
	case res.ExitCode == 0:
		return Reply{Out: out.Bytes()}, nil
	case res.ExitCode == refusesCode:
		return Reply{Refused: true, Reason: said.String(), Out: out.Bytes()}, nil
	}
	why := fmt.Sprintf("it ended with exit code %d", res.ExitCode)
	if last := clip.LastLine(said.String()); last != "" {
		why += ": " + last
	}
	return Reply{}, errors.New(why)
}

// place is the back end that a hook runs in: the one that is named, else this machine.
func (c Commands) place(name string) (backend.Status, error) {
	var names []string
	var here *backend.Status
	for _, b := range c.Pool.List(poolSession) {
		names = append(names, b.Name)
		switch {
		case name != "" && b.Name == name:
			return b, nil
		case name == "" && b.Traits.Local && (b.Default || here == nil):
			here = &b
		}
	}
	switch {
	case name != "":
		return backend.Status{}, fmt.Errorf("there is no back end %q; there are: %s", name, strings.Join(names, ", "))
	case here == nil:
		return backend.Status{}, fmt.Errorf("no back end is this machine: name the one that it is to run in (backend: %s)", strings.Join(names, " or "))
	}
	return *here, nil
}

// bounded keeps the beginning of a stream.
type bounded struct {
	bytes.Buffer
	full bool
}

func (b *bounded) addOutput(data []byte) {
	if room := maxOutput - b.Len(); len(data) > room {
		data, b.full = data[:room], true
	}
	b.Write(data)
}
