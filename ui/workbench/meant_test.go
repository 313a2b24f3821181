package workbench

import (
	"testing"

	store "hermes/core/memory"
)

func TestWordsGoWhereTheyBelong(t *testing.T) {
	for arg, want := range map[string]struct {
		target store.Target
		words  string
	}{
		"the staging server is vega": {store.Notes, "the staging server is vega"},
		"user: likes tea":            {store.User, "likes tea"},
		"Me:likes tea":               {store.User, "likes tea"},
		" I prefer tabs ":            {store.User, "I prefer tabs"},
		"I’m in Berlin":              {store.User, "I’m in Berlin"},
		"my name is Ada":             {store.User, "my name is Ada"},
		"notes: I is a variable":     {store.Notes, "I is a variable"},
		"in project x: my is a word": {store.Notes, "in project x: my is a word"},
		"mysql listens on 3307":      {store.Notes, "mysql listens on 3307"},
		"me:":                        {store.User, ""},
	} {
		if target, words := meantTarget(arg); target != want.target || words != want.words {
			t.Errorf("%q: %s %q", arg, target, words)
		}
	}
}
