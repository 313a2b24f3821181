package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/pool"
	"hermes/pool/kinds"
	"hermes/pool/kinds/kindtest"
	"hermes/pool/runner"
)

// A kind of back end is one package and one registration: then it has settings of its own, is
// listed, examined, shown, used, stopped and removed, and nothing else in the program knows of it.
func TestANewKindOfBackEnd(t *testing.T) {
	t.Cleanup(kinds.Register(kindtest.Declared(), func(string) pool.Kind { return kindtest.New(runner.Options{}) }))
	root := t.TempDir()
	h := newHome(t, "terminal:\n  backends:\n    shelf: {root: "+root+", idle_ttl: 5m}\n")
	for args, want := range map[string]string{
		"config check":                          "no mistakes",
		"config get terminal.backends.shelf":    "terminal.backends.shelf.root",
		"pool list":                             "folder  " + root,
		"pool exec shelf -- sh -c pwd":          filepath.Join(root, "cli", "shelf"),
		"doctor":                                "shelf is below " + root,
		"approvals explain --backend folder ls": "allow",
	} {
		if r := h.run(strings.Fields(args)...); !strings.Contains(r.out, want) {
			t.Errorf("hermes %s: no %q in\n%s%s", args, want, r.out, r.err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(root, "cli")); len(left) > 0 {
		t.Errorf("what the command line made is still there: %v", left)
	}
	s := h.open()
	s.Type(altFour)
	s.WaitFor("enter shell")
	s.Type("ju")
	s.WaitFor("commands of this session run in shelf")
	s.Type(altTwo)
	typed(s, "$ pwd")
	s.WaitFor("✓ $ ")
	if p := column(s.Settle(), "─ 4 Back ends"); !strings.Contains(p, "shelf") || !strings.Contains(p, "idle") {
		t.Errorf("the pane shows\n%s", p)
	}
	leave(t, s)
	h.configure("terminal:\n  backends:\n    shelf: {kind: folder, image: x, rot: /tmp}\n")
	for _, want := range []string{
		`config.yaml:3:34: does nothing for back end shelf, which is of kind folder: "image"`,
		`unknown key "rot": did you mean "root"?`,
	} {
		if r := h.run("config", "check"); !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s%s", want, r.out, r.err)
		}
	}
}
