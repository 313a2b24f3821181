package docker

import (
	"slices"
	"strings"
	"testing"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/pool"
)

// A command that cannot be started is an error at once. The container is not lost because of it:
// nothing in it ends, and nothing else runs the command.
func TestAWrongCommandIsNotALostContainer(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	p := r.pool(map[string]pool.Spec{"default": {}, "bad": {Shell: "/loop/sh"}})
	run := func(b backend.Request) (backend.Result, error) {
		b.Session, b.Backend = "s", "bad"
		return p.Exec(t.Context(), b)
	}
	server, err := p.Start(t.Context(), backend.Request{Session: "s", Backend: "bad", Argv: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(backend.Request{Argv: []string{"sh", "-c", "mkdir /loop && ln -s sh /loop/sh"}}); err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string]backend.Request{
		"/loop/sh was not started in " + defaultWorkdir + ": too many levels of symbolic links": {Command: "true"},
		"nosuchprogram was not started: no such program in PATH":                                {Argv: []string{"nosuchprogram"}},
		"the directory /nosuchdirectory does not exist":                                         {Argv: []string{"true"}, Dir: "/nosuchdirectory"},
	} {
		res, err := run(b)
		if err == nil || !strings.HasPrefix(err.Error(), "backend 'bad': ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v %+v, want %s", err, res, want)
		}
		if _, err := p.Start(t.Context(), backend.Request{Session: "s", Backend: "bad", Command: b.Command, Argv: b.Argv, Dir: b.Dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("in the background: %v, want %s", err, want)
		}
	}
	if list := p.Processes("s"); len(list) != 1 || !list[0].Running || list[0].ID != server.ID {
		t.Errorf("what ran beside it: %+v", list)
	}
	i := slices.IndexFunc(p.List("s"), func(s backend.Status) bool { return s.Name == "default" })
	if s := p.List("s")[i]; s.State != event.BackendAbsent {
		t.Errorf("the default is %s: did it run any?", s.State)
	}
}
