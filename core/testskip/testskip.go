// Package testskip is for tests only: it skips what a machine cannot try, and fails it where
// everything has to be tried (HERMES_TEST_REQUIRE=1, which CI sets), so that no test is left out
// there without anybody knowing. It also names the tests that are too long for `make test`.
package testskip

import (
	"os"
	"testing"
)

// Missing ends the test because something that it needs is not here.
func Missing(t testing.TB, what ...any) {
	t.Helper()
	if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
		t.Fatal(append([]any{"needed, and not here:"}, what...)...)
	}
	t.Skip(what...)
}

// NeedsInternet skips a test of programs that come from the internet. No test may need it, so that
// it is skipped also where everything has to be tried; .ci/run names each with these words.
func NeedsInternet(t testing.TB, what string) {
	t.Helper()
	t.Skip("needs the internet: " + what)
}

// Long leaves a test that takes more than a few seconds to `make check`: `make test` runs with
// -short, and says how many it left out. Why says what takes the time.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, make check runs it: " + why)
	}
}

// LongWithoutRace is Long for a test in which nothing runs side by side, or in which only other
// programs do: the race detector would find nothing in it, and take ten times as long.
// `make check` runs it without the detector (.ci/long).
func LongWithoutRace(t testing.TB, why string) {
	t.Helper()
	Long(t, why)
	WithoutRace(t, why)
}

// WithoutRace is LongWithoutRace for a test that is short without the detector: `make test` runs
// it.
func WithoutRace(t testing.TB, why string) {
	t.Helper()
	if UnderRace {
		t.Skip("make check runs it without the race detector: " + why)
	}
}
