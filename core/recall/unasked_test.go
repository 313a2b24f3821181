package recall

import "testing"

func nothing(int64) bool { return false }

// Brought up is the right one or nothing; of the unrelated questions next to none bring something.
func TestUnaskedIsRare(t *testing.T) {
	s := openTest(t, Options{Embedder: &letters{name: "letters", broken: true}})
	for _, f := range coldFacts {
		put(t, s, f.key, f.value)
	}
	right, wrong, unrelated := 0, 0, 0
	for _, q := range coldQuestions {
		h, ok, err := s.Unasked(t.Context(), q.text, nothing)
		switch {
		case err != nil:
			t.Fatal(err)
		case ok && h.Key == q.key:
			right++
		case ok:
			wrong++
			t.Logf("%q brought up %q (%.2f)", q.text, h.Key, h.Coverage)
		}
	}
	for _, q := range farQuestions {
		if h, ok, err := s.Unasked(t.Context(), q, nothing); err != nil || ok {
			unrelated++
			t.Logf("%q brought up %q (%.2f), %v", q, h.Key, h.Coverage, err)
		}
	}
	t.Logf("of %d questions %d right and %d wrong; of %d unrelated ones %d", len(coldQuestions), right, wrong, len(farQuestions), unrelated)
	if right < len(coldQuestions)/4 || wrong > 1 || unrelated > 1 {
		t.Error("wanted: a quarter right, next to nothing wrong")
	}
}

func TestNeverUnasked(t *testing.T) {
	s := openTest(t, Options{})
	const ask = "which port has the staging database"
	id := put(t, s, "staging database port", "5433").ID
	if h, ok, err := s.Unasked(t.Context(), ask, nothing); err != nil || !ok || h.ID != id {
		t.Fatal(h, ok, err)
	}
	never := func(why string) {
		t.Helper()
		if h, ok, err := s.Unasked(t.Context(), ask, nothing); err != nil || ok {
			t.Errorf("%s: %v %v", why, h, err)
		}
	}
	if _, ok, _ := s.Unasked(t.Context(), ask, func(i int64) bool { return i == id }); ok {
		t.Error("what was skipped came")
	}
	if err := s.Mute(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	never("muted")
	if err := s.Mute(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s.Unasked(t.Context(), ask, nothing); !ok {
		t.Error("it is muted for ever")
	}
	if _, err := s.Put(t.Context(), Item{Key: "staging database port", Value: "6000", Origin: Agent, Tainted: true}); err != nil {
		t.Fatal(err)
	}
	never("of strangers")
	older, err := s.Older(t.Context(), id+1)
	if err != nil || len(older) != 1 || older[0].ID != id {
		t.Errorf("%+v, %v", older, err)
	}
}
