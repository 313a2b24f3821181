package procedure

import (
	"strings"
	"testing"

	"hermes/skills/procedure"
)

func TestRunsAreReadBack(t *testing.T) {
	t.Parallel()
	o := Options{Runs: t.TempDir()}
	h := &host{o: o}
	for _, s := range []procedure.State{
		{ID: "open1", Procedure: "x", Ended: "failed", Done: []procedure.Done{{Step: 0, Output: map[string]any{"n": 1.0}}}}, {ID: "over1", Ended: "done"},
	} {
		if err := h.Save(s); err != nil {
			t.Fatal(err)
		}
	}
	s, err := o.load("open1")
	if err != nil || s.Ended != "" || len(s.Done) != 1 || s.Procedure != "x" {
		t.Errorf("%+v %v", s, err)
	}
	for id, why := range map[string]string{
		"over1": "is done", "none": "there is no run none; the last ones are ", "../open1": "is no id", "": "is no id",
	} {
		if _, err := o.load(id); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
