// Package testskip is for tests only: it skips what a machine cannot try, and fails it where everything has to be tried
// (HERMES_TEST_REQUIRE=1, which CI sets), so that no test is left out there without anybody knowing.
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
