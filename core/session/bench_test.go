package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hermes/core/chat"
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

// buildCorpus adds n messages in sessions of 20: half talk and half tools, "common" in every talk
// message, "rareword" in one of a thousand, 稀有 in one of a hundred.
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

// BenchmarkAppend is one acknowledged message: a synced commit of its own.
func BenchmarkAppend(b *testing.B) {
	s, _ := newService(b)
	uid := create(b, s, NewSession{}).UID
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := 0; b.Loop(); i++ {
		add(b, s, uid, corpusMessage(rnd, i))
	}
}
