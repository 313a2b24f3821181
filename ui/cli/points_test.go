package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/points.md names a test for each point: those that it names are there, and so are the
// captures.
func TestPointsNameWhatThereIs(t *testing.T) {
	doc := readDoc(t, "../../docs/points.md")
	rows := regexp.MustCompile(`(?m)^\| (.+) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(doc, -1)
	if len(rows) < 100 {
		t.Fatalf("%d rows", len(rows))
	}
	known := map[string]string{}
	for _, row := range rows {
		if row[1] == "point" {
			continue
		}
		for _, where := range strings.Split(row[2], "; ") {
			checkTests(t, row[1], where, known)
		}
		for _, name := range strings.Split(row[3], ", ") {
			if files, err := filepath.Glob("../../docs/screens/" + name + "-*.txt"); name != "-" && (err != nil || len(files) < 4) {
				t.Errorf("%s: %d captures of %s, %v", row[1], len(files), name, err)
			}
		}
	}
}

// checkTests looks for the tests of a folder, or for a script: "ui: TestOne, TestTwo", "script
// `ui/cli/tools`".
func checkTests(t *testing.T, point, where string, known map[string]string) {
	t.Helper()
	if script, ok := strings.CutPrefix(where, "script "); ok {
		folder, name := filepath.Split(strings.Trim(script, "`"))
		if _, err := os.Stat(filepath.Join("../..", folder, "testdata/script", name+".txtar")); err != nil {
			t.Errorf("%s: %v", point, err)
		}
		return
	}
	folder, tests, ok := strings.Cut(where, ": ")
	if !ok {
		t.Errorf("%s: no test in %q", point, where)
	}
	if known[folder] == "" {
		known[folder] = testsOf(t, folder)
	}
	for _, name := range strings.Split(tests, ", ") {
		if !strings.Contains(known[folder], "func "+name+"(") {
			t.Errorf("%s: %s has no %s", point, folder, name)
		}
	}
}

// testsOf is the text of the tests of a folder.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s has no tests: %v", folder, err)
	}
	var all strings.Builder
	for _, f := range files {
		all.WriteString(readDoc(t, f))
	}
	return all.String()
}
