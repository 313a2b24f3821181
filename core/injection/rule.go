package injection

import (
	"bytes"
	_ "embed" // rules.yaml
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// rule is one way to attack. Its pattern is matched on the normal form.
type rule struct {
	id           string
	name, reason string
	pattern      func() *regexp.Regexp // of all matches; each pattern is compiled when it is needed first: most never are
	anchors      []string              // every match begins with one of them; nil: unknown
	here         func() *regexp.Regexp // the pattern behind any one byte, at the begin of a text
	unless       func() *regexp.Regexp // of the sentence up to and with the match: then it is no attack; nil: always one
	follow       func() *regexp.Regexp // of what comes right after the match: then it is no attack
	inner        func() *regexp.Regexp // of the match itself: then it is no attack
	mentionable  bool                  // honest texts quote its words and warn of them
}

// findPlaces returns at most n places. begins lists where a match can begin, for a rule that has
// anchors.
func (r rule) findPlaces(s string, begins []int32, n int) [][]int {
	var out [][]int
	for _, at := range r.firstMatches(s, begins, n) {
		if r.unless != nil && r.unless().MatchString(sentenceBefore(s, at[0])) {
			continue
		}
		if r.follow != nil && r.follow().MatchString(s[at[1]:min(len(s), at[1]+120)]) {
			continue
		}
		if r.inner != nil && r.inner().MatchString(s[at[0]:at[1]]) || r.mentionable && isMention(s, at) {
			continue
		}
		out = append(out, at)
	}
	return out
}

// firstMatches are the first n matches of the pattern.
func (r rule) firstMatches(s string, begins []int32, n int) [][]int {
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

// matchAt is the length of the match that begins at a place, 0 for none. The pattern sees the
// character before it, for the ends of words.
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

// isMention tells a text that speaks about an attack from one that is one: the words are denied,
// quoted behind a word like "phrase", or stand in a condition whose answer is to refuse.
func isMention(s string, at []int) bool {
	m := mentions()
	before, after := sentenceBefore(s, at[0]), s[at[1]:min(len(s), at[1]+120)]
	return m.denied().MatchString(before) ||
		m.quoted().MatchString(before) && strings.ContainsAny(after, `"')`) ||
		m.conditional().MatchString(before) && m.refusal().MatchString(after)
}

// mention is what tells a text about attacks from one that attacks.
type mention struct {
	denied, quoted, conditional, refusal func() *regexp.Regexp
}

// mentions compiles the mention table of rules.yaml.
var mentions = sync.OnceValue(func() mention {
	t := ruleTable()
	compile := func(pattern string) func() *regexp.Regexp { return compileLazily(t.fillGroups(pattern)) }
	return mention{
		denied: compile(t.Mention.Denied), quoted: compile(t.Mention.Quoted),
		conditional: compile(t.Mention.Condition), refusal: compile(t.Mention.Refusal),
	}
})

// sentenceBefore is what stands before the match in its sentence, at most 100 bytes of it.
func sentenceBefore(s string, at int) string {
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

// source is a rule as rules.yaml has it.
type source struct {
	ID      string
	Group   string
	Reason  string
	Sample  string
	Pattern []string
	Unless  string
	Follow  string
	Inner   string
}

//go:embed rules.yaml
var rulesFile []byte

// table is what rules.yaml holds.
type table struct {
	Words   map[string][]string
	Mention struct {
		Groups                             []string
		Denied, Quoted, Condition, Refusal string
	}
	Cues  []string
	Rules []source
}

// ruleTable is rules.yaml, read at the first scan. A test reads it too, so what ships can be read.
var ruleTable = sync.OnceValue(func() table {
	var t table
	d := yaml.NewDecoder(bytes.NewReader(rulesFile))
	d.KnownFields(true)
	if err := d.Decode(&t); err != nil {
		panic("core/injection/rules.yaml: " + err.Error())
	}
	return t
})

var cues = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(ruleTable().Cues, "|")) })

// rules compiles the table at the first scan: most runs of the program need none.
var rules = sync.OnceValue(func() []rule {
	t := ruleTable()
	out := make([]rule, 0, len(t.Rules))
	for _, s := range t.Rules {
		pattern := t.fillGroups(strings.Join(s.Pattern, "|"))
		out = append(out, rule{
			id: s.ID, name: s.Group, reason: s.Reason, pattern: compileLazily(pattern),
			here: compileLazily(`^(?s:.)(?:` + pattern + `)`), anchors: anchorsOf(pattern),
			unless: compileLazily(t.fillGroups(s.Unless)), follow: compileLazily(t.fillGroups(s.Follow)),
			inner:       compileLazily(t.fillGroups(s.Inner)),
			mentionable: slices.Contains(t.Mention.Groups, s.Group),
		})
	}
	return out
})

var groupName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([\p{L}]+)\}`) })

// fillGroups replaces the names in braces by the groups of words behind them, which may name
// others.
func (t table) fillGroups(pattern string) string {
	return groupName().ReplaceAllStringFunc(pattern, func(name string) string {
		list, known := t.Words[name[1:len(name)-1]]
		if !known {
			return name
		}
		return "(?:" + t.fillGroups(strings.Join(list, "|")) + ")"
	})
}

func compileLazily(pattern string) func() *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// anchored finds the anchors of all rules.
var anchored = sync.OnceValue(func() *index { return newIndex(rules()) })
