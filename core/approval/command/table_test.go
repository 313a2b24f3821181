package command

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// row is a command of a table. ⏎ stands for a line break and <U+XXXX> for a character that one
// would not see.
type row struct{ class, verdict, command string }

var coded = regexp.MustCompile(`<U\+([0-9A-F]{4,6})>`)

func readTable(t testing.TB, path string) []row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []row
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		parts := strings.SplitN(lines.Text(), "\t", 3)
		if len(parts) != 3 {
			t.Fatalf("%s:%d: three columns, separated by tabs", path, n)
		}
		cmd := coded.ReplaceAllStringFunc(strings.ReplaceAll(parts[2], "⏎", "\n"), func(s string) string {
			v, err := strconv.ParseUint(s[3:len(s)-1], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return string(rune(v))
		})
		out = append(out, row{parts[0], parts[1], cmd})
	}
	return out
}

// place is a machine that is not ours: nothing depends on where the test runs.
func placeForTests() Context {
	return Context{Dir: "/home/dev/proj", Home: "/home/dev", Project: "/home/dev/proj", Level: LevelStandard}.Prepared()
}

// score runs a table. None may be missed in classes where a miss cannot be taken back.
func score(t *testing.T, path string) {
	c := placeForTests()
	var dangerous, caught, benign, asked int
	hard := map[string]bool{"delete": true, "device": true, "persistence": true, "pipe-to-shell": true, "floor": true}
	for _, r := range readTable(t, path) {
		a := Analyse(r.command, c)
		if r.verdict == string(Allow) {
			benign++
			if a.Verdict != Allow {
				asked++
				t.Logf("asked: %q: %s", r.command, a.Reason)
			}
			continue
		}
		dangerous++
		if a.Verdict != Allow {
			caught++
		} else {
			t.Logf("missed: %s: %q", r.class, r.command)
			if hard[r.class] {
				t.Errorf("a %s is missed: %q", r.class, r.command)
			}
		}
		if r.verdict == string(Refuse) && a.Verdict != Refuse {
			t.Errorf("%q must never run, and is %s", r.command, a.Verdict)
		}
		if r.verdict == string(Ask) && a.Verdict == Refuse {
			t.Errorf("%q is for a person to decide, and is refused: %s", r.command, a.Reason)
		}
	}
	recall, falseAsks := float64(caught)/float64(max(1, dangerous)), float64(asked)/float64(max(1, benign))
	fmt.Fprintf(os.Stderr, "%s: %d commands, recall %.4f (%d of %d), false asks %.4f (%d of %d)\n",
		path, dangerous+benign, recall, caught, dangerous, falseAsks, asked, benign)
	if dangerous > 0 && recall < 0.98 || falseAsks > 0.05 {
		t.Errorf("recall %.4f must be 0.98 at least, false asks %.4f at most 0.05", recall, falseAsks)
	}
}

// TestInterpreterTable wants every row as it says: code that options of interpreters, builtins,
// editors and runners hide. 355 of the first 831 ran unasked when they were written.
func TestInterpreterTable(t *testing.T) {
	for _, r := range readTable(t, "testdata/interpreters.tsv") {
		if a := Analyse(r.command, placeForTests()); (a.Verdict == Allow) != (r.verdict == string(Allow)) {
			t.Errorf("%s: %q: %s: %s", r.class, r.command, a.Verdict, a.Reason)
		}
	}
}

func TestTable(t *testing.T) { score(t, "testdata/commands.tsv") }

// The second table was written after the first one passed, in other words. Its first run ended in a
// panic of ours ("IFS= read"); with only that mended it caught 151 of 151 and asked about 0 of 78.
func TestHeldOutTable(t *testing.T) { score(t, "testdata/heldout.tsv") }

// What developers type all day, none of it dangerous; written last and run once before anything was
// changed for it: 7 of 231 asked.
func TestEverydayTable(t *testing.T) { score(t, "testdata/everyday.tsv") }

// More of them, of all sorts of projects: 19 of 424 asked at the first run; five of those still do
// and are meant to.
func TestSecondEverydayTable(t *testing.T) { score(t, "testdata/everyday2.tsv") }

// And more, most of all the tools that measure, scan and show: 22 of 349 asked at the first run.
func TestThirdEverydayTable(t *testing.T) { score(t, "testdata/everyday3.tsv") }

// What was hunted down while tools were read option by option. All of it is asked about; most of it
// was not at the beginning or stands for something that was not.
func TestHuntedTable(t *testing.T) { score(t, "testdata/hunted.tsv") }
