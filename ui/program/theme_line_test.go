package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// TestEnterAfterACommandWithAnArgumentSendsIt, however fast it is typed.
func TestEnterAfterACommandWithAnArgumentSendsIt(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Text: "hi"})
	s := h.open()
	s.WaitFor("asks for risky")
	remembered := func(name string) {
		t.Helper()
		eventually(t, "theme "+name, func() bool {
			data, _ := os.ReadFile(filepath.Join(h.dir, "config.yaml"))
			return strings.Contains(string(data), "theme: "+name+"\n")
		})
		s.WaitFor("❯ Ask")
	}
	for range 3 {
		s.Type("/theme fjord" + enter) // in one read, as a paste without its marks comes
		remembered("fjord")
		for _, r := range "/theme default" {
			s.Type(string(r))
		}
		s.WaitFor("❯ /theme default")
		s.Type(enter)
		remembered("default")
	}
}
