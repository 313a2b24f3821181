package core

import (
	"fmt"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// What three sessions tell of the person is part of the fourth one's prompt, and no prompt changes
// in a session.
func TestTheUserModelInThePrompt(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Sure."}}, Loop: true})
	x := aided(t, "", map[string]*modeltest.Server{"main": main}).openWith("")
	defer x.close()
	for i := range 5 {
		uid := fmt.Sprint("s", i)
		for range 2 {
			x.talk(uid, "be brief: what does go vet say about main.go?")
			x.user.work.Wait()
		}
	}
	prompts := map[string]bool{}
	for i, r := range main.Requests() {
		system := r.Messages[0].Text()
		if told := strings.Contains(system, "They work with: Go.") && strings.Contains(system, "brief"); told != (i >= 6) {
			t.Errorf("request %d: told %v", i, told)
		}
		if i%2 == 1 && !prompts[system] {
			t.Errorf("request %d: the prompt changed in its session", i)
		}
		prompts[system] = true
	}
}
