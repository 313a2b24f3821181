package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
)

// anyHistory is a conversation as it can be in a store: steers, empty and cut answers, calls
// without a result and results without a call are in it. Ids rise; the newest messages may have
// none.
func anyHistory(r *rand.Rand) []chat.Message {
	var out []chat.Message
	add := func(m chat.Message) { out = append(out, m) }
	calls := 0
	for turn := range 1 + r.IntN(6) {
		add(chat.Message{Role: chat.RoleUser, Text: fmt.Sprintf("rule %d", turn), Parts: anyParts(r)})
		for range r.IntN(5) {
			m := chat.Message{Role: chat.RoleAssistant, Text: strings.Repeat("a", r.IntN(3))}
			for range r.IntN(4) {
				calls++
				m.Calls = append(m.Calls, chat.ToolCall{ID: fmt.Sprint("c", calls), Name: []string{"read", "run"}[r.IntN(2)]})
			}
			add(m)
			for _, c := range m.Calls {
				if r.IntN(10) == 0 {
					continue
				}
				text := strings.Repeat([]string{"x", "容", "\xff", "\x1b"}[r.IntN(4)], r.IntN(2)*r.IntN(3*pruneBytes))
				add(chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: c.ID, Name: c.Name, Text: text}})
			}
			if r.IntN(5) == 0 {
				add(chat.Message{Role: chat.RoleUser, Text: "steer"})
			}
		}
		if r.IntN(4) > 0 {
			add(chat.Message{Role: chat.RoleAssistant, Text: "done"})
		}
	}
	unstored := r.IntN(3)
	for i := range out[:max(0, len(out)-unstored)] {
		out[i].ID = int64(2*i + 1)
		out[i].Session = "s"
	}
	return out
}

// anyParts are what a person attaches: mostly nothing.
func anyParts(r *rand.Rand) (out []chat.Part) {
	for range max(0, r.IntN(6)-3) {
		p := chat.Part{Kind: chat.PartImage, Name: "i.png", Media: "image/png", Blob: strings.Repeat("ab", 32), Size: 9, Width: 100, Height: 100}
		if r.IntN(2) == 0 {
			p = chat.Part{Kind: chat.PartFile, Name: "d.pdf", Media: chat.PDF, Blob: strings.Repeat("cd", 32), Size: 9, Text: strings.Repeat("page ", r.IntN(500))}
		}
		out = append(out, p)
	}
	return out
}

// histories is how many are made up; `make check` has the whole number.
func histories() uint64 {
	if testing.Short() {
		return 1000
	}
	return 10_000
}

// Whatever was said: after pruning up to any message every provider takes it.
func TestPrunedHistoriesAreSound(t *testing.T) {
	testskip.WithoutRace(t, "ten thousand histories")
	for seed := range histories() {
		r := rand.New(rand.NewPCG(seed, 1))
		h := anyHistory(r)
		before := results(h)
		through := int64(r.IntN(2*len(h) + 2))
		c := cut{texts: through, media: through}
		p := pruneHistory(h, c)
		if !slices.Equal(results(h), before) {
			t.Fatalf("seed %d: the history was changed", seed)
		}
		if err := unharmed(h, p, through); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := pruneHistory(p, c); !reflect.DeepEqual(again, p) {
			t.Fatalf("seed %d: pruning twice is not pruning once", seed)
		}
		if err := sound(validHistory(p)); err != nil {
			t.Fatalf("seed %d: pruned: %v", seed, err)
		}
	}
}

// Whatever was said: after a compression anywhere every provider takes the rest, it is shorter,
// every rule of the person is in it byte for byte, and compressing it again changes nothing.
func TestCompressedHistoriesAreSound(t *testing.T) {
	testskip.WithoutRace(t, "ten thousand histories")
	compressed := 0
	for seed := range histories() {
		r := rand.New(rand.NewPCG(seed, 2))
		h := anyHistory(r)
		for i := range h {
			h[i].ID = int64(i + 1)
		}
		k := tail{messages: r.IntN(20), tokens: r.IntN(2000), most: r.IntN(4000)}
		at := k.tailStart(h)
		if at == 0 {
			continue
		}
		sum := chat.Message{
			ID: 1000, Role: chat.RoleUser, From: chat.Summary(), Text: summaryWithoutModel(h[:at], 400), Parts: quotePerson(h[:at], r.IntN(3), 1000),
		}
		after := append([]chat.Message{sum}, h[at:]...)
		sent := validHistory(pruneHistory(after, cut{int64(r.IntN(at + 5)), int64(at), int64(at), 1 << (8 + r.IntN(8)), false, false}))
		if err := modeltest.CheckHistory(sent); err != nil {
			t.Fatalf("seed %d: cut at %d: %v\n%q", seed, at, err, shape(sent))
		}
		var all strings.Builder
		for _, m := range sent {
			all.WriteString(m.Text)
		}
		for _, m := range h {
			if m.Role == chat.RoleUser && !strings.Contains(all.String(), m.Text) {
				t.Fatalf("seed %d: cut at %d: %q is gone from\n%s", seed, at, m.Text, all.String())
			}
		}
		if was := estimateTokens(h); was > 2000 && estimateTokens(h[:at])*5 > was &&
			estimateTokens(after) >= was {
			t.Fatalf("seed %d: %d tokens became %d", seed, was, estimateTokens(after))
		}
		if again := quotePerson(after[:1], len(sum.Parts), 1000); !reflect.DeepEqual(again, sum.Parts) {
			t.Fatalf("seed %d: the person's words changed from %+v to %+v", seed, sum.Parts, again)
		}
		if again := summaryWithoutModel(after[:1], 500); strings.Count(again, extractHead) != 1 || strings.Count(again, "[The summary so far:]") != 1 {
			t.Fatalf("seed %d: %q", seed, again)
		}
		compressed++
	}
	if compressed < int(histories())/2 {
		t.Errorf("only %d histories were compressed", compressed)
	}
}

