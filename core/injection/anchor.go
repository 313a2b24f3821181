package injection

import (
	"regexp/syntax"
	"slices"
)

// Most texts hold few of the words that a rule can begin with. A rule is therefore only tried where
// one of them stands, and all of them are looked for in one pass: that makes a scan of a long text
// about fifty times cheaper.

const (
	reach         = 1500 // more bytes than any rule can match
	mostAnchors   = 600  // of one part of a pattern
	longestAnchor = 8    // bytes of an anchor that are looked at
)

// beginning is what a match can begin with. An open one is all of what a part of a pattern matches:
// the next part goes on.
type beginning struct {
	text string
	open bool
}

// anchorsOf are texts with one of which every match of a pattern begins; nil when that cannot be
// said, or is too weak to help.
func anchorsOf(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	var list []string
	for _, b := range beginningsOf(re.Simplify()) {
		if len(b.text) < 2 {
			return nil
		}
		list = append(list, b.text)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// beginningsOf lists what a match of re begins with; nil is: unknown.
func beginningsOf(re *syntax.Regexp) []beginning {
	switch re.Op {
	case syntax.OpLiteral:
		return []beginning{{string(re.Rune), true}}
	case syntax.OpCharClass:
		return classBeginnings(re.Rune)
	case syntax.OpCapture:
		return beginningsOf(re.Sub[0])
	case syntax.OpWordBoundary, syntax.OpEmptyMatch, syntax.OpBeginText:
		return []beginning{{"", true}}
	case syntax.OpQuest:
		if list := beginningsOf(re.Sub[0]); list != nil {
			return append(slices.Clone(list), beginning{"", true})
		}
		return nil
	case syntax.OpPlus:
		list := slices.Clone(beginningsOf(re.Sub[0]))
		for i := range list {
			list[i].open = false
		}
		return list
	case syntax.OpAlternate:
		var list []beginning
		for _, sub := range re.Sub {
			part := beginningsOf(sub)
			if part == nil {
				return nil
			}
			list = append(list, part...)
		}
		return list
	case syntax.OpConcat:
		return joinBeginnings(re.Sub)
	default:
		return nil
	}
}

func classBeginnings(ranges []rune) []beginning {
	var list []beginning
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(list) >= 30 {
				return nil
			}
			list = append(list, beginning{string(r), true})
		}
	}
	return list
}

// joinBeginnings puts beginnings together until they are long enough, or the pattern grows vague.
func joinBeginnings(subs []*syntax.Regexp) []beginning {
	list := []beginning{{"", true}}
	for _, sub := range subs {
		part := beginningsOf(sub)
		var next []beginning
		for _, a := range list {
			if !a.open || len(a.text) >= longestAnchor || part == nil {
				next = append(next, beginning{a.text, false})
				continue
			}
			for _, b := range part {
				next = append(next, beginning{a.text + b.text, b.open})
			}
		}
		if len(next) > mostAnchors {
			for i := range list {
				list[i].open = false
			}
			return list
		}
		list = next
	}
	return list
}

// index finds the anchors of all rules in one pass over a text.
type index struct {
	rules  map[string][]uint16 // by anchor, cut to longestAnchor
	length [longestAnchor + 1]bool
	two    [1 << 10]uint64 // anchors of two bytes
	three  [1 << 10]uint64 // hashes of the first three bytes of longer ones
}

func newIndex(all []rule) *index {
	x := &index{rules: map[string][]uint16{}}
	for i, r := range all {
		for _, a := range r.anchors {
			a = a[:min(len(a), longestAnchor)]
			if list := x.rules[a]; len(list) > 0 && list[len(list)-1] == uint16(i) { //nolint:gosec // some hundred rules
				continue
			}
			x.rules[a] = append(x.rules[a], uint16(i)) //nolint:gosec // some hundred rules
			x.length[len(a)] = true
			if len(a) == 2 {
				setBit(&x.two, uint32(a[0])<<8|uint32(a[1]))
			} else {
				setBit(&x.three, trigramKey(a))
			}
		}
	}
	return x
}

func setBit(bits *[1 << 10]uint64, k uint32) { bits[k>>6] |= 1 << (k & 63) }

func hasBit(bits *[1 << 10]uint64, k uint32) bool { return bits[k>>6]&(1<<(k&63)) != 0 }

func trigramKey(s string) uint32 {
	return (uint32(s[0])*0x9e3b ^ uint32(s[1])*0x51ed ^ uint32(s[2])*0x2545) & 0xffff
}

// matchPlaces lists, for each rule, where a match can begin, in order.
func (x *index) matchPlaces(s string, rules int) [][]int32 {
	out := make([][]int32, rules)
	for i := 0; i+1 < len(s); i++ {
		short := hasBit(&x.two, uint32(s[i])<<8|uint32(s[i+1]))
		if !short && (i+2 >= len(s) || !hasBit(&x.three, trigramKey(s[i:]))) {
			continue
		}
		for n := 2; n <= min(longestAnchor, len(s)-i); n++ {
			if !x.length[n] {
				continue
			}
			for _, r := range x.rules[s[i:i+n]] {
				if list := out[r]; len(list) == 0 || list[len(list)-1] != int32(i) { //nolint:gosec // texts are scanned in chunks
					out[r] = append(list, int32(i)) //nolint:gosec // texts are scanned in chunks
				}
			}
		}
	}
	return out
}
