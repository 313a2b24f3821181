package workbench

import (
	"testing"

	"hermes/core/recall"
)

// Where a fact is from is said once, also of an import, whose session is named after it.
func TestWhereAFactIsFrom(t *testing.T) {
	t.Parallel()
	for want, it := range map[string]recall.Item{
		"person":                      {Origin: recall.Person},
		"agent, session s1":           {Origin: recall.Agent, Session: "s1"},
		"import 2026-11-24T01:02:03Z": {Origin: recall.Import, Session: "import 2026-11-24T01:02:03Z"},
		"person, session import 2026": {Origin: recall.Person, Session: "import 2026"}, // changed by hand
	} {
		got := ""
		for _, f := range factCard(recall.Hit{Item: it}, nil, false) {
			if f.Name == "from" {
				got = f.Text
			}
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", it, got, want)
		}
	}
}
