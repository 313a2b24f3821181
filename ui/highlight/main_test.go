package highlight

import (
	"os"
	"testing"

	"hermes/core/testwait"
)

func TestMain(m *testing.M) {
	Budget = testwait.Hang // what is coloured is not judged by the clock
	os.Exit(m.Run())
}
