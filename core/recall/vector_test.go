package recall

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hermes/core/testskip"
)

// letters is an embedder that counts letters: texts with the same letters are near.
type letters struct {
	name   string
	dims   int // 0: 26
	asked  int
	broken bool
}

func (l *letters) Model() string { return l.name }

func (l *letters) Embed(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	l.asked++
	if l.broken {
		return nil, errors.New("the server is away")
	}
	all := make([][]float32, len(texts))
	for i, t := range texts {
		all[i] = make([]float32, max(l.dims, 26))
		for _, r := range strings.ToLower(t) {
			if r >= 'a' && r <= 'z' {
				all[i][r-'a']++
			}
		}
	}
	return all, nil
}

func embedAll(t *testing.T, s *Store, want int) {
	t.Helper()
	if n, err := s.Embed(t.Context(), 1000); n != want || err != nil {
		t.Fatalf("%d vectors made, want %d: %v", n, want, err)
	}
}

func TestVectorsFindWhatWordsDoNot(t *testing.T) {
	heard := 0
	s := openTest(t, Options{Embedder: &letters{name: "letters"}, Changed: func() { heard++ }})
	put(t, s, "zzzz", "zyzzyva zzz")
	put(t, s, "color", "abc def")
	embedAll(t, s, 2)
	found, err := s.Recall(t.Context(), "zyzzyzzy", 5, 0)
	if err != nil || found.ByWords || len(found.Hits) == 0 || found.Hits[0].Key != "zzzz" {
		t.Errorf("%+v, %v", found, err)
	}
	embedAll(t, s, 0)
	if heard != 2 {
		t.Errorf("%d changes heard, want 2", heard)
	}
}

// A question makes no vectors of items: that would be in the way of whoever asks.
func TestAQuestionIsOneRequest(t *testing.T) {
	l := &letters{name: "letters"}
	s := openTest(t, Options{Embedder: l})
	put(t, s, "door", "it is green")
	found, err := s.Recall(t.Context(), "is the door green", 5, 0)
	if err != nil || !found.ByWords || len(found.Hits) != 1 || l.asked != 1 {
		t.Errorf("%+v, %v, %d requests", found, err, l.asked)
	}
}

func TestWithoutTheServerItGoesByWords(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := &letters{name: "letters", broken: true}
	s := openTest(t, Options{Embedder: l, Now: func() time.Time { return now }})
	put(t, s, "door", "it is green")
	for range 3 {
		found, err := s.Recall(t.Context(), "is the door green", 5, 0)
		if err != nil || !found.ByWords || !strings.Contains(found.Note, "away") || len(found.Hits) != 1 {
			t.Errorf("%+v, %v", found, err)
		}
	}
	if l.asked != 1 {
		t.Errorf("a server that failed was asked %d times", l.asked)
	}
	if _, err := s.Embed(t.Context(), 10); err == nil {
		t.Error("no vectors, and no error")
	}
	l.broken, now = false, now.Add(time.Minute)
	embedAll(t, s, 1)
	if found, err := s.Recall(t.Context(), "is the door green", 5, 0); err != nil || found.ByWords || found.Note != "" {
		t.Errorf("%+v, %v", found, err)
	}
}

// Vectors of another model, or of another length, are made anew and never compared.
func TestAnotherModelMakesVectorsAnew(t *testing.T) {
	l := &letters{name: "one"}
	s := openTest(t, Options{Embedder: l})
	put(t, s, "door", "it is green")
	put(t, s, "roof", "it is red")
	embedAll(t, s, 2)
	l.name = "two"
	embedAll(t, s, 2)
	if model, have, err := s.Vectors(t.Context()); model != "two" || have != 2 || err != nil {
		t.Error(model, have, err)
	}
	if found, err := s.Recall(t.Context(), "door", 1, 0); err != nil || found.ByWords {
		t.Errorf("%+v, %v", found, err)
	}
	l.dims = 30
	found, err := s.Recall(t.Context(), "door", 1, 0)
	if err != nil || !found.ByWords || !strings.Contains(found.Note, "anew") {
		t.Errorf("%+v, %v", found, err)
	}
	embedAll(t, s, 2)
	if found, err = s.Recall(t.Context(), "door", 1, 0); err != nil || found.ByWords {
		t.Errorf("%+v, %v", found, err)
	}
	l.name = ""
	if found, err = s.Recall(t.Context(), "door", 1, 0); err != nil || !found.ByWords || found.Note != "" {
		t.Errorf("switched off: %+v, %v", found, err)
	}
}

func randomUnit(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	unit, err := normalizeVector(v)
	if err != nil {
		panic(err)
	}
	return unit
}

// 100,000 x 384, exact: the target is 20 ms of CPU a query.
func BenchmarkExact(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	v := vectorIndex{dims: 384}
	for i := range 100_000 {
		v.flat.addVector(int64(i+1), encodeVector(randomUnit(random, v.dims)))
	}
	q := randomUnit(random, v.dims)
	for b.Loop() {
		v.nearestItems(q, 5)
	}
}

// The labelled Chinese questions, beside the English ones of the cold start.
func TestChinese(t *testing.T) {
	s := openTest(t, Options{})
	for _, f := range chineseFacts {
		put(t, s, f.key, f.value)
	}
	first := 0
	for _, q := range chineseQuestions {
		if got := keys(t, s, q.text); strings.HasPrefix(got, q.key) {
			first++
		} else {
			t.Logf("%s: %s", q.text, got)
		}
	}
	t.Logf("right one first: %d of %d", first, len(chineseQuestions))
	if first*10 < len(chineseQuestions)*9 {
		t.Error("wanted: the right one first in 90 %")
	}
}

// 20,000 facts: a query stays quick, whatever it asks, and an error is never its answer.
func TestManyFacts(t *testing.T) {
	testskip.LongWithoutRace(t, "20,000 facts")
	s := openTest(t, Options{})
	random := rand.New(rand.NewPCG(3, 4))
	nouns := strings.Fields("database server port deploy release test build image cache queue customer export invoice token window pane theme")
	var all []Item
	for i := range 20_000 {
		all = append(all, Item{Key: nouns[random.IntN(len(nouns))] + " " + string(rune('a'+i%26)) + strings.Repeat("x", i%7), Value: "the " + nouns[random.IntN(len(nouns))] + " was " + nouns[random.IntN(len(nouns))]})
		all[i].Key += " " + strings.Repeat("k", i/1000) + string(rune('a'+i%17)) + string(rune('a'+i/17%26)) + string(rune('a'+i/442%26))
	}
	if err := s.storeUnread(t, all); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if _, err := s.Recall(t.Context(), nouns[random.IntN(len(nouns))]+" and "+nouns[random.IntN(len(nouns))], 5, 0); err != nil {
			t.Fatal(err)
		}
	}
}
