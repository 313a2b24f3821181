package shelltext

import "strings"

// Grammar is how a program takes its options apart, and what each of them is for.
type Grammar struct {
	style    Style
	exact    map[string]Rule // by the whole word, dashes included
	prefixes []Rule          // words that begin so
}

// Rule is one option. Its syntax in data files:
//
//	-x --long     a flag
//	-x= --long=   its value is the rest of the word, or the next one
//	--long[=]     its value, if any, stands behind "="
//	-x[0-7]       takes the characters of this class that follow; other letters may stand behind them
//	-x* -Xmx*     takes the rest of the word
type Rule struct {
	Option string // with its dashes
	Role   string
	takes  byte   // '=', '[', '?' for [=], '*', or 0
	class  string // of '['
}

// Style is how a program writes options.
type Style struct {
	Mixed       bool   // options may follow operands
	Ends        string // what follows these options are arguments
	Abbreviates bool   // long options may be cut short
	Folded      bool   // capitals do not count
	Separate    bool   // letters do not stand together behind one dash
	Loose       bool   // what is not known is a flag
}

// ReadRule reads the syntax of one option; false when it is none.
func ReadRule(token, role string) (Rule, bool) {
	r := Rule{Option: token, Role: role}
	switch {
	case strings.HasSuffix(token, "[=]"):
		r.Option, r.takes = strings.TrimSuffix(token, "[=]"), '?'
	case strings.HasSuffix(token, "]"):
		name, class, ok := strings.Cut(strings.TrimSuffix(token, "]"), "[")
		if !ok || class == "" || len(name) != 2 {
			return r, false
		}
		r.Option, r.takes, r.class = name, '[', class
	case strings.HasSuffix(token, "="):
		r.Option, r.takes = strings.TrimSuffix(token, "="), '='
	case strings.HasSuffix(token, "*"):
		r.Option, r.takes = strings.TrimSuffix(token, "*"), '*'
	}
	return r, r.Option != "" && !strings.ContainsAny(r.Option, "=[]* ") && strings.IndexByte("-+@/", r.Option[0]) >= 0 && r.Option != "-" && r.Option != "--"
}

// NewGrammar makes a grammar of options by their roles; what later lists say of an option counts.
func NewGrammar(style Style, lists ...map[string]string) *Grammar {
	g := &Grammar{style: style, exact: map[string]Rule{}}
	for _, options := range lists {
		for role, list := range options {
			for token := range strings.FieldsSeq(list) {
				r, _ := ReadRule(token, role) // tests read them all
				if r.takes == '*' && (len(r.Option) != 2 || r.Option[0] != '-') {
					g.prefixes = append(g.prefixes, r)
					continue
				}
				g.exact[r.Option] = r
			}
		}
	}
	return g
}

// Option is one option of a command.
type Option struct {
	Rule
	Name  string // without dashes
	Value string
	Has   bool // there is a value
	Word  int  // the index of the word in which the value stands
}

// Line is a command taken apart. Its numbers are indexes of words.
type Line struct {
	Options        []Option
	Operands       []int
	UnknownOptions []int // words with an option that is not known
}

// Parse takes the words behind a program's name apart.
func (g *Grammar) Parse(words []string) Line {
	var l Line
	rest := func(from int) Line {
		for ; from < len(words); from++ {
			l.Operands = append(l.Operands, from)
		}
		return l
	}
	for i := 0; i < len(words); i++ {
		if words[i] == "--" {
			return rest(i + 1)
		}
		before := len(l.Options)
		used, ok := g.takeWord(&l, words, i)
		if !ok {
			if !g.style.Mixed {
				return rest(i)
			}
			l.Operands = append(l.Operands, i)
			continue
		}
		i += used
		for _, o := range l.Options[before:] {
			if g.style.Ends != "" && containsWord(g.style.Ends, o.Option) {
				return rest(i + 1)
			}
		}
	}
	return l
}

// containsWord reports whether name is one of the words of list.
func containsWord(list, name string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == name {
			return true
		}
	}
	return false
}

