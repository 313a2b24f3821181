package memory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"hermes/core/secret"
)

// Action is what an Op does.
type Action string

// The actions.
const (
	Add     Action = "add"
	Replace Action = "replace"
	Remove  Action = "remove"
)

// Op is one operation on a target.
type Op struct {
	Action  Action `json:"action"`
	Content string `json:"content,omitempty"`  // of add and replace
	OldText string `json:"old_text,omitempty"` // of replace and remove: a part of exactly one entry
}

// Why is the kind of a Refusal.
type Why string

// The kinds.
const (
	Full      Why = "full"      // it would be over the limit
	Missing   Why = "missing"   // no entry has OldText
	Ambiguous Why = "ambiguous" // several have
	Duplicate Why = "duplicate" // another entry says the same
	Injected  Why = "injected"  // it gives orders to the agent
	Secret    Why = "secret"
	Malformed Why = "malformed" // no content, no old text, a separator inside
	Stale     Why = "stale"     // somebody else changed the file
)

// Refusal says why nothing was written. Its text is for people and models alike; see Said.
type Refusal struct {
	Why     Why
	Text    string
	Content string   // that was refused, of Injected
	Hit     Hit      // of Injected
	Matches []string // entries, of Ambiguous
	Over    int      // characters too many, of Full
	Doc     Document // as it is
}

func (r *Refusal) Error() string { return r.Text }

// Said is the text for people: it quotes what was found, which a model is not to read again.
func (r *Refusal) Said() string {
	if r.Hit.Text == "" {
		return r.Text
	}
	return fmt.Sprintf("%s: %q", r.Text, r.Hit.Text)
}

func newRefusal(why Why, format string, args ...any) *Refusal {
	return &Refusal{Why: why, Text: fmt.Sprintf(format, args...)}
}

// Change is what a write did, or would do.
type Change struct {
	Target        Target
	Before, After Document
	Added         []string // texts of entries that are new
	Removed       []string // texts of entries that are gone
	Notes         []string // what was left out, and why
}

// Nothing reports that the file stays as it is.
func (c Change) Nothing() bool { return string(c.Before.raw) == string(c.After.raw) }

// Rules say what a write is judged by.
type Rules struct {
	// Anything lets text pass that looks like orders: a person has seen it and wants it. It stays
	// out of the prompt all the same.
	Anything bool
}

// Plan says what the operations would do to the file as it is now, without changing it.
func (s *Store) Plan(t Target, ops []Op, rules Rules) (Change, error) {
	raw, err := s.readTarget(t)
	if err != nil {
		return Change{}, err
	}
	return s.planChange(t, raw, ops, rules)
}

func (s *Store) planChange(t Target, raw []byte, ops []Op, rules Rules) (Change, error) {
	d := s.newDocument(t, raw)
	c := Change{Target: t, Before: d}
	for i, op := range ops {
		next, err := c.applyOp(d, op)
		if err != nil {
			return c, s.completeRefusal(t, raw, i, len(ops), err)
		}
		d = s.newDocument(t, next)
	}
	c.After = d
	c.compareEntries()
	if err := c.checkRules(rules); err != nil {
		return c, s.completeRefusal(t, raw, 0, 1, err)
	}
	return c, nil
}

// completeRefusal completes a refusal.
func (s *Store) completeRefusal(t Target, raw []byte, i, n int, err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	if n > 1 {
		r.Text = fmt.Sprintf("operation %d of %d: %s; none was applied", i+1, n, r.Text)
	}
	r.Doc = s.newDocument(t, raw)
	return r
}

func (c *Change) applyOp(d Document, op Op) ([]byte, error) {
	text := strings.TrimFunc(lineFeeds(op.Content), isBlank)
	if op.Action != Remove {
		if err := wellFormed(op.Action, text); err != nil {
			return nil, err
		}
	}
	switch op.Action {
	case Add:
		if i := findDuplicate(d.Entries, text, -1); i >= 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("not added, it is there already: %q", Short(d.Entries[i].Text)))
			return d.raw, nil
		}
		return d.withAdded(text), nil
	case Replace, Remove:
		i, err := findEntry(d.Entries, op.OldText)
		if err != nil {
			return nil, err
		}
		if op.Action == Remove {
			return d.withRemoved(i), nil
		}
		if j := findDuplicate(d.Entries, text, i); j >= 0 {
			return nil, newRefusal(Duplicate, "another entry says that already (%q): remove this one instead", Short(d.Entries[j].Text))
		}
		return d.withReplaced(i, text), nil
	}
	return nil, newRefusal(Malformed, "no action %q: add, replace or remove", string(op.Action))
}

