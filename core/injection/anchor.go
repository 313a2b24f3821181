package injection

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Most texts hold few of the words that a rule can begin with. A rule is therefore only asked near them: that makes a scan of
// a long text about twenty times cheaper.

// reach is more bytes than any rule can match.
const reach = 1500

// anchors are texts with one of which every match of a pattern begins; nil when that cannot be said, or is too weak to help.
func anchors(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	list, _ := beginnings(re.Simplify())
	for _, a := range list {
		if len(a) < 2 {
			return nil
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// beginnings lists what a match of re begins with; whole says that they are all of it. An empty list is: unknown.
func beginnings(re *syntax.Regexp) (list []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, true
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpWordBoundary, syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpQuest:
		list, whole = beginnings(re.Sub[0])
		if list == nil {
			return nil, false
		}
		return append(list, ""), whole
	case syntax.OpPlus:
		list, _ = beginnings(re.Sub[0])
		return list, false
	case syntax.OpAlternate:
		return either(re.Sub)
	case syntax.OpConcat:
		return joined(re.Sub)
	default:
		return nil, false
	}
}

func class(ranges []rune) ([]string, bool) {
	var list []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(list) >= 30 {
				return nil, false
			}
			list = append(list, string(r))
		}
	}
	return list, true
}

func either(subs []*syntax.Regexp) (list []string, whole bool) {
	whole = true
	for _, sub := range subs {
		part, all := beginnings(sub)
		if part == nil || len(list)+len(part) > 400 {
			return nil, false
		}
		list, whole = append(list, part...), whole && all
	}
	return list, whole
}

// joined puts beginnings together until they are long enough, or the pattern grows vague.
func joined(subs []*syntax.Regexp) (list []string, whole bool) {
	list = []string{""}
	for _, sub := range subs {
		part, all := beginnings(sub)
		if part == nil || len(list)*len(part) > 400 {
			return list, false
		}
		var next []string
		for _, a := range list {
			for _, b := range part {
				next = append(next, a+b)
			}
		}
		list = next
		if !all || shortest(list) >= 4 {
			return list, false
		}
	}
	return list, true
}

func shortest(list []string) int {
	n := 1 << 30
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}

// windows are the parts of s, in order and apart from each other, in which a match can begin.
func windows(s string, anchors []string) [][2]int {
	var at [][2]int
	for _, a := range anchors {
		for from := 0; ; {
			i := strings.Index(s[from:], a)
			if i < 0 {
				break
			}
			from += i
			at = append(at, [2]int{max(0, from-4), min(len(s), from+reach)})
			from += len(a)
		}
	}
	slices.SortFunc(at, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	var out [][2]int
	for _, w := range at {
		if n := len(out); n > 0 && w[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], w[1])
			continue
		}
		out = append(out, w)
	}
	return out
}
