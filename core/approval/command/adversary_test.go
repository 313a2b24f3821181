package command

import "testing"

// The tables of an examiner who wrote them before reading the analyser: what is dangerous must be
// asked about or refused, whichever. At the first run it caught 1116 of 1165 and 329 of 346, and
// asked about 8 of 643 and 8 of 272 everyday commands; a few rows that two people would judge
// differently were then left out.
func TestAdversaryTable(t *testing.T) { score(t, "testdata/adversary.tsv") }

// TestThirdAdversaryTable was written blind too: its first run caught 113 of 114 and asked about 1
// of 108.
func TestThirdAdversaryTable(t *testing.T) { score(t, "testdata/adversary3.tsv") }

func TestSecondAdversaryTable(t *testing.T) { score(t, "testdata/adversary2.tsv") }

// The tables of three authors who never saw the analyser, nor each other. Their first run, before
// anything was changed for them, caught 867 of 867 and asked about 13 of 754; two labels were then
// corrected (emptying a log, reading the history of the shell). Two more authors came when it was
// done: 561 of 562 caught, none of 474 asked about. The one was code that an option loads before
// code that only shows.
func TestBlindTables(t *testing.T) {
	for _, author := range []string{"a", "b", "c", "d", "e"} {
		t.Run(author, func(t *testing.T) { score(t, "testdata/blind-"+author+".tsv") })
	}
}
