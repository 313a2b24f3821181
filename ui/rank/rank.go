// Package rank orders what fits to what a person types: the same in every list. Whole beginnings
// come first, then beginnings of words, then parts of words, then letters in order with gaps.
package rank

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// Entry is what may fit.
type Entry struct {
	Name string // what it is called: a match here counts more
	More string // other words about it
	Off  bool   // it cannot be had now: it comes last
}

// Hit is an entry that fits.
type Hit struct {
	Index int
	Runes []int // of Name that matched; in order
	Guess bool  // neither its name nor a word of it begins like the pattern
}

// Tiers, the best first.
const (
	exact = iota
	begins
	words
	wordsOfMore
	part
	gaps
	nothing
)

// Find returns the entries that fit to a pattern, best first. An empty pattern fits to all, in
// their order.
func Find(pattern string, all []Entry) []Hit {
	low := strings.ToLower(strings.TrimSpace(pattern))
	tiers := make([]int, len(all))
	var out []Hit
	loose := gapped(low, all)
	for i, e := range all {
		hit, fits := Hit{Index: i}, low == ""
		if !fits {
			tiers[i], hit.Runes = tier(low, e)
			if tiers[i] == nothing {
				hit.Runes, fits = loose[i], loose[i] != nil
				tiers[i] = gaps
			} else {
				fits = true
			}
		}
		if fits {
			hit.Guess = tiers[i] > words
			out = append(out, hit)
		}
	}
	slices.SortStableFunc(out, func(a, b Hit) int {
		x, y := all[a.Index], all[b.Index]
		switch {
		case x.Off != y.Off && x.Off:
			return 1
		case x.Off != y.Off:
			return -1
		default:
			return tiers[a.Index] - tiers[b.Index]
		}
	})
	return out
}

// tier says how well an entry fits, without gaps.
func tier(low string, e Entry) (int, []int) {
	name, more := strings.ToLower(e.Name), strings.ToLower(e.More)
	switch {
	case name == low:
		return exact, runes(name, low)
	case strings.HasPrefix(name, low):
		return begins, runes(name, low)
	case beginWords(low, name):
		return words, marks(name, low)
	case beginWords(low, name+" "+more):
		return wordsOfMore, marks(name, low)
	case strings.Contains(name, low) || strings.Contains(more, low):
		return part, runes(name, low)
	default:
		return nothing, nil
	}
}

// beginWords reports whether each word of a pattern is the beginning of a word of s.
func beginWords(pattern, s string) bool {
	have := strings.FieldsFunc(s, between)
	for _, w := range strings.Fields(pattern) {
		if !slices.ContainsFunc(have, func(x string) bool { return strings.HasPrefix(x, w) }) {
			return false
		}
	}
	return true
}

func between(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// runes are the places of the first part in s.
func runes(s, part string) []int {
	at := strings.Index(s, part)
	if at < 0 {
		return nil
	}
	var out []int
	from := len([]rune(s[:at]))
	for i := range []rune(part) {
		out = append(out, from+i)
	}
	return out
}

// marks are the places of each word of a pattern.
func marks(s, pattern string) []int {
	var out []int
	for _, w := range strings.Fields(pattern) {
		out = append(out, runes(s, w)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gapped are the entries whose names have the letters of a pattern in order, the first of them at
// the beginning of a word, with their places.
func gapped(low string, all []Entry) map[int][]int {
	if low == "" {
		return nil
	}
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = strings.ToLower(e.Name)
	}
	out := map[int][]int{}
	for _, m := range fuzzy.Find(low, names) {
		name := names[m.Index]
		before, _ := utf8.DecodeLastRuneInString(name[:m.MatchedIndexes[0]])
		if !between(before) {
			continue
		}
		for i, at := range m.MatchedIndexes { // they count bytes
			m.MatchedIndexes[i] = utf8.RuneCountInString(name[:at])
		}
		out[m.Index] = m.MatchedIndexes
	}
	return out
}
