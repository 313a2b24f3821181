package score

// group is a kind of features. Each is weighed by itself, so that a long word list does not drown
// the classes.
type group uint8

const (
	byWord   group = iota // words and characters, alone and with their neighbours
	byClass               // classes of the lexicon and which follow which
	byLetter              // parts of words: other languages, endings, typing errors
	groups
)

// Bits is how many bits of a feature's hash are kept.
const Bits = 17

// concept is a class and the token that has it.
type concept struct {
	class class
	at    int
}

// scorer holds the memory of one scan.
type scorer struct {
	toks     []token
	concepts []concept
	phrase   []byte
	emit     func(g group, feature uint32)
	pairs    [256 * 256 / 64]uint64
	dirty    []uint16
}

func hashFeature(h uint32, g group) uint32 {
	h ^= uint32(g+1) * 0x9e3779b9
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return h & (1<<Bits - 1)
}

func hashPair(a, b uint32) uint32 { return a*0x9e3779b1 ^ (b + 0x7f4a7c15 + a<<6) }

func (s *scorer) emitFeature(g group, h uint32) { s.emit(g, hashFeature(h, g)) }

// emitFeatures names everything that counts in one sentence in normal form.
func (s *scorer) emitFeatures(text string) {
	s.tokens(text)
	if len(s.toks) == 0 {
		return
	}
	s.emitFeature(byWord, hashPair(s.toks[0].hash, 1)) // what a sentence begins with
	for i, t := range s.toks {
		s.emitFeature(byWord, t.hash)
		if i+1 < len(s.toks) {
			s.emitFeature(byWord, hashPair(t.hash, s.toks[i+1].hash))
		}
		if i+2 < len(s.toks) {
			if t.kind == glyph {
				s.emitFeature(byWord, hashPair(hashPair(t.hash, s.toks[i+1].hash), s.toks[i+2].hash))
			} else {
				s.emitFeature(byWord, hashPair(t.hash+77, s.toks[i+2].hash))
			}
		}
		s.emitLetterParts(t)
	}
	s.emitClasses()
}

// emitLetterParts are the parts of four letters of a word, three for scripts of their own.
func (s *scorer) emitLetterParts(t token) {
	n := 4
	switch t.kind {
	case word:
	case other:
		n = 3
	default:
		return
	}
	if len(t.text) > 40 {
		return
	}
	var ends [48]int
	chars := 0
	for i := range t.text {
		ends[chars] = i
		chars++
	}
	ends[chars] = len(t.text)
	if chars < n {
		s.emitFeature(byLetter, hashString(t.text)+5)
		return
	}
	for i := 0; i+n <= chars; i++ {
		h := hashString(t.text[ends[i]:ends[i+n]])
		if i == 0 {
			h += 11
		}
		s.emitFeature(byLetter, h)
	}
}

// emitClasses are those of the sentence, each once, which follows which within some words, and
// three in a row.
func (s *scorer) emitClasses() {
	s.isNewPair(255, 255)
	for i, a := range s.concepts {
		if s.isNewPair(255, a.class) {
			s.emitFeature(byClass, hashString("c")+uint32(a.class))
		}
		for _, b := range s.concepts[i+1:] {
			if b.at-a.at > reach {
				break
			}
			if b.at != a.at && s.isNewPair(a.class, b.class) {
				s.emitFeature(byClass, hashPair(uint32(a.class)+1000, uint32(b.class)))
			}
		}
	}
	s.forgetPairs()
}

// reach is how many tokens apart two classes still belong together.
const reach = 14

func (s *scorer) isNewPair(a, b class) bool {
	k := uint16(a)<<8 | uint16(b)
	bit := uint64(1) << (k & 63)
	if s.pairs[k>>6]&bit != 0 {
		return false
	}
	s.pairs[k>>6] |= bit
	s.dirty = append(s.dirty, k>>6)
	return true
}

func (s *scorer) forgetPairs() {
	for _, i := range s.dirty {
		s.pairs[i] = 0
	}
	s.dirty = s.dirty[:0]
}
