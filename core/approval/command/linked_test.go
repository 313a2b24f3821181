package command

import (
	"os"
	"path/filepath"
	"testing"

	"hermes/core/realpath"
)

// A link to a neighbour of the project is made unasked: whoever writes through it is asked, in the
// same line and later.
func TestLinksLeadWhereTheyLead(t *testing.T) {
	place, err := os.Getwd()
	if err == nil && (realpath.Within(place, "/tmp") || realpath.Within(place, "/var/tmp")) { // a temporary folder may be written anyway
		place, err = os.UserHomeDir()
	}
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp(place, "hermes-test-home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	project := filepath.Join(home, "proj")
	for _, d := range []string{"proj/src", "shared", ".ssh"} {
		if err := os.MkdirAll(filepath.Join(home, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := Context{Dir: project, Home: home, Project: project, Level: LevelStandard, Local: true}.Prepared()
	for cmd, want := range map[string]Verdict{
		"ln -s ../shared/lib.js lib.js":                        Allow,
		"ln -s ../shared src/shared":                           Allow,
		"ln -s ../lib.js src/lib.js":                           Allow,
		"ln -s ../shared s && ls s":                            Allow,
		"ln -s ../shared s && echo x > s/a":                    Ask,
		"ln -s ../shared s; cp src/a s/":                       Ask,
		"ln -s ../shared s && ln -s s t && touch t/a":          Ask,
		"ln -s ../shared s\nsh -c 'echo x > s/a'":              Ask,
		"ln -s ../shared . && echo x > shared/a":               Ask,
		"ln -s ../.ssh s":                                      Ask,
		"ln -s ~ h":                                            Ask,
		"ln -s .. up":                                          Ask,
		"ln -s / r":                                            Ask,
		"ln -s ../../.bashrc src/b":                            Ask,
		"ln -s ../../shared x/../y; ln -s /etc e; cat e/hosts": Ask,
	} {
		if a := Analyse(cmd, c); a.Verdict != want {
			t.Errorf("%q: %s, want %s: %s", cmd, a.Verdict, want, a.Reason)
		}
	}
	if err := os.Symlink(filepath.Join(home, "shared"), filepath.Join(project, "s")); err != nil {
		t.Fatal(err)
	}
	if a := Analyse("echo x > s/a", c); a.Verdict != Ask {
		t.Errorf("a link of an earlier line is not followed: %s", a.Verdict)
	}
}
