package runner

import (
	"os"
	"strings"
	"testing"
)

// What a Runner started knows it, whatever a script does to its environment; nobody else does.
func TestAProgramKnowsThatARunnerStartedIt(t *testing.T) {
	if Inside() {
		t.Skip("these tests run in a call of another Hermes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := "env -i " + askInside + "=1 " + self
	for name, text := range map[string]string{
		"plain":           askInside + "=1 " + self,
		"a clean env":     ask,
		"a child of sh":   "unset " + tagName + "; sh -c '" + ask + "; true'",
		"left its parent": "(setsid " + ask + " > out 2>&1 &) ; until grep -q . out; do :; done; cat out",
	} {
		if res := mustRun(t, newRunner(t), script(t, text)); strings.TrimSpace(string(res.Output)) != "inside: true" {
			t.Errorf("%s: %q", name, res.Output)
		}
	}
}
