package diff

import (
	"os"
	"testing"

	"hermes/core/testwait"
	"hermes/ui/highlight"
)

func TestMain(m *testing.M) {
	highlight.Budget = testwait.Hang // what is coloured is not judged by the clock
	os.Exit(m.Run())
}
