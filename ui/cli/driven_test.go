package cli

import (
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