func wellFormed(a Action, text string) error {
	if text == "" {
		if a == Replace {
			return newRefusal(Malformed, "replace needs content: the new text of the entry (remove takes an entry away)")
		}
		return newRefusal(Malformed, "add needs content: the text to remember")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimFunc(line, isBlank) == mark {
			return newRefusal(Malformed, "a line with nothing but %s separates entries: send each entry by itself", mark)
		}
	}
	return nil
}

// findEntry is the one entry that holds part, or is it.
func findEntry(entries []Entry, part string) (int, error) {
	part = strings.TrimFunc(lineFeeds(part), isBlank)
	if part == "" {
		return 0, newRefusal(Malformed, "old_text is missing: a part of the entry that only this entry has")
	}
	var found []int
	for i, e := range entries {
		if e.Text == part {
			return i, nil
		}
		if strings.Contains(e.Text, part) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return 0, newRefusal(Missing, "no entry has %q", Short(part))
	case 1:
		return found[0], nil
	}
	r := newRefusal(Ambiguous, "%d entries have %q: give more of the one that is meant", len(found), Short(part))
	for _, i := range found {
		r.Matches = append(r.Matches, entries[i].Text)
	}
	return 0, r
}

// findDuplicate is an entry that says the same as text, beside entry except; -1 when none does.
func findDuplicate(entries []Entry, text string, except int) int {
	want := normalise(text)
	return slices.IndexFunc(entries, func(e Entry) bool {
		return normalise(e.Text) == want && (except < 0 || entries[except].start != e.start)
	})
}

// normalise is what is compared: case, blanks and a last full stop make no other statement.
func normalise(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(s)), " "), ".。")
}

// compareEntries finds what is new and what is gone.
func (c *Change) compareEntries() {
	count := map[string]int{}
	for _, e := range c.Before.Entries {
		count[e.Text]++
	}
	for _, e := range c.After.Entries {
		if count[e.Text]--; count[e.Text] < 0 {
			c.Added = append(c.Added, e.Text)
		}
	}
	clear(count)
	for _, e := range c.After.Entries {
		count[e.Text]++
	}
	for _, e := range c.Before.Entries {
		if count[e.Text]--; count[e.Text] < 0 {
			c.Removed = append(c.Removed, e.Text)
		}
	}
}

// checkRules refuses what must not be kept. What gets smaller is never too large, and what was
// there before is not judged again.
func (c *Change) checkRules(rules Rules) error {
	for _, text := range c.Added {
		if clean := secret.Redact(text); clean != text {
			return newRefusal(Secret, "it holds what looks like a secret (%s); memory is sent to the model with every session: say where the secret is kept instead", Short(clean))
		}
	}
	if c.After.Over() && c.After.Used > c.Before.Used {
		r := newRefusal(Full, "it would be %s/%s characters, %d too many", Number(c.After.Used), Number(c.After.Limit), c.After.Used-c.After.Limit)
		r.Over = c.After.Used - c.After.Limit
		return r
	}
	c.Before.scanEntries()
	c.After.scanEntries()
	if rules.Anything {
		return nil
	}
	for _, e := range c.After.Entries {
		if !e.Blocked() || wasBlocked(c.Before, e) {
			continue
		}
		h := e.Hits[0]
		r := newRefusal(Injected, "the text %s (bytes %d to %d of the entry)", h.Reason, h.Start, h.End)
		r.Hit, r.Content = h, e.Text
		return r
	}
	return nil
}

// Unfit says why a text is kept in no memory, whatever the memory holds; "" when it may be.
func Unfit(text string) string {
	text = strings.TrimFunc(lineFeeds(text), isBlank)
	if secret.Redact(text) != text {
		return "it holds what looks like a secret"
	}
	if h := findOrders(text); len(h) > 0 {
		return "it " + h[0].Reason
	}
	return ""
}

func wasBlocked(d Document, e Entry) bool {
	return slices.ContainsFunc(d.Entries, func(x Entry) bool { return x.Text == e.Text && x.Blocked() })
}

// Short is a text on one line, for sentences: at most 80 characters.
func Short(s string) string {
	s = strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
