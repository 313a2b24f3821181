package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	analysis "hermes/core/approval/command"
	"hermes/ui/cli/base"
)

// The agent drives Hermes only after a yes. An option that takes a value must not hide the verb:
// "hermes -p status skills allow x" is no "hermes status".
func TestTheAgentDrivesHermesOnlyAfterAYes(t *testing.T) {
	where := analysis.Context{Dir: "/home/u/p", Home: "/home/u", Project: "/home/u/p", Level: analysis.LevelStandard}
	verbs := []string{"skills allow x --yes", "learn mark last good", "hooks trust -y", "plugins install -y x", "run --yes go", "config set a b"}
	asked := func(line string) {
		t.Helper()
		if a := analysis.Analyse(line, where); a.Verdict == analysis.Allow {
			t.Errorf("runs unasked: %s", line)
		}
	}
	root := (&command{&base.Command{}}).root()
	for _, verb := range verbs {
		asked("hermes " + verb)
		values := func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return
			}
			asked("hermes --" + f.Name + " status " + verb)
			if f.Shorthand != "" {
				asked("hermes -" + f.Shorthand + " status -" + f.Shorthand + " default " + verb)
			}
		}
		root.Flags().VisitAll(values)
		root.PersistentFlags().VisitAll(values)
	}
	if a := analysis.Analyse("hermes -p work status", where); a.Verdict != analysis.Allow {
		t.Errorf("%+v", a)
	}
}

// A script of a project runs unasked. What a person consents by refuses in it, and so does what
// nobody has thought about yet.
func TestAProgramThatHermesStartedCannotConsent(t *testing.T) {
	home := t.TempDir()
	driven := func(line string) (int, string) {
		var out, errs bytes.Buffer
		p := base.Program{Driven: func() bool { return true }}
		code := Main(context.Background(), p, strings.Fields(line), Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"HERMES_HOME=" + home})
		return code, errs.String()
	}
	for _, line := range []string{
		"learn mark last good", "learn accept p1", "skills allow x --yes", "skills trust -y", "hooks trust -y", "plugins enable x -y", "plugins install x",
		"mcp login x", "mcp trust -y", "mcp add x", "mcp tools x --accept", "config set approvals.mode off", "memory add x", "profile switch x",
		"--set approvals.mode=off run x", "run --yes x", "run -y x", "approvals revoke --all", "setup", "memory user set name x", "model set x",
		"mcp serve --allow-permissions", "mcp serve --allow-send", "mcp serve --http :0", "mcp serve --set approvals.mode=off", "pool stop x --force",
	} {
		if code, said := driven(line); code != int(ExitRefused) || !strings.Contains(said, "is for you to say") {
			t.Errorf("hermes %s: exit code %d, %q", line, code, said)
		}
	}
	for _, line := range []string{"skills list", "config show", "version", "approvals list", "help learn mark", "learn mark --help"} {
		if code, said := driven(line); code != 0 {
			t.Errorf("hermes %s: exit code %d, %q", line, code, said)
		}
	}
}

func TestWhatProgramsMayAskIsThere(t *testing.T) {
	root := (&command{&base.Command{}}).root()
	for path, flags := range openToPrograms() {
		cmd, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 {
			t.Errorf("driven.txt: there is no %s", path)
			continue
		}
		_ = cmd.InheritedFlags() // cobra joins those of the parents when it is asked
		if i := slices.IndexFunc(flags, func(name string) bool { return cmd.Flag(name) == nil }); i >= 0 {
			t.Errorf("driven.txt: %s has no --%s", path, flags[i])
		}
	}
}
