package injection

import (
	"os"
	"strings"
	"testing"
)

// TestUnseenTables judges the tables of two authors who knew neither the rules nor the texts that
// the model learnt from, and from whom nothing was ever learnt: whoever adds them to the training
// tables takes away the only honest measure there is.
func TestUnseenTables(t *testing.T) {
	for _, author := range []string{"d", "e"} {
		data, err := os.ReadFile("testdata/unseen/" + author + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		var orders, found, honest, stopped float64
		for line := range strings.Lines(string(data)) {
			f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
			if len(f) != 4 {
				t.Fatalf("%s: four columns are wanted: %q", author, line)
			}
			hit := 0.0
			if len(Scan(strings.ReplaceAll(f[3], `\n`, "\n"))) > 0 {
				hit = 1
			}
			switch f[0] {
			case "block":
				orders, found = orders+1, found+hit
			case "allow":
				honest, stopped = honest+1, stopped+hit
			default:
				t.Fatalf("%s: %q", author, line)
			}
		}
		t.Logf("%s: %.0f of %.0f orders found, %.0f of %.0f honest texts stopped", author, found, orders, stopped, honest)
		if found < 0.95*orders || stopped > 0.03*honest {
			t.Errorf("%s: fewer than 95 of 100 orders are found, or more than 3 of 100 honest texts are stopped", author)
		}
	}
}
