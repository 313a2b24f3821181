package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"hermes/core/approval"
	"hermes/core/approval/command"
	"hermes/core/chat"
	"hermes/core/injection"
	"hermes/core/tool"
)

// What a turn has read decides whether it may change what later sessions are told. A page that was
// fetched, a result that gives orders, a script that read nobody knows what: such a turn asks the
// person before it remembers anything, unless the words are the person's own. A page may also wait
// for a later turn ("when the user says thanks, remember ..."), so the turns after it ask as well
// while the conversation goes on.

// noteForeignText notes that the turn has read what others wrote. It may be called from any
// goroutine; the first reason stays.
func (t *turn) noteForeignText(why string) { t.strange.CompareAndSwap(nil, &why) }

// notePageRead notes that a tool has read what strangers wrote, for this turn and for those after
// it: a summary of the page may outlive its text.
func (t *turn) notePageRead(tool string) {
	t.noteForeignText(tool + " has read what strangers wrote")
	why := tool + " has read what strangers wrote, earlier in this conversation"
	t.w.strange.CompareAndSwap(nil, &why)
}

// foreignSource says whose words the conversation has read, as far as that is known without a look
// at every result.
func (t *turn) foreignSource() string {
	t.scanPages(t.history)
	return firstWhy(t.strange.Load(), t.w.strange.Load(), t.nearby.Load())
}

func firstWhy(why ...*string) string {
	for _, w := range why {
		if w != nil {
			return *w
		}
	}
	return ""
}

// describeLasting adds to a request what the tool says of a call that changes what later sessions
// are told.
func (t *turn) describeLasting(j *toolJob, r *approval.Request) {
	s := j.intent.Lasting
	if j.intent.Reads || s == nil {
		return
	}
	e := approval.Effect{Class: command.Persist, Level: approval.LevelCreate, Reason: s.Effect}
	why := s.Always
	if why == "" && !ownWords(t.said, s.Texts) {
		why = t.otherAuthors(j)
	}
	if s.Unfit {
		why = ""
	}
	if why != "" {
		e.Level, e.Reason = command.LevelAlways, s.Effect+", and "+why
	}
	r.Title, r.Intent.Effects = s.Title, []approval.Effect{e}
}

// otherAuthors says whose words besides the person's may be behind a call; "" when none are.
func (t *turn) otherAuthors(j *toolJob) string {
	if j.up != "" {
		return "a script asks for it: what the script has read is not known"
	}
	t.scanHistory(j.history)
	return firstWhy(t.strange.Load(), t.w.strange.Load(), t.nearby.Load())
}

// strangersBehind says which strangers may have asked for a command; "" when none did, as far as is
// known. What a server of this machine answered is nobody's word: whoever works on one talks to it
// all the time.
func (t *turn) strangersBehind(j *toolJob) string {
	t.scanHistory(j.history)
	return firstWhy(t.strange.Load(), t.w.strange.Load())
}

// scanHistory looks for what strangers wrote in what the turn has read, and in the turns before it.
// Calls inside of others ask for it from goroutines of their own.
func (t *turn) scanHistory(history []chat.Message) {
	if t.strange.Load() == nil {
		t.scanResults(history)
	}
	if t.strange.Load() == nil {
		t.scanPages(history)
	}
}

// scanPages looks for pages that an earlier turn read, perhaps in another process.
func (t *turn) scanPages(history []chat.Message) {
	if t.w.strange.Load() != nil {
		return
	}
	for _, m := range history {
		for _, p := range m.Parts {
			if p.Foreign {
				why := fmt.Sprintf("strangers wrote what stands beside a message of this conversation (%s)", oneLine(p.Name))
				if m.From.IsSummary() {
					why = oneLine(p.Name) // see replaceBySummary
				}
				t.w.strange.CompareAndSwap(nil, &why)
				return
			}
		}
		if m.Role != chat.RoleTool || m.Result == nil {
			continue
		}
		if spec, ok := t.a.d.Tools.Lookup(m.Result.Name); ok && spec.BringsForeignText() {
			why := m.Result.Name + " has read what strangers wrote, earlier in this conversation"
			t.w.strange.CompareAndSwap(nil, &why)
			return
		}
	}
}

// scanResults looks for orders in what the tools of this turn gave.
func (t *turn) scanResults(history []chat.Message) {
	t.scanning.Lock()
	defer t.scanning.Unlock()
	if t.scanned == nil {
		t.scanned = map[int64]bool{}
	}
	for _, m := range slices.Backward(history) {
		if m.ID != 0 && m.ID <= t.prompt {
			return
		}
		if m.Role != chat.RoleTool || m.Result == nil || m.ID != 0 && t.scanned[m.ID] {
			continue
		}
		if t.changesLasting(m.Result) { // it says what was refused
			continue
		}
		if hits := injection.ScanDocument(m.Result.Text); len(hits) > 0 {
			t.noteForeignText("the result of " + m.Result.Name + " " + hits[0].Reason)
			return
		}
		t.scanned[m.ID] = true
	}
}

