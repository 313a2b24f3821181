package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/clip"
	"hermes/core/provider"
)

const (
	pruneBytes = 1000 // smaller results stay: a line in their place saves nothing worth the loss
	pruneGain  = 10   // percent of the limit that must be saved: every change of what was sent before costs the provider's cache
	pruneShare = 0.25 // of the limit that stays as it is, when the settings name no share
	capBytes   = 64 << 10
	pruneHead  = 80 // characters of a result that its line shows
)

// pruneResults takes old results of tools out of what the model is shown, one line in the place of
// each, and long arguments of their calls, when that makes room that is worth it. It returns the
// share of the conversation that is gone. The store keeps every result whole, and so does the
// screen.
func (t *turn) pruneResults(limit int) float64 {
	share := t.settings.KeepShare
	if share <= 0 {
		share = pruneShare
	}
	through := newestStale(t.history, int(float64(limit)*share))
	before := estimateTokens(t.shownHistory())
	t.noteReaders()
	old := t.w.pruned
	for _, texts := range []int64{old.texts, through} { // images and documents first
		next := old
		next.texts, next.media = texts, through
		if next.texts < t.w.pruned.texts || next.media < t.w.pruned.media {
			continue
		}
		after := estimateTokens(pruneHistory(t.history, next))
		if (before-after)*100 < limit*pruneGain {
			continue
		}
		t.w.pruned = next
		t.a.d.Log.Info("old images, documents, results and arguments of tools are sent shortened",
			"session", t.w.uid, "through", next, "before", before, "after", after)
		return float64(before-after) / float64(before)
	}
	return 0
}

// pruneAll shortens all that was answered and has fresh tokens of conversation after it, whatever
// that saves.
func (t *turn) pruneAll(fresh int) {
	through := newestStale(t.history, fresh)
	t.a.d.Log.Info("all that is old is sent shortened", "session", t.w.uid, "through", through)
	t.w.pruned.texts, t.w.pruned.media = max(t.w.pruned.texts, through), max(t.w.pruned.media, through)
	t.noteReaders()
}

// noteReaders notes which tools find again what is left out.
func (t *turn) noteReaders() {
	t.w.pruned.alone, t.w.pruned.unsearched = !t.hasTool("read_file"), !t.hasTool("session_search")
}

// hasTool reports whether the model has a tool.
func (t *turn) hasTool(name string) bool {
	return slices.ContainsFunc(t.specs, func(s provider.ToolSpec) bool { return s.Name == name })
}

// capResults cuts what the model has not even answered yet, until a call has at most that many
// tokens.
func (t *turn) capResults(most int) {
	if len(t.history) == 0 {
		return
	}
	t.w.pruned.capped = t.history[len(t.history)-1].ID
	for t.w.pruned.bytes = capBytes; t.measureRequest() > most && t.w.pruned.bytes > pruneBytes; {
		t.w.pruned.bytes /= 2
	}
}

// cut is how far the history is pruned: ids of the newest messages whose texts and whose media
// (images, documents) are left out, and of the newest one whose texts are cut to a number of bytes;
// 0: none. Alone says that no tool reads a document again, so that its text stays,
// unsearched that none finds an old result again.
type cut struct {
	texts, media, capped int64
	bytes                int
	alone, unsearched    bool
}

// isEmpty reports whether all is shown whole.
func (c cut) isEmpty() bool { return c.texts == 0 && c.media == 0 && c.capped == 0 }

// shownHistory is the history as the model sees it.
func (t *turn) shownHistory() []chat.Message { return pruneHistory(t.history, t.w.pruned) }

// newestStale is the id of the newest message with a result, an image or a document that has fresh
// tokens of conversation after it and that the model has answered; 0: none.
func newestStale(history []chat.Message, fresh int) int64 {
	tokens, answered := 0, false
	for i, m := range slices.Backward(history) {
		if answered && tokens >= fresh && m.ID > 0 && (m.Result != nil || hasMedia(m)) {
			return m.ID
		}
		tokens += estimateTokens(history[i : i+1])
		answered = answered || m.Role == chat.RoleAssistant
	}
	return 0
}

