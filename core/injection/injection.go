// Package injection finds text that tries to give orders to the agent: in memory, project files,
// skills, summaries and fetched pages.
//
// The contract:
//
//   - Scan reads any text, in any size, and names each hit with its place in the original bytes, a
//     rule and a reason for people. No hit is a promise of nothing: this is a filter against common
//     attacks, not a proof.
//   - Matching happens on a normal form: compatibility forms and look-alike letters folded, case
//     and invisible characters gone, Markdown emphasis and repeated blanks flattened. What was
//     encoded (base64, entities, escapes, letters with blanks between them, digits for letters) is
//     decoded once and read as well.
//   - Orders in plain bossy English ("always run the linter") are not hits: a hit overrides the
//     person, hides from the person, steals, or persists.
//   - Characters that nobody can see are hits by themselves; Clean removes them.
//
// It depends on the standard library, golang.org/x/text and a reader of YAML only.
package injection

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Finding is one hit.
type Finding struct {
	Rule   string  // "override", "exfiltration", ... the group of the rule
	Reason string  // for people
	Start  int     // first byte in the scanned text
	End    int     // byte after the last one
	Score  float64 // how sure the model is, 0.5 to 1; 0 for a rule
}

// maxFindings is enough to tell a person; a hostile text can have millions.
const maxFindings = 20

// Scan returns the hits in s in order of their place, at most 20 of each 64 KB. It is for what is
// kept: memory, skills.
func Scan(s string) []Finding { return scanText(s, strict) }

// ScanDocument is Scan for what others wrote and the agent reads: project files, pages, summaries.
// A text must read more like an order to be a hit by the model, for a document has many lines that
// can do so by accident; rules count the same.
func ScanDocument(s string) []Finding { return scanText(s, relaxed) }

const (
	chunk   = 64 << 10 // bytes that are scanned at once: what a scan needs of memory does not grow with the text
	overlap = 2 << 10  // bytes that two neighbours share: more than any rule can match
)

func scanText(s string, c care) []Finding {
	if len(s) <= chunk+overlap {
		return scanPart(s, c)
	}
	var out []Finding
	for from := 0; ; {
		to := lineBorder(s, min(len(s), from+chunk+overlap))
		for _, f := range scanPart(s[from:to], c) {
			f.Start, f.End = f.Start+from, f.End+from
			out = append(out, f)
		}
		if to == len(s) {
			return dropRepeats(out)
		}
		from = lineBorder(s, to-overlap)
	}
}

// lineBorder is the end of the last line before at, or of the last character when lines are long.
func lineBorder(s string, at int) int {
	if at >= len(s) {
		return len(s)
	}
	if i := strings.LastIndexByte(s[at-overlap/2:at], '\n'); i >= 0 {
		return at - overlap/2 + i + 1
	}
	for n := 1; n < utf8.UTFMax && !utf8.RuneStart(s[at]); n++ { // not UTF-8 if there are more
		at--
	}
	return at
}

func scanPart(s string, c care) []Finding {
	base := normalise(s)
	out := append(findInvisible(s), matchRules(base)...)
	out = append(out, modelOnly(out, base.plainReading(s).findOrders(s, c))...)
	for _, v := range otherReadings(s, base) {
		if len(out) >= maxFindings {
			break
		}
		out = append(out, matchRules(v)...)
		for _, h := range modelOnly(out, v.findOrders(s, c)) {
			if h.End <= h.Start { // decoded: its places are lost
				h.Start, h.End = v.originalSpan(0, len(v.text))
			}
			out = append(out, h)
		}
	}
	out = base.plainReading(s).dropHonest(s, out)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	out = dropRepeats(out)
	return out[:min(len(out), maxFindings)]
}

// modelOnly are the findings of the model where no rule hits: a rule knows the words and says more.
func modelOnly(rules, model []Finding) []Finding {
	return slices.DeleteFunc(model, func(m Finding) bool {
		return slices.ContainsFunc(rules, func(r Finding) bool { return r.Start < m.End && m.Start < r.End })
	})
}

// dropRepeats drops hits of a rule that lie where an earlier one of it lies.
func dropRepeats(in []Finding) []Finding {
	var out []Finding
	for _, f := range in {
		same := func(o Finding) bool { return o.Rule == f.Rule && f.Start < o.End }
		if !slices.ContainsFunc(out, same) {
			out = append(out, f)
		}
	}
	return out
}

// matchRules applies every rule to a normal form.
func matchRules(t folded) []Finding {
	var out []Finding
	begins := anchored().matchPlaces(t.text, len(rules()))
	for i, r := range rules() {
		for _, at := range r.findPlaces(t.text, begins[i], maxFindings) {
			start, end := t.originalSpan(at[0], at[1])
			out = append(out, Finding{Rule: r.name, Reason: r.reason, Start: start, End: end})
		}
	}
	return out
}

// Excerpt is the text of a finding on one line, at most 120 characters, for messages. What cannot
// be seen is written as U+XXXX.
func Excerpt(s string, f Finding) string {
	text := s[min(f.Start, len(s)):min(f.End, len(s))]
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > 120 {
			return b.String() + "…"
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError:
			b.WriteRune(r)
		case isHidden(r):
			b.WriteString(codePoint(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
