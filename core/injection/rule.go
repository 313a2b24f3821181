package injection

import (
	"regexp"
	"strings"
	"sync"
)

// rule is one way to attack. Its pattern is matched on the normal form.
type rule struct {
	name, reason string
	pattern      func() *regexp.Regexp // of all matches; each pattern is compiled when it is needed first: most never are
	anchors      []string              // every match begins with one of them; nil: unknown
	here         func() *regexp.Regexp // the pattern behind any one byte, at the begin of a text
	unless       func() *regexp.Regexp // of the sentence up to and with the match: then it is no attack; nil: always one
	follow       func() *regexp.Regexp // of what comes right after the match: then it is no attack
	inner        func() *regexp.Regexp // of the match itself: then it is no attack
}

// find returns at most n places. begins lists where a match can begin, for a rule that has anchors.
func (r rule) find(s string, begins []int32, n int) [][]int {
	var out [][]int
	for _, at := range r.places(s, begins, n) {
		if r.unless != nil && r.unless().MatchString(lead(s, at[0])) {
			continue
		}
		if r.follow != nil && r.follow().MatchString(s[at[1]:min(len(s), at[1]+120)]) {
			continue
		}
		if r.inner != nil && r.inner().MatchString(s[at[0]:at[1]]) || spoken(r.name) && mentioned(s, at) {
			continue
		}
		out = append(out, at)
	}
	return out
}

// places are the first n matches of the pattern.
func (r rule) places(s string, begins []int32, n int) [][]int {
	if r.anchors == nil {
		return r.pattern().FindAllStringIndex(s, n)
	}
	var out [][]int
	done := 0
	for _, b := range begins {
		at := int(b)
		if at < done {
			continue
		}
		if size := r.matchAt(s, at); size > 0 {
			done = at + size
			if out = append(out, []int{at, done}); len(out) >= n {
				break
			}
		}
	}
	return out
}

// matchAt is the length of the match that begins at a place, 0 for none. The pattern sees the character before it, for the ends of words.
func (r rule) matchAt(s string, at int) int {
	if at == 0 {
		if m := r.pattern().FindStringIndex(s[:min(len(s), reach)]); m != nil && m[0] == 0 {
			return m[1]
		}
		return 0
	}
	part := s[at-1 : min(len(s), at+reach)]
	if m := r.here().FindStringIndex(part); m != nil {
		return m[1] - 1
	}
	return 0
}

// spoken rules match orders in plain words, which honest texts quote and warn of.
func spoken(name string) bool {
	return name == "override" || name == "persona" || name == "leak" || name == "concealment" || name == "approval"
}

// mentioned tells a text that speaks about an attack from one that is one: the words are denied, quoted behind a word like
// "phrase", or stand in a condition whose answer is to refuse.
func mentioned(s string, at []int) bool {
	before, after := lead(s, at[0]), s[at[1]:min(len(s), at[1]+120)]
	return denied().MatchString(before) || quoted().MatchString(before) && strings.ContainsAny(after, `"')`) ||
		conditional().MatchString(before) && refusal().MatchString(after)
}

var (
	denied = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\b(?:never|do not|don't|must not|should not|cannot|can't|won't|refuse to|not|to not)(?: ever)? |(?:不要|请勿|切勿|绝不|不能|不得|不可|拒绝|防止|避免|检测|识别))$`)
	})
	quoted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:attacks?|injections?|jailbreaks?|phrases?|strings?|patterns?|payloads?|keywords?|scanner|detects?|blocks?|text|sentences?|such as|example)\b[^"]{0,50}["'(]$`)
	})
	conditional = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:if|when|whenever|that|which|any)\b.*\b(?:asks?|tells?|tries|try|instructs?|says?|claims?|wants?|trying|attempts?|attempting|telling|asking)\b[^.]{0,30}$`)
	})
	refusal = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:refuse|do not (?:comply|obey|follow|do)|don't (?:comply|obey|follow|do)|declin\w+|report (?:it|this|that)|tell the (?:user|person)|warn|flag|treat (?:it|this|that)|never (?:comply|obey|follow)|must be (?:ignored|refused|blocked|rejected)|ignore (?:it|them|that|this)|are (?:data|attacks?|injections?))\b`)
	})
)

// lead is what stands before the match in its sentence, at most 100 bytes of it.
func lead(s string, at int) string {
	from := max(0, at-100)
	part := s[from:at]
	if i := strings.LastIndexAny(part, ".!?;\n"); i >= 0 {
		part = part[i+1:]
	}
	for _, stop := range []string{"。", "！", "？", "；"} {
		if i := strings.LastIndex(part, stop); i >= 0 {
			part = part[i+len(stop):]
		}
	}
	return part
}

// source is a rule as it is written down.
type source struct{ name, reason, pattern, unless, follow, inner string }

// rules compiles the tables at the first scan: most runs of the program need none.
var rules = sync.OnceValue(func() []rule {
	var out []rule
	for _, table := range [][]source{english, firmer, broad, aimed, plain, chinese, firmerChinese, broadChinese, plainChinese, other, marks} {
		for _, s := range table {
			pattern := filled(s.pattern)
			out = append(out, rule{
				name: s.name, reason: s.reason, pattern: compile(pattern), here: compile(`^(?s:.)(?:` + pattern + `)`), anchors: anchors(pattern),
				unless: compile(filled(s.unless)), follow: compile(filled(s.follow)), inner: compile(filled(s.inner)),
			})
		}
	}
	return out
})

// filled replaces the names in braces by the groups of words behind them.
func filled(pattern string) string {
	for name, group := range words {
		pattern = strings.ReplaceAll(pattern, "{"+name+"}", group)
	}
	return pattern
}

func compile(pattern string) func() *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// anchored finds the anchors of all rules.
var anchored = sync.OnceValue(func() *index { return newIndex(rules()) })
