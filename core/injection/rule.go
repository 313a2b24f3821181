package injection

import (
	"regexp"
	"strings"
	"sync"
)

// rule is one way to attack. Its pattern is matched on the normal form.
type rule struct {
	name, reason string
	pattern      *regexp.Regexp
	anchors      []string       // every match begins with one of them; nil: unknown
	unless       *regexp.Regexp // of the sentence up to and with the match: then it is no attack; nil: always one
	follow       *regexp.Regexp // of what comes right after the match: then it is no attack
	inner        *regexp.Regexp // of the match itself: then it is no attack
}

// find returns at most n places.
func (r rule) find(s string, n int) [][]int {
	var out [][]int
	for _, at := range r.places(s, n) {
		if r.unless != nil && r.unless.MatchString(lead(s, at[0])) {
			continue
		}
		if r.follow != nil && r.follow.MatchString(s[at[1]:min(len(s), at[1]+120)]) {
			continue
		}
		if r.inner != nil && r.inner.MatchString(s[at[0]:at[1]]) || spoken(r.name) && mentioned(s, at) {
			continue
		}
		out = append(out, at)
	}
	return out
}

// places are all matches of the pattern.
func (r rule) places(s string, n int) [][]int {
	if r.anchors == nil || len(s) < reach {
		return r.pattern.FindAllStringIndex(s, n)
	}
	var out [][]int
	for _, w := range windows(s, r.anchors) {
		for _, at := range r.pattern.FindAllStringIndex(s[w[0]:w[1]], n) {
			out = append(out, []int{w[0] + at[0], w[0] + at[1]})
		}
		if len(out) >= n {
			break
		}
	}
	return out
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
			pattern := compile(s.pattern)
			out = append(out, rule{s.name, s.reason, pattern, anchors(pattern.String()), compile(s.unless), compile(s.follow), compile(s.inner)})
		}
	}
	return out
})

// compile replaces the names in braces by the groups of words behind them.
func compile(pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	for name, group := range words {
		pattern = strings.ReplaceAll(pattern, "{"+name+"}", group)
	}
	return regexp.MustCompile(pattern)
}
