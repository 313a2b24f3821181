package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
)

const perSession = 20

var fillers = strings.Fields(`the server reads a file and writes its answer into the log while another process waits for the lock
 that nobody holds any more because the first one ended without saying so 数据库 索引 测试 返回 结果 我们 看看 这个 函数`)

// sentence is seeded, so that every run has the same corpus.
func sentence(rnd *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(fillers[rnd.IntN(len(fillers))])
		b.WriteByte(' ')
		if rnd.IntN(4) == 0 {
			fmt.Fprintf(&b, "w%d ", rnd.IntN(20_000))
		}
	}
	return b.String()
}

// buildCorpus adds n messages in sessions of 20: half talk and half tools, "common" in every talk message, "rareword" in one
// of a thousand, 稀有 in one of a hundred.
func buildCorpus(t testing.TB, s *Service, n int) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < n; i += perSession {
		x := store.Session{UID: fmt.Sprintf("corpus_%06d", i), Kind: "user", Title: "corpus", Started: day(1), Last: day(1), Project: fmt.Sprint("/src/project", i/perSession%10)}
		in := store.Import{Session: x}
		for j := range perSession {
			in.Messages = append(in.Messages, store.StoredMessage{Message: corpusMessage(rnd, i+j), Active: true})
		}
		if _, err := s.st.ImportSession(bg, in); err != nil {
			t.Fatal(err)
		}
	}
}

func corpusMessage(rnd *rand.Rand, i int) chat.Message {
	text := "common " + sentence(rnd, 60)
	if i%1000 == 0 {
		text += " rareword"
	}
	if i%100 == 0 {
		text += " 稀有词"
	}
	m := chat.Message{Role: chat.RoleAssistant, Status: chat.StatusFinal, At: day(1), Text: text}
	if i%10 == 0 {
		m.Role = chat.RoleUser
	}
	if i%perSession == 7 {
		m = chat.Message{Role: chat.RoleTool, Status: chat.StatusFinal, At: day(1), Result: &chat.ToolResult{CallID: "1", Name: "terminal", Text: sentence(rnd, 200)}}
	}
	return m
}

// corpus is built once for all benchmarks that need it.
var corpus = sync.OnceValues(func() (*Service, error) {
	dir, err := os.MkdirTemp("", "hermes-bench-")
	if err != nil {
		return nil, err
	}
	corpusDir = dir
	st, err := store.Open(bg, filepath.Join(dir, "w.db"), store.Options{})
	if err != nil {
		return nil, err
	}
	return New(st, event.NewBus()), nil
})

var (
	corpusDir  string
	corpusFill sync.Once
)

func closeCorpus() {
	if corpusDir == "" {
		return
	}
	if s, err := corpus(); err == nil {
		s.st.Close()
	}
	os.RemoveAll(corpusDir)
}

func large(b *testing.B) *Service {
	b.Helper()
	s, err := corpus()
	must(b, err)
	corpusFill.Do(func() {
		buildCorpus(b, s, 200_000)
		for uid, n := range map[string]int{"long": 10_000, "short": 100} {
			in := store.Import{Session: store.Session{UID: uid, Kind: "user", Started: day(1), Last: day(1)}}
			rnd := rand.New(rand.NewPCG(3, 4))
			for i := range n {
				in.Messages = append(in.Messages, store.StoredMessage{Message: corpusMessage(rnd, i), Active: true})
			}
			_, err := s.st.ImportSession(bg, in)
			must(b, err)
		}
	})
	b.ResetTimer()
	return s
}

func benchSearch(b *testing.B, text string) {
	s := large(b)
	for b.Loop() {
		r, err := s.Search(bg, Query{Text: text})
		if err != nil || len(r.Hits) == 0 {
			b.Fatal(err, len(r.Hits))
		}
	}
}

func BenchmarkSearchRare(b *testing.B)   { benchSearch(b, "rareword") }
func BenchmarkSearchCommon(b *testing.B) { benchSearch(b, "common") }
func BenchmarkSearchCJK2(b *testing.B)   { benchSearch(b, "稀有") }
func BenchmarkSearchCommonFiltered(b *testing.B) {
	benchSearch(b, "common in:project3")
}

// BenchmarkPointLookup is the floor that the others are compared with.
func BenchmarkPointLookup(b *testing.B) {
	s := large(b)
	for b.Loop() {
		if _, err := s.Get(bg, "corpus_100000"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList50(b *testing.B) {
	s := large(b)
	for b.Loop() {
		if l, err := s.List(bg, Filter{Limit: 50}); err != nil || len(l) != 50 {
			b.Fatal(err, len(l))
		}
	}
}

func benchOpen(b *testing.B, uid string) {
	s := large(b)
	for b.Loop() {
		if _, err := s.Open(bg, uid, "resume"); err != nil {
			b.Fatal(err)
		}
		if ms, _, err := s.Messages(bg, uid, Page{Limit: 50}); err != nil || len(ms) != 50 {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenLast50Of100(b *testing.B)   { benchOpen(b, "short") }
func BenchmarkOpenLast50Of10000(b *testing.B) { benchOpen(b, "long") }

// BenchmarkAppend is one acknowledged message: a synced commit of its own.
func BenchmarkAppend(b *testing.B) {
	s, _ := newService(b)
	uid := create(b, s, NewSession{}).UID
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := 0; b.Loop(); i++ {
		add(b, s, uid, corpusMessage(rnd, i))
	}
}
