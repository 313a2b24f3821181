package ask

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"hermes/core/tool"
)

func run(t *testing.T, a Asker, args string) (text string, isError bool) {
	t.Helper()
	reg, err := tool.NewRegistry(Clarify(a, nil))
	if err != nil {
		t.Fatal(err)
	}
	r := reg.Run(context.Background(), "clarify", tool.Call{ID: "c1", Session: "s", Turn: "t", Args: json.RawMessage(args)})
	return r.Text, r.IsError
}

func TestClarify(t *testing.T) {
	t.Parallel()
	var got Question
	answer := func(text string) Asker {
		return func(_ context.Context, q Question) (string, error) { got = q; return text, nil }
	}
	for in, want := range map[string]string{"2": "blue", "9": "9", "green\n": "green", "": "(nothing)", "0": "0"} {
		if text, bad := run(t, answer(in), `{"question":"Which?","choices":["red","blue"]}`); bad || text != "The person answered: "+want {
			t.Errorf("%q gave %q", in, text)
		}
	}
	if got.CallID != "c1" || got.Session != "s" || got.Turn != "t" || got.Text != "Which?" || len(got.Choices) != 2 {
		t.Errorf("asked %+v", got)
	}
	if text, bad := run(t, answer("x"), `{"question":"Which?","choices":["1","2","3","4","5"]}`); !bad || !strings.Contains(text, "choices is too long (5)") {
		t.Errorf("five choices: %q", text)
	}
	nobody := func(context.Context, Question) (string, error) { return "", errors.New("nobody answered in time") }
	if text, bad := run(t, nobody, `{"question":"?"}`); !bad || text != "nobody answered in time" {
		t.Errorf("%q", text)
	}
}

func TestClarifyHidesWhereNobodyIs(t *testing.T) {
	t.Parallel()
	reg, err := tool.NewRegistry(Clarify(nil, func() error { return errors.New("no person here") }))
	if err != nil {
		t.Fatal(err)
	}
	if specs := reg.Specs("", nil); len(specs) != 0 {
		t.Errorf("%v", specs)
	}
}
