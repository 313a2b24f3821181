package skill

import (
	"path/filepath"
	"testing"

	"hermes/core/trust"
)

// A yes is to the list that was shown: a variable that comes onto it later, though the skill is the
// same, is asked about.
func TestAGrantIsForTheListThatWasShown(t *testing.T) {
	t.Parallel()
	never := "SECOND_THING"
	l, _ := library(t, map[string]string{
		"home/good/SKILL.md": "---\nname: good\ndescription: Works.\nrequired_environment_variables: [FIRST_THING, SECOND_THING]\n---\nDo it.\n",
	})
	l.o.Grants = trust.New(filepath.Join(t.TempDir(), "grants.json"))
	l.o.Never = func(name string) bool { return name == never }
	wish := func(want trust.State) *Wish {
		t.Helper()
		s, err := l.Find(t.Context(), "", "good")
		if err != nil {
			t.Fatal(err)
		}
		w, err := l.WishOf(s)
		if err != nil || w == nil || w.State != want {
			t.Fatalf("%+v %v, want %s", w, err, want)
		}
		return w
	}
	shown := wish(trust.Unasked)
	if err := l.Grant(t.Context(), "", shown, true); err != nil {
		t.Fatal(err)
	}
	wish(trust.Trusted)
	never = ""
	if err := l.Grant(t.Context(), "", shown, true); err == nil {
		t.Error("a yes to another list counts")
	}
	if w := wish(trust.Outdated); len(w.Variables) != 2 {
		t.Errorf("%+v", w)
	}
}
