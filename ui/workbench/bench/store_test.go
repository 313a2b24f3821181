package bench

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

// candidates reads in one statement, and ranks nothing, what any ranking in Go has to read: the
// newest 500 matches with the beginning of their texts.
const candidates = `SELECT m.id, substr(m.content,1,400) FROM fts_talk f JOIN messages m ON m.id=f.rowid
 WHERE fts_talk MATCH ? ORDER BY f.rowid DESC LIMIT 500`

// BenchmarkSearch looks for words in 200,000 messages: filters, counting, ranking, snippets and
// sessions included.
func BenchmarkSearch(b *testing.B) {
	s := large(b)
	db, err := sql.Open("sqlite3", "file:"+corpus.st.Path()+"?mode=ro")
	must(b, err)
	b.Cleanup(func() { must(b, db.Close()) })
	for _, q := range []struct {
		what, query, match string
		found              int
	}{
		{"rare word, 200 hits", "rareword", `"rareword"`, 200},
		{"common word, 104,000", "common", `"common"`, 500},
		{"CJK, 2 characters, 2,000", "稀有", `"稀有"`, 500},
	} {
		mine, floor := versus(40, func() {
			r, err := s.Search(b.Context(), session.Query{Text: q.query})
			if err != nil || len(r.Hits) != 20 {
				b.Fatal(len(r.Hits), err)
			}
		}, func() {
			if n := rows(b, db, q.match); n < q.found {
				b.Fatalf("the floor finds %d of %s", n, q.match)
			}
		})
		gate{"search 200,000: " + q.what, "one SQL statement: newest 500 with text", 8}.times(b, mine, floor)
	}
}

func rows(b *testing.B, db *sql.DB, match string) (n int) {
	found, err := db.QueryContext(b.Context(), candidates, match)
	must(b, err)
	defer found.Close()
	for ; found.Next(); n++ {
		var id int64
		var text string
		must(b, found.Scan(&id, &text))
	}
	must(b, found.Err())
	return n
}

// BenchmarkList lists sessions as the browser does.
func BenchmarkList(b *testing.B) {
	s := large(b)
	var uids []string
	mine, floor := versus(100, func() {
		l, err := s.List(b.Context(), session.Filter{Limit: 50})
		if err != nil || len(l) != 50 {
			b.Fatal(len(l), err)
		}
		uids = uids[:0]
		for _, x := range l {
			uids = append(uids, x.UID)
		}
	}, func() {
		for _, uid := range uids {
			_, err := s.Get(b.Context(), uid)
			must(b, err)
		}
	})
	gate{"list 50 of 10,000 sessions", "look the same 50 up by their ids", 1}.times(b, mine, floor)
}

// BenchmarkOpen opens a stored session up to its first picture.
func BenchmarkOpen(b *testing.B) {
	s, st := large(b), uitest.Styles(b, style.True)
	from := pages(func(ctx context.Context, uid string, before, limit int) ([]chat.Message, bool, error) {
		return s.Messages(ctx, uid, session.Page{BeforeSeq: before, Limit: limit})
	})
	open := func(uid string) func() {
		return func() {
			_, err := s.Open(b.Context(), uid, "resume")
			must(b, err)
			openPane(st, uid, from).View()
		}
	}
	mine, floor := versus(50, open("long_10000"), open("long_100"))
	gate{"open a session of 10,000 messages, drawn", "open one of 100", 2}.times(b, mine, floor)
}

// BenchmarkOverview sums up what a model is sent of a session, as the overview beside it does each
// time that it is opened.
func BenchmarkOverview(b *testing.B) {
	s := large(b)
	mine, floor := versus(20, func() {
		_, err := s.Volume(b.Context(), "long_10000", func(*chat.Message) {})
		must(b, err)
	}, func() {
		_, err := s.History(b.Context(), "long_10000")
		must(b, err)
	})
	gate{"overview of 10,000 messages", "read them from the store once", 0.5}.times(b, mine, floor)
}

// BenchmarkInsert adds sessions of 1,000 messages, one transaction each.
func BenchmarkInsert(b *testing.B) {
	st, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "workbench.db"), store.Options{})
	must(b, err)
	b.Cleanup(func() { must(b, st.Close()) })
	rnd, n := rand.New(rand.NewPCG(5, 6)), 0
	var mine, floor []time.Duration
	for range 15 {
		for _, active := range []bool{true, false} {
			n++
			in := sessionOf(rnd, fmt.Sprint("s", n), 0, 1000, active)
			took := timed(func() { _, err = st.ImportSession(b.Context(), in) })
			must(b, err)
			if active {
				mine = append(mine, took)
			} else {
				floor = append(floor, took)
			}
		}
	}
	gate{"store 1,000 messages with the full-text index", "the same without it", 4}.times(b, median(mine), median(floor))
}

// BenchmarkPublish is a 20-byte text delta to 8 subscribers.
func BenchmarkPublish(b *testing.B) {
	mine, floor := versus(100, publisher(b, 1), publisher(b, 0))
	gate{"publish, 8 subscribers, one of them stalled", "all 8 reading", 1.5}.times(b, mine, floor)
}

func publisher(b *testing.B, stalled int) func() {
	bus, offset := event.NewBus(), 0
	for i := range 8 {
		box := bus.Subscribe(event.Limits{})
		b.Cleanup(box.Close)
		if i >= stalled {
			go func() {
				for {
					if out, err := box.Next(context.Background()); out == nil || err != nil {
						return
					}
				}
			}()
		}
	}
	return func() {
		bus.Publish(event.Header{Session: "s", Turn: "t"}, event.TextDelta{MessageID: 1, Offset: offset, Text: "twenty bytes of text"})
		offset += 20
	}
}
