package injection

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnDocs reads our own manual, which speaks of agents, approvals and secrets all the time, as
// a project's file would be read. Few of its lines may be taken out; those that quote an attack are
// meant to be.
func TestOwnDocs(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no docs: %v", err)
	}
	lines, stopped := 0, 0
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
		hits := ScanDocument(string(text))
		stopped += len(hits)
		for _, h := range hits {
			t.Logf("%s: %s: %s", filepath.Base(file), h.Reason, Excerpt(string(text), h))
		}
	}
	if stopped*250 > lines {
		t.Errorf("%d of %d lines are stopped, more than 4 of 1,000", stopped, lines)
	}
}