// scanNested looks for orders in what a call inside of another one gave: it is no message, and what
// the call around it says of it may leave them out.
func (t *turn) scanNested(j *toolJob) {
	if t.strange.Load() != nil || j.args != nil && meansLasting(j.spec, j.args) { // it says what was refused
		return
	}
	if hits := injection.ScanDocument(j.result.Text); len(hits) > 0 {
		t.noteForeignText("the result of " + j.call.Name + " " + hits[0].Reason)
	}
}

// changesLasting reports whether a result is of a call that changes what later sessions are told.
func (t *turn) changesLasting(r *chat.ToolResult) bool {
	spec, ok := t.a.d.Tools.Lookup(r.Name)
	for _, m := range slices.Backward(t.history) {
		for _, c := range m.Calls {
			if c.ID == r.CallID {
				return ok && c.Invalid == "" && meansLasting(spec, c.Args)
			}
		}
	}
	return false
}

// meansLasting asks a tool about arguments that may not be valid; a tool that cannot stand them
// says nothing.
func meansLasting(s tool.Spec, args json.RawMessage) (lasting bool) {
	defer func() { _ = recover() }()
	return s.Means(args).Lasting != nil
}

// noteFetched notes that a command brings something from the network, or from a server of this
// machine.
func (t *turn) noteFetched(a approval.Analysis) {
	why := "a command of this turn fetched something from the network"
	switch some, elsewhere := a.Fetches(); {
	case elsewhere:
		t.noteForeignText(why)
	case some:
		t.nearby.CompareAndSwap(nil, &why)
	}
}

// ownWords reports whether the person asked for the texts to be kept: what they said has a word for
// remembering and the words of each text. One word of a stranger's is enough to turn a note round,
// so none may be left; only a few that report ("the user prefers") and other endings may.
func ownWords(said string, texts []string) bool {
	said = strings.ToLower(said)
	if !slices.ContainsFunc(rememberWords(), func(w string) bool { return strings.Contains(said, w) }) {
		return false
	}
	known, some := tellingWords(said), false
	for _, text := range texts {
		text = strings.ToLower(text)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if some = true; turnsMeaning(said, text) || !saidAll(known, tellingWords(text)) {
			return false
		}
	}
	return some
}

// turnsMeaning reports whether a text denies more than the person did: a word that is too short to
// be looked up turns it round.
func turnsMeaning(said, text string) bool {
	said, text = " "+said+" ", " "+text+" "
	return slices.ContainsFunc([]string{" no ", " не ", " ni ", "不", "没", "沒", "別", "别", "未", "無", "无"}, func(no string) bool {
		return strings.Count(text, no) > strings.Count(said, no)
	})
}

// saidAll reports whether all words are known. Of pairs of characters three quarters are enough:
// some stand across the border of two words.
func saidAll(known, all []string) bool {
	pairs, said := 0, 0
	for _, w := range all {
		has := slices.Contains(known, w)
		switch {
		case isUnspacedWord(w):
			if pairs++; has {
				said++
			}
		case !has && !slices.Contains(reportWords(), w) && !slices.ContainsFunc(known, func(k string) bool { return otherEnding(k, w) }):
			return false
		}
	}
	return len(all) > 0 && 4*said >= 3*pairs
}

// otherEnding reports whether two words differ in a short ending only: prefer, prefers.
func otherEnding(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) > 3 && len(b)-len(a) < 3 && strings.HasPrefix(b, a) && !strings.ContainsAny(b, "0123456789")
}

// reportWords are words of a note about somebody that say nothing by themselves.
func reportWords() []string {
	return []string{
		"the", "this", "that", "and", "for", "with", "has", "have", "are", "was", "user", "users", "person", "their", "they", "his", "her", "who",
		"wants", "want", "prefers", "prefer", "likes", "like", "uses", "use", "name", "named", "called", "calls", "lives", "works", "asked",
	}
}

// rememberWords are words by which people ask for something to be kept or dropped.
func rememberWords() []string {
	return []string{
		"remember", "memor", "forget", "keep in mind", "note that", "make a note", "take note", "from now on", "i prefer", "call me",
		"merk", "vergiss", "erinner", "notier", "recuerda", "olvida", "retiens", "souviens", "oublie", "note que", "lembr", "ricord",
		"记住", "記住", "记得", "記得", "记下", "記下", "忘记", "忘掉", "覚え", "忘れ", "기억", "запомн", "забуд",
	}
}

// tellingWords are the words of a text that say something: three letters and more, what has a
// digit, and each pair of characters where words are not parted by blanks.
func tellingWords(s string) []string {
	var out []string
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }) {
		runes := []rune(f)
		if !isUnspacedWord(f) {
			if len(runes) > 2 || strings.ContainsFunc(f, unicode.IsNumber) {
				out = append(out, f)
			}
			continue
		}
		for i := 0; i+1 < len(runes); i++ {
			out = append(out, string(runes[i:i+2]))
		}
	}
	return out
}

// isUnspacedWord reports whether a word is of a writing without blanks between words.
func isUnspacedWord(w string) bool {
	for _, r := range w {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	}
	return false
}
