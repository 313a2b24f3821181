package secret

import "sort"

// finder looks for many words at once in one pass: at each place a table says, by two bytes, how
// far the next place can be at which a word may end. Most places are never looked at (Wu and
// Manber).
type finder struct {
	words   []string
	least   int              // length of the shortest word, at most 8: what the tables know of each word
	far     [1 << 16]uint8   // by two bytes: how far to go on
	at      [1 << 16]uint16  // by the last two bytes of the first "least" ones: which bucket
	buckets [][]int          // words, longest first
	starts  map[uint32][]int // by the first four bytes
	longest int
	folds   []bool // by word: any case; nil when none is
}

const (
	tableWidth = 8
	guess      = 4 // bytes of a word that a stream shows before it holds back
)

func newFinder(set map[string]bool) *finder {
	words := make([]string, 0, len(set))
	for w := range set {
		words = append(words, w)
	}
	sort.Slice(words, func(i, j int) bool {
		return len(words[i]) > len(words[j]) || len(words[i]) == len(words[j]) && words[i] < words[j]
	})
	return buildFinder(words, nil)
}

// buildFinder makes the tables. Words are at least three bytes long; those that fold are in lower
// case.
func buildFinder(words []string, folds []bool) *finder {
	f := &finder{words: words, folds: folds, least: tableWidth, starts: map[uint32][]int{}}
	for _, w := range words {
		f.least, f.longest = min(f.least, len(w)), max(f.longest, len(w))
	}
	for i := range f.far {
		f.far[i] = uint8(f.least - 1)
	}
	for n, w := range words {
		for i := 1; i < f.least; i++ {
			for _, pair := range f.startPairs(n, w[i-1], w[i]) {
				f.far[pair] = min(f.far[pair], uint8(f.least-1-i))
				if i == f.least-1 {
					f.enterPair(pair, n)
				}
			}
		}
		if len(w) > guess {
			key := uint32(w[0])<<24 | uint32(w[1])<<16 | uint32(w[2])<<8 | uint32(w[3])
			f.starts[key] = append(f.starts[key], n)
		}
	}
	return f
}

func (f *finder) enterPair(pair uint16, word int) {
	if f.at[pair] == 0 {
		if len(f.buckets) == 0 {
			f.buckets = append(f.buckets, nil) // none is 0
		}
		f.at[pair] = uint16(len(f.buckets))
		f.buckets = append(f.buckets, nil)
	}
	f.buckets[f.at[pair]] = append(f.buckets[f.at[pair]], word)
}

// startPairs are the two bytes in every case that word n is found in.
func (f *finder) startPairs(n int, a, b byte) []uint16 {
	if f.folds == nil || !f.folds[n] {
		return []uint16{uint16(a)<<8 | uint16(b)}
	}
	var out []uint16
	for _, x := range bothCases(a) {
		for _, y := range bothCases(b) {
			out = append(out, uint16(x)<<8|uint16(y))
		}
	}
	return out
}

func bothCases(c byte) []byte {
	if c >= 'a' && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

// eachMatch calls do with every place where a word begins, in order of the places. Do returns where
// to go on, if that is further than the next byte.
func (f *finder) eachMatch(text string, do func(word, at int) (next int)) {
	m := f.least
	for end := m - 1; end < len(text); {
		pair := uint16(text[end-1])<<8 | uint16(text[end])
		if skip := f.far[pair]; skip > 0 {
			end += int(skip)
			continue
		}
		at := end - m + 1
		next := at + 1
		for _, n := range f.buckets[f.at[pair]] {
			if f.matchesWord(n, text[at:]) {
				if to := do(n, at); to > next {
					next = to
				}
			}
		}
		end = next + m - 1
	}
}

func (f *finder) matchesWord(n int, text string) bool {
	w := f.words[n]
	if len(text) < len(w) {
		return false
	}
	if f.folds == nil || !f.folds[n] {
		return text[:len(w)] == w
	}
	for i := range len(w) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != w[i] {
			return false
		}
	}
	return true
}

// findAll returns the ranges of all words, the longest at each place.
func (f *finder) findAll(text string, out []hit) []hit {
	f.eachMatch(text, func(n, at int) int {
		to := at + len(f.words[n])
		if last := len(out) - 1; last >= 0 && out[last].from == at && out[last].to >= to {
			return 0
		}
		out = append(out, hit{from: at, to: to})
		return 0
	})
	return out
}

// partialAtEnd returns where a word begins that the text breaks off in the middle of, the first
// such place; -1 when there is none.
func (f *finder) partialAtEnd(text string) int {
	for at := max(0, len(text)-f.longest+1); at+guess <= len(text); at++ {
		rest := text[at:]
		key := uint32(rest[0])<<24 | uint32(rest[1])<<16 | uint32(rest[2])<<8 | uint32(rest[3])
		for _, n := range f.starts[key] {
			if w := f.words[n]; len(w) > len(rest) && w[:len(rest)] == rest {
				return at
			}
		}
	}
	return -1
}

// brokenAtStart returns how many bytes at the start of a text are the end of a word whose beginning
// is missing; 0 when none are.
func (f *finder) brokenAtStart(text string) int {
	for _, w := range f.words {
		for k := min(len(w)-1, len(text)); k >= guess; k-- {
			if w[len(w)-k:] == text[:k] {
				return k
			}
		}
	}
	return 0
}
