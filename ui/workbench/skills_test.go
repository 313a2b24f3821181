package workbench

import (
	"testing"

	"hermes/skills"
)

// A skill must never take, or lose, the name of a command.
func TestCommandsAreReserved(t *testing.T) {
	for _, a := range allActions() {
		if a.Slash != "" && !skills.Reserved(a.Slash) {
			t.Errorf("/%s is not in the list of reserved names (skills/name.go)", a.Slash)
		}
	}
}
