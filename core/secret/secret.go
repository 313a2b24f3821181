// Package secret hides secrets in text: the values that it was told (Add), also written in base64,
// hexadecimal, percent or JSON escapes, and what has the shape of a key. Standard library only, so
// that every other package may use it.
//
// The contract: Redact takes linear time, keeps text without secrets as it is (the same string),
// and hides again nothing that is hidden. It is a net, not a wall: whoever may run programs can
// write a secret in a way that no list of shapes knows.
package secret

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// Hidden stands where a secret was. No language writes this, so that a file tool can tell that a
// model copied it.
const Hidden = "[hidden secret]"

// shortest is the length in bytes below which a value is taken for a plain word: true, 8080, dev.
const shortest = 8

var known struct {
	sync.Mutex
	set map[string]bool
	now atomic.Pointer[finder]
}

// Add makes Redact hide these values, wherever they stand. Values shorter than 8 bytes are left
// out. Of a value of several lines each long one counts for itself too.
func Add(values ...string) {
	known.Lock()
	defer known.Unlock()
	if known.set == nil {
		known.set = map[string]bool{}
	}
	before := len(known.set)
	for _, v := range values {
		for _, form := range hiddenForms(strings.TrimSpace(v)) {
			known.set[form] = true
		}
	}
	if len(known.set) != before {
		known.now.Store(newFinder(known.set))
	}
}

var open atomic.Bool // people want to see what tools print as it is

// Enable switches Clean and Stream on or off: security.redact_secrets. They are on until somebody
// says otherwise.
func Enable(on bool) { open.Store(!on) }

// Enabled reports what Enable said last.
func Enabled() bool { return !open.Load() }

// Clean is Redact, unless it was switched off.
func Clean(text string) string {
	if open.Load() {
		return text
	}
	return Redact(text)
}

// Text is Clean for what may be JSON, which stays JSON: the results of some tools are.
func Text(text string) string {
	if open.Load() {
		return text
	}
	if t := strings.TrimLeft(text, " \n"); t != "" && (t[0] == '{' || t[0] == '[') {
		return string(JSON([]byte(text)))
	}
	return Redact(text)
}

// RedactAt is Redact that moves positions in the text along. One inside of what is hidden goes to
// its end.
func RedactAt(text string, at []int) (string, []int) {
	hits, _ := findSecrets(text, true)
	out := hideHits(text, hits, 0)
	moved := make([]int, len(at))
	for i, pos := range at {
		moved[i] = len(hideHits(text[:pos], hitsBefore(hits, pos), 0))
	}
	return out, moved
}

// hitsBefore are the hits that begin before pos, as far as they go to it.
func hitsBefore(hits []hit, pos int) (out []hit) {
	for _, h := range hits {
		if h.from < pos {
			h.to = min(h.to, pos)
			out = append(out, h)
		}
	}
	return out
}

// Redact returns text with every known secret and everything that looks like a key replaced by
// Hidden.
func Redact(text string) string {
	if len(text) < 6 { // no shape is shorter
		return text
	}
	hits, _ := findSecrets(text, true)
	if len(hits) == 0 {
		return text
	}
	return hideHits(text, hits, 0)
}

// Bytes is Redact for bytes; it returns b itself when nothing was hidden.
func Bytes(b []byte) []byte {
	text := string(b)
	if out := Redact(text); out != text {
		return []byte(out)
	}
	return b
}

// hit is a range of bytes that is hidden. Keep are escape sequences inside of it that stay, for
// they change what comes after.
type hit struct {
	from, to int
	keep     string
}

// findSecrets returns what is to be hidden in text, in order, without overlaps. Unless the text is
// final, open is where something begins that more text could make a secret or longer; it is
// len(text) when there is none.
func findSecrets(text string, final bool) (hits []hit, open int) {
	open = len(text)
	note := func(v *view, from int) {
		if from >= 0 && !final {
			open = min(open, v.sourceOffset(from))
		}
	}
	if f := known.now.Load(); f != nil {
		v := newView(text, true)
		hits = v.sourceHits(f.findAll(v.text, nil))
		if v.dirty { // what is left out may be part of a value: ESC f is a sequence, too
			hits = f.findAll(text, hits)
			note(&view{src: text, text: text}, f.partialAtEnd(text))
		}
		note(v, f.partialAtEnd(v.text))
	}
	v := newView(text, false)
	found, at := findShapes(v.text, final)
	note(v, at)
	hits = append(hits, v.sourceHits(found)...)
	if v.dirty {
		found, at = findShapes(text, final)
		note(&view{src: text, text: text}, at)
		hits = append(hits, found...)
	}
	return mergeHits(hits), open
}

// mergeHits puts hits in order and joins those that overlap.
func mergeHits(hits []hit) []hit {
	sort.Slice(hits, func(i, j int) bool { return hits[i].from < hits[j].from })
	var out []hit
	for _, h := range hits {
		if n := len(out); n > 0 && h.from < out[n-1].to {
			if h.to > out[n-1].to {
				out[n-1].to, out[n-1].keep = h.to, out[n-1].keep+h.keep
			}
			continue
		}
		out = append(out, h)
	}
	return out
}

// hideHits writes text from byte "from" on with the hits hidden.
func hideHits(text string, hits []hit, from int) string {
	var b strings.Builder
	b.Grow(len(text) - from)
	for _, h := range hits {
		if h.to <= from {
			continue
		}
		if h.from > from {
			b.WriteString(text[from:h.from])
		}
		b.WriteString(Hidden)
		b.WriteString(h.keep)
		from = h.to
	}
	b.WriteString(text[from:])
	return b.String()
}
