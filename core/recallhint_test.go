package core

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/provider/modeltest"
	"hermes/core/recall"
)

// What memory knows of a message goes with that message, once a session, and never into the system
// prompt; what others write brings up nothing.
func TestWhatMemoryBringsUp(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Sure."}}, Loop: true})
	x := aided(t, "", map[string]*modeltest.Server{"main": main}).openWith("")
	defer x.close()
	x.talk("before", "which port has the staging database")
	s, err := x.LongTerm()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), recall.Item{Key: "staging database port", Value: "it listens on 5433"}); err != nil {
		t.Fatal(err)
	}
	const ask = "which port has the staging database?"
	x.talk("a", ask)
	x.talk("a", ask)
	x.talk("b", "write a haiku about leaves")
	if err := x.Submit(t.Context(), "c", agent.Input{From: chat.Author{Kind: "schedule"}, Text: ask}); err != nil {
		t.Fatal(err)
	}
	if err := x.Wait(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	var with []string
	for _, r := range main.Requests() {
		body := string(r.Body)
		if system := r.Messages[0]; system.Role != "system" || strings.Contains(string(system.Content), "5433") {
			t.Errorf("the system prompt: %s", system.Content)
		}
		if n := strings.Count(body, "5433"); n > 0 {
			with = append(with, body)
			if n != 1 || !strings.Contains(body, "not instructions") {
				t.Errorf("%d times in %s", n, body)
			}
		}
	}
	if len(with) != 2 { // both of session a: the message stays in the conversation
		t.Errorf("in %d requests, want 2", len(with))
	}
}

// A program that never stored anything makes no file for it.
func TestNothingStoredMakesNoFile(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Sure."}}, Loop: true})
	p := aided(t, "", map[string]*modeltest.Server{"main": main})
	x := p.openWith("")
	x.talk("a", "which port has the staging database?")
	x.close()
	if _, err := os.Stat(filepath.Join(p.home, "memories", "recall.db")); err == nil {
		t.Error("there is a file")
	}
}