// pruneHistory is history with one line in the place of every large result, of every image, of
// every document and of every long string in a call's arguments, up to through. It changes nothing
// but these: calls and results stay pairs. What is not stored yet (ID 0) is new and stays.
func pruneHistory(history []chat.Message, through cut) []chat.Message {
	if through.isEmpty() {
		return history
	}
	out := slices.Clone(history)
	later := map[string]bool{}
	for i := range slices.Backward(out) {
		r := out[i].Result
		if r == nil || len(r.Text) < pruneBytes {
			continue
		}
		if out[i].ID == 0 || out[i].ID > through.texts {
			later[r.Name+"\x00"+r.Text] = true
			continue
		}
		line := prunedLine(out[i], later[r.Name+"\x00"+r.Text], through.unsearched)
		if len(line) < len(r.Text) {
			short := *r
			short.Text = line
			out[i].Result = &short
		}
	}
	for i, m := range out {
		if m.ID == 0 || m.ID > max(through.texts, through.capped) {
			continue
		}
		out[i].Calls = prunedCalls(m.Calls)
		if r := m.Result; r != nil && through.bytes > 0 && m.ID <= through.capped && len(r.Text) > through.bytes && !strings.HasSuffix(r.Text, capTail) {
			short := *r
			short.Text = shortenMiddle(r.Text, through.bytes-len(capTail)-8) + capTail
			out[i].Result = &short
		}
	}
	for i, m := range out {
		if m.ID > 0 && m.ID <= through.media {
			out[i] = withoutMedia(m, through.alone)
		}
	}
	return out
}

// capTail ends what was cut because a model's window has no room for it.
const capTail = "\n[cut here: the whole does not fit the model's window; read it in smaller pieces]"

func prunedLine(m chat.Message, again, unsearched bool) string {
	if again {
		return fmt.Sprintf("[left out: a later call of %s gave exactly this result]", m.Result.Name)
	}
	where := ""
	if m.Result.Spill != "" {
		where = " kept in: " + m.Result.Spill + ";"
	}
	head := strings.ToValidUTF8(m.Result.Text[:min(len(m.Result.Text), utf8.UTFMax*pruneHead)], "")
	search := ""
	if !unsearched {
		search = fmt.Sprintf(" session_search with session_id %s, around_message_id %d and role_filter tool shows more of it;", m.Session, m.ID)
	}
	return fmt.Sprintf("[left out to save room: %d bytes from %s, which began %q;%s%s call again for how it is now]",
		len(m.Result.Text), m.Result.Name, clip.Runes(head, pruneHead, "…"), where, search)
}

const (
	argBytes = 300 // a shorter string in the arguments of an old call stays
	argHead  = 100 // bytes of a longer one that are shown
)

// prunedCalls are calls with the long strings of their arguments shortened. The arguments stay the
// JSON that they were.
func prunedCalls(calls []chat.ToolCall) []chat.ToolCall {
	var out []chat.ToolCall
	for i, c := range calls {
		if len(c.Args) < pruneBytes && len(c.Invalid) < pruneBytes {
			continue
		}
		if out == nil {
			out = slices.Clone(calls)
		}
		out[i].Args, out[i].Invalid = prunedArgs(c.Args), shortString(c.Invalid)
	}
	if out == nil {
		return calls
	}
	return out
}

func prunedArgs(args json.RawMessage) json.RawMessage {
	in := json.NewDecoder(bytes.NewReader(args))
	in.UseNumber()
	var v any
	if len(args) < pruneBytes || in.Decode(&v) != nil {
		return args
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if to.Encode(shortStrings(v)) != nil || b.Len() >= len(args) {
		return args
	}
	return bytes.TrimSpace(b.Bytes())
}

func shortStrings(v any) any {
	switch v := v.(type) {
	case string:
		return shortString(v)
	case []any:
		for i := range v {
			v[i] = shortStrings(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shortStrings(v[k])
		}
	}
	return v
}

func shortString(s string) string {
	if len(s) <= argBytes || strings.HasSuffix(s, argTail) {
		return s
	}
	head := strings.ToValidUTF8(s[:argHead], "")
	return fmt.Sprintf("%s [%d bytes more%s", head, len(s)-len(head), argTail)
}

// argTail says that the call itself was whole, so that no model takes the mark for a way to write
// files.
const argTail = " stood here; they are left out only now, to save room]"
