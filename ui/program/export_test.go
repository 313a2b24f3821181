package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// An export says where it went, and can be taken back.
func TestAnExportSaysWhereItWentAndIsTakenBack(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	s := h.open()
	say(s, "$ echo exported words")
	s.WaitFor("✓ $ ")
	s.WaitFor("ready")
	say(s, "/export")
	s.WaitFor("written to ")
	files, err := filepath.Glob(filepath.Join(h.work, "*.md"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	if text, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(text), "exported words") {
		t.Errorf("%s %v", text, err)
	}
	s.Type("\x1bu")
	s.Wait("no file any more", func(string) bool { _, err := os.Stat(files[0]); return os.IsNotExist(err) })
}

// The prompt names the model that answers, also one that was chosen for this run only.
func TestThePromptNamesTheModel(t *testing.T) {
	t.Parallel()
	h, s := homeWith(t, modeltest.Turn{Text: "one"}, modeltest.Turn{Text: "two"})
	h.configure(serverSettings(s))
	for i, args := range [][]string{{"run", "hi"}, {"run", "--model", "scripted/other-model", "hi"}} {
		want := []string{"- Model: test-model", "- Model: other-model"}[i]
		if r := h.run(args...); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		if body := string(s.Requests()[i].Body); !strings.Contains(body, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
}
