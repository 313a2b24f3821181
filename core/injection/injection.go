// Package injection finds text that tries to give orders to the agent: in memory, project files, skills, summaries and fetched pages.
//
// The contract:
//
//   - Scan reads any text, in any size, and names each hit with its place in the original bytes, a rule and a reason for people. No hit is
//     a promise of nothing: this is a filter against common attacks, not a proof.
//   - Matching happens on a normal form: compatibility forms and look-alike letters folded, case and invisible characters gone, Markdown emphasis and
//     repeated blanks flattened. What was encoded (base64, entities, escapes, letters with blanks between them, digits for letters) is decoded once and read as well.
//   - Orders in plain bossy English ("always run the linter") are not hits: a hit overrides the person, hides from the person, steals, or persists.
//   - Characters that nobody can see are hits by themselves; Clean removes them.
//
// It depends on the standard library and golang.org/x/text only.
package injection

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Finding is one hit.
type Finding struct {
	Rule   string // "override", "exfiltration", ... the group of the rule
	Reason string // for people
	Start  int    // first byte in the scanned text
	End    int    // byte after the last one
}

// maxFindings is enough to tell a person; a hostile text can have millions.
const maxFindings = 20

// Scan returns the hits in s in order of their place, at most 20.
func Scan(s string) []Finding {
	out := unseen(s)
	plain := fold(s)
	out = append(out, match(plain)...)
	for _, v := range variants(s, plain) {
		if len(out) >= maxFindings {
			break
		}
		out = append(out, match(v)...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	out = distinct(out)
	return out[:min(len(out), maxFindings)]
}

// distinct drops hits of a rule that lie where an earlier one of it lies.
func distinct(in []Finding) []Finding {
	var out []Finding
	for _, f := range in {
		same := func(o Finding) bool { return o.Rule == f.Rule && f.Start < o.End }
		if !slices.ContainsFunc(out, same) {
			out = append(out, f)
		}
	}
	return out
}

// match applies every rule to a normal form.
func match(t folded) []Finding {
	var out []Finding
	begins := anchored().places(t.text, len(rules()))
	for i, r := range rules() {
		for _, at := range r.find(t.text, begins[i], maxFindings) {
			start, end := t.span(at[0], at[1])
			out = append(out, Finding{r.name, r.reason, start, end})
		}
	}
	return out
}

// Excerpt is the text of a finding on one line, at most 120 characters, for messages. What cannot be seen is written as U+XXXX.
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
		case hidden(r):
			b.WriteString(name(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