// takeWord takes one word apart. It returns how many of the words behind it belong to it; false
// when it is an operand.
func (g *Grammar) takeWord(l *Line, words []string, i int) (used int, ok bool) {
	text := words[i]
	if g.style.Folded {
		text = strings.ToLower(text)
	}
	if len(text) < 2 {
		return 0, false
	}
	name, value, has := strings.Cut(text, "=")
	if has {
		value = words[i][len(name)+1:]
	}
	r, known := g.exact[name]
	if !known && len(name) > 2 {
		r, known = g.findAbbreviated(name)
	}
	switch {
	case known && len(name) > 2 && (!has || r.takes != 0):
		return l.noteOption(r, value, has, words, i), true
	case g.takePrefixed(l, words[i], text, i):
		return 0, true
	case text[0] != '-':
		return 0, false
	case text[1] == '-' || g.style.Separate && len(name) > 2:
		if g.style.Loose {
			l.Options = append(l.Options, Option{Name: strings.TrimLeft(name, "-"), Value: value, Has: has, Word: i})
			return 0, true
		}
		l.UnknownOptions = append(l.UnknownOptions, i)
		return 0, true
	default:
		return g.takeLetters(l, words, i), true
	}
}

// findAbbreviated is the option that a beginning stands for.
func (g *Grammar) findAbbreviated(name string) (Rule, bool) {
	var found Rule
	if !g.style.Abbreviates {
		return found, false
	}
	for full, r := range g.exact {
		if !strings.HasPrefix(full, name) || len(full) < 3 {
			continue
		}
		if found.Option != "" && (found.Role != r.Role || found.takes != r.takes) {
			return Rule{}, false // it may be either of them
		}
		found = r
	}
	return found, found.Option != ""
}

func (g *Grammar) takePrefixed(l *Line, word, text string, i int) bool {
	var best Rule
	for _, r := range g.prefixes {
		if strings.HasPrefix(text, r.Option) && len(r.Option) > len(best.Option) {
			best = r
		}
	}
	if best.Option == "" {
		return false
	}
	rest := strings.TrimPrefix(word[len(best.Option):], "=")
	l.Options = append(l.Options, Option{Rule: best, Name: best.Option, Value: rest, Has: rest != "", Word: i})
	return true
}

// noteOption notes an option with its value.
func (l *Line) noteOption(r Rule, value string, has bool, words []string, i int) (used int) {
	if r.takes == '=' && !has && i+1 < len(words) {
		value, has, used = words[i+1], true, 1
	}
	l.Options = append(l.Options, Option{Rule: r, Name: strings.TrimLeft(r.Option, "-"), Value: value, Has: has, Word: i + used})
	return used
}

// takeLetters takes -abc apart.
func (g *Grammar) takeLetters(l *Line, words []string, at int) int {
	word := words[at][1:]
	for i := 0; i < len(word); i++ {
		letter := "-" + word[i:i+1]
		if g.style.Folded {
			letter = strings.ToLower(letter)
		}
		r, known := g.exact[letter]
		if !known && !g.style.Loose {
			l.UnknownOptions = append(l.UnknownOptions, at)
			return 0
		}
		o := Option{Rule: r, Name: word[i : i+1], Word: at}
		rest := word[i+1:]
		switch r.takes {
		case '[':
			n := 0
			for n < len(rest) && inClass(r.class, rest[n]) {
				n++
			}
			o.Value, o.Has = rest[:n], n > 0
			i += n
		case '=', '*', '?':
			o.Value, o.Has = rest, rest != ""
			used := 0
			if r.takes == '=' && rest == "" && at+1 < len(words) {
				o.Value, o.Has, o.Word, used = words[at+1], true, at+1, 1
			}
			l.Options = append(l.Options, o)
			return used
		}
		l.Options = append(l.Options, o)
	}
	return 0
}

// inClass reports whether c is in a class such as 0-7xA-F.
func inClass(class string, c byte) bool {
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			if c >= class[i] && c <= class[i+2] {
				return true
			}
			i += 2
			continue
		}
		if c == class[i] {
			return true
		}
	}
	return false
}
