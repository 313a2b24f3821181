package core

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/execcode"
	"hermes/core/learn"
	"hermes/core/learn/learntest"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/skills"
)

// tryPart is what runs checks in a program with the settings of a test.
func tryPart(t *testing.T, more string) *learnPart {
	t.Helper()
	x, _, _ := gatePlace(t, more, learntest.Model)
	t.Cleanup(x.close)
	engine := execcode.New(execcode.Options{Env: os.Environ, Homes: []string{t.TempDir()}})
	t.Cleanup(engine.Close)
	if r, err := engine.Probe(t.Context(), ""); err != nil || r.Isolation.Landlock == 0 || !r.Isolation.Seccomp {
		testskip.Missing(t, "a sandbox for checks", err)
	}
	return &learnPart{a: x.App, scripts: &scriptsPart{a: x.App, engine: engine}}
}

// A check runs in a folder of its own: it changes nothing elsewhere, sees no variables, and what
// the settings forbid is not run.
func TestAChecksWorldIsItsOwn(t *testing.T) {
	t.Setenv("CHECK_CANARY", "seen")
	p := tryPart(t, "")
	outside := filepath.Join(t.TempDir(), "made")
	for script, want := range map[string]int{
		": > \"$WORLD/made\"; test \"$(cat prog.sh)\" = 'echo hi'":                                          0,
		": > \"$WORLD/made\"; false":                                                                        1,
		": > \"$WORLD/made\"; echo x > " + outside:                                                          1,
		": > \"$WORLD/made\"; test -z \"$CHECK_CANARY\" && test ! -e ~/.hermes":                             0,
		": > \"$WORLD/made\"; python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 22), 2)'": 1,
		": > \"$WORLD/made\"; no-such-program || true":                                                      0,
	} {
		code, err := p.tryCheck(t.Context(), learn.Trial{Files: map[string]string{"prog.sh": "echo hi"}, Script: script, Time: testwait.Hang})
		if err != nil || code != want {
			t.Errorf("%s: %d %v, want %d", script, code, err, want)
		}
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("it wrote outside of its folder")
	}
	if code, err := p.tryCheck(t.Context(), learn.Trial{Script: "exit 3", Time: testwait.Hang}); err == nil {
		t.Errorf("a world that cannot be made is no answer: %d", code)
	}
	for script, why := range map[string]string{ // they say nothing of the skill
		": > \"$WORLD/made\"; sleep 600":            "longer than",
		": > \"$WORLD/made\"; x=$(no-such-program)": "no program no-such-program",
		": > \"$WORLD/made\"; kill -9 $PPID":        "from outside",
	} {
		code, err := p.tryCheck(t.Context(), learn.Trial{Script: script, Time: testwait.Within(time.Second)})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %d %v", script, code, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.tryCheck(ctx, learn.Trial{Script: ": > \"$WORLD/made\"", Time: time.Second}); err == nil {
		t.Error("it runs after its end")
	}
	p = tryPart(t, "approvals: {mode: manual, deny: ['*forbidden-word*']}\n")
	if _, err := p.tryCheck(t.Context(), learn.Trial{Script: ": > \"$WORLD/made\"; echo forbidden-word", Time: testwait.Hang}); err == nil {
		t.Error("what the settings forbid ran")
	}
}

// The checks of the built-in skills pass in the sandbox as their skills say, and not without.
func TestBuiltinSkillsHelpInTheSandbox(t *testing.T) {
	testskip.LongWithoutRace(t, "runs the commands of every built-in skill twice")
	p := tryPart(t, "")
	l := learn.New(learn.Options{
		Dir: t.TempDir(), Library: p.a.Skills, Settings: func() learn.Settings { return learn.Settings{} }, Try: p.tryCheck, Publish: func(event.Header, event.Event) {},
	})
	helped, all := 0, 0
	for _, s := range p.a.Skills.Catalog(t.Context(), "").Skills {
		if s.Source != skills.Builtin {
			continue
		}
		a, err := l.Ablate(t.Context(), s.Name)
		if err != nil {
			t.Error(err)
		}
		for _, c := range a.Checks {
			all++
			if c.With == learn.Passes && c.Without == learn.Fails {
				helped++
			} else {
				t.Logf("%s: %+v", s.Name, c)
			}
		}
	}
	if t.Logf("%d of %d checks show that the skill helps", helped, all); all < 40 || helped < all*9/10 {
		t.Error("too few can be run in the sandbox")
	}
}
