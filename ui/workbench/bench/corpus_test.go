package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/store"
)

const (
	corpusMessages = 200_000
	perSession     = 20
)

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

// message makes the i-th: 14 % are of a person, 38 % of a model, 48 % are output of tools, and
// every tenth of those is long. "common" is in all that is said, "rareword" in one message of a
// thousand, 稀有 in one of a hundred.
func message(rnd *rand.Rand, i int) chat.Message {
	m := chat.Message{Role: chat.RoleAssistant, Status: chat.StatusFinal, At: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	switch kind := i * 7 % 50; {
	case kind >= 26:
		words := 40
		if i%10 == 3 {
			words = 1000
		}
		m.Role, m.Result = chat.RoleTool, &chat.ToolResult{CallID: "1", Name: "terminal", Text: sentence(rnd, words)}
		return m
	case kind < 7:
		m.Role = chat.RoleUser
	}
	m.Text = "common " + sentence(rnd, 60)
	if i%1000 == 0 {
		m.Text += " rareword"
	}
	if i%100 == 0 {
		m.Text += " 稀有词"
	}
	return m
}

// sessionOf makes a session of n messages. Those that are not active are stored like the others and
// not indexed.
func sessionOf(rnd *rand.Rand, uid string, from, n int, active bool) store.Import {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	in := store.Import{Session: store.Session{UID: uid, Kind: "user", Title: "corpus", Started: at, Last: at, Project: fmt.Sprint("/src/project", from/perSession%10)}}
	for i := range n {
		in.Messages = append(in.Messages, store.StoredMessage{Message: message(rnd, from+i), Active: active})
	}
	return in
}

// corpus is the store of all benchmarks that need a large one. It is built once, in a temporary
// folder.
var corpus struct {
	once sync.Once
	dir  string
	st   *store.Store
	err  error
}

func fill(ctx context.Context) error {
	var err error
	if corpus.dir, err = os.MkdirTemp("", "hermes-bench-"); err != nil {
		return err
	}
	if corpus.st, err = store.Open(ctx, filepath.Join(corpus.dir, "workbench.db"), store.Options{}); err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < corpusMessages && err == nil; i += perSession {
		_, err = corpus.st.ImportSession(ctx, sessionOf(rnd, fmt.Sprintf("corpus_%06d", i), i, perSession, true))
	}
	for _, n := range []int{100, 10_000} {
		_, more := corpus.st.ImportSession(ctx, sessionOf(rnd, fmt.Sprint("long_", n), 0, n, true))
		err = errors.Join(err, more)
	}
	return err
}

// large is the service over 200,000 messages in 10,000 sessions, and one session of 100 and one of
// 10,000 messages.
func large(b *testing.B) *session.Service {
	b.Helper()
	corpus.once.Do(func() { corpus.err = fill(context.Background()) })
	must(b, corpus.err)
	return session.New(corpus.st, event.NewBus())
}

func closeCorpus() {
	if corpus.st != nil {
		corpus.st.Close()
	}
	if corpus.dir != "" {
		os.RemoveAll(corpus.dir)
	}
}
