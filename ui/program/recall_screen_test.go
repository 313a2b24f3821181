package program

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/core/recall"
)

// What long-term memory knows of a message is seen beside it; a person looks at what is there and
// why it was found, changes it and forgets it.
func TestRecallOnTheScreen(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Text: "It is there."})
	facts, err := recall.Open(t.Context(), filepath.Join(h.dir, "memories", "recall.db"), recall.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := facts.PutAll(t.Context(), []recall.Item{
		{Key: "staging database port", Value: "it listens on 5433"}, {Key: "coffee", Value: "black"},
	}); err != nil {
		t.Fatal(err)
	}
	if err := facts.Close(); err != nil {
		t.Fatal(err)
	}
	s := h.open()
	say(s, "which port has the staging database?")
	s.WaitFor("It is there.")
	s.WaitFor("recalled: staging database port")
	say(s, "/recall the port of staging")
	s.WaitFor("Recall, by words")
	s.WaitFor("it listens on 5433")
	s.Type(enter)
	s.WaitFor("Change what it says")
	s.WaitFor("0.6 · 1.00")
	s.Type("Change" + enter)
	s.WaitFor("Change staging database port")
	s.Type(" now" + enter)
	s.WaitFor("changed: staging database port")
	say(s, "/recall coffee")
	s.WaitFor("black")
	s.Type(enter)
	s.WaitFor("Forget it")
	s.Type("Forget" + enter)
	agree(s, "Really?")
	s.WaitFor("forgotten: coffee")
	leave(t, s)
	facts, err = recall.Open(context.Background(), filepath.Join(h.dir, "memories", "recall.db"), recall.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = facts.Close() }()
	all, err := facts.List(t.Context(), recall.Listing{})
	if err != nil || len(all) != 1 || !strings.HasSuffix(all[0].Value, "5433 now") {
		t.Errorf("%+v, %v", all, err)
	}
}