func results(h []chat.Message) []string {
	var out []string
	for _, m := range h {
		if m.Result != nil {
			out = append(out, m.Result.Text)
		}
	}
	return out
}

// unharmed says what else than the texts of old results and old images and documents differs, and
// which of these grew.
func unharmed(h, p []chat.Message, through int64) error {
	for i, m := range h {
		q := p[i]
		if m.ID > 0 && m.ID <= through {
			m = withoutMedia(m, false)
		}
		if m.Result == nil {
			if !reflect.DeepEqual(m, q) {
				return fmt.Errorf("message %d is another", i)
			}
			continue
		}
		short := *q.Result
		short.Text = m.Result.Text
		switch {
		case !reflect.DeepEqual(short, *m.Result):
			return fmt.Errorf("result %d is another", i)
		case len(q.Result.Text) > len(m.Result.Text):
			return fmt.Errorf("result %d grew", i)
		case q.Result.Text != m.Result.Text && (m.ID == 0 || m.ID > through):
			return fmt.Errorf("result %d is new and was pruned", i)
		case q.Result.Text == "" && m.Result.Text != "":
			return fmt.Errorf("result %d is empty now", i)
		}
	}
	return nil
}

func TestWhatIsStale(t *testing.T) {
	result := func(id int64, bytes int) chat.Message {
		return chat.Message{ID: id, Role: chat.RoleTool, Result: &chat.ToolResult{Text: strings.Repeat("x", bytes)}}
	}
	says := func(id int64) chat.Message { return chat.Message{ID: id, Role: chat.RoleAssistant, Text: "on"} }
	h := []chat.Message{result(1, 4000), says(2), result(3, 4000), says(4), result(5, 4000), result(6, 4000)}
	for fresh, want := range map[int]int64{0: 3, 2000: 3, 2500: 1, 5000: 0} {
		if got := newestStale(h, fresh); got != want {
			t.Errorf("with %d fresh tokens: %d, want %d", fresh, got, want)
		}
	}
	if got := newestStale(h[4:], 0); got != 0 {
		t.Errorf("%d is pruned before the model has seen it", got)
	}
}

// Within one long turn, room is made without a summary: old results become lines, the newest stay,
// the store keeps all.
func TestOldResultsAreShortenedBeforeAnythingIsSummarised(t *testing.T) {
	big := strings.Repeat("data ", 500)
	var script []reply
	for i := range 4 {
		script = append(script, counted(callsTools(fakeCall{"echo", fmt.Sprintf(`{"v":"%d %s"}`, i, big)}), 100+400*(i+1)))
	}
	r := newRig(t, append(script, says("done"))...)
	r.settings(func(s *Settings) { s.Compress, s.CompressAt, s.KeepShare = true, 2, 0.3 }) // of a window of 1000 tokens
	r.submit("go", "")
	if end := r.ended(1); end.Reason != event.TurnDone {
		t.Fatalf("%+v", end)
	}
	r.idle()
	reqs := r.model.seen()
	if n := len(reqs); n != 5 || len(each[event.Compressed](r.sink)) != 0 {
		t.Fatalf("%d calls, %d summaries", n, len(each[event.Compressed](r.sink)))
	}
	var short []bool
	for _, m := range reqs[4].Messages {
		if m.Result != nil {
			short = append(short, strings.HasPrefix(m.Result.Text, "[left out to save room: 2507 bytes from echo, which began \"echo ") &&
				!strings.Contains(m.Result.Text, "session_search")) // which this session has not
		}
	}
	if !slices.Equal(short, []bool{true, true, true, false}) {
		t.Errorf("shortened: %v", short)
	}
	for _, m := range r.history() {
		if m.Result != nil && !strings.Contains(m.Result.Text, big) {
			t.Errorf("the store lost a result: %.80q", m.Result.Text)
		}
	}
}

// counted is an answer whose provider says how many tokens went in.
func counted(r reply, tokens int) reply {
	return func(ctx context.Context, q provider.Request, yield func(provider.Chunk, error) bool) {
		r(ctx, q, func(c provider.Chunk, err error) bool {
			if c.Kind == provider.ChunkEnd {
				c.Usage.Input = tokens
			}
			return yield(c, err)
		})
	}
}

func TestAnEqualResultFurtherDownIsNamed(t *testing.T) {
	text := strings.Repeat("x", pruneBytes)
	h := []chat.Message{
		{ID: 1, Role: chat.RoleTool, Result: &chat.ToolResult{Name: "read", Text: text}},
		{ID: 2, Role: chat.RoleTool, Result: &chat.ToolResult{Name: "read", Text: text}},
	}
	if got := pruneHistory(h, cut{texts: 1, media: 1}); !strings.Contains(got[0].Result.Text, "a later call of read") || got[1].Result.Text != text {
		t.Errorf("%q", shape(got))
	}
}

// Where an old result stands is told to a session that can look there.
func TestOnlyASessionThatSearchesIsToldWhereAnOldResultIs(t *testing.T) {
	h := []chat.Message{{ID: 7, Session: "abc", Role: chat.RoleTool, Result: &chat.ToolResult{Name: "read", Text: strings.Repeat("x", pruneBytes)}}}
	for _, unsearched := range []bool{false, true} {
		got := pruneHistory(h, cut{texts: 7, unsearched: unsearched})[0].Result.Text
		if strings.Contains(got, "session_search with session_id abc, around_message_id 7") == unsearched || !strings.HasSuffix(got, "call again for how it is now]") {
			t.Errorf("unsearched %v: %q", unsearched, got)
		}
	}
}
