package command

import "strings"

// options are the arguments of a program, taken apart.
type options struct {
	set      []option
	operands []field
}

type option struct {
	name  string // without dashes
	value field
	has   bool // there is a value
	long  bool
}

// parseOptions takes args apart. Takes names the options that have a value, separated by blanks:
// letters and long names. Stop ends the options at the first operand, for programs that run the
// rest of their words.
func parseOptions(args []field, takes string, stop bool) options {
	var o options
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.text == "--":
			o.operands = append(o.operands, args[i+1:]...)
			return o
		case strings.HasPrefix(a.text, "--"):
			name, value, has := strings.Cut(a.text[2:], "=")
			op := option{name: name, value: partOf(a, value), has: has, long: true}
			if !has && isOneOf(takes, name) && i+1 < len(args) {
				i++
				op.value, op.has = args[i], true
			}
			o.set = append(o.set, op)
		case strings.HasPrefix(a.text, "-") && len(a.text) > 1:
			i += o.takeLetters(a, args[i+1:], takes)
		default:
			if stop {
				o.operands = append(o.operands, args[i:]...)
				return o
			}
			o.operands = append(o.operands, a)
		}
	}
	return o
}

// takeLetters takes -abc apart and returns how many of the words behind it belong to it.
func (o *options) takeLetters(a field, next []field, takes string) int {
	word := a.text[1:]
	if len(word) > 1 && isOneOf(takes, word) && len(next) > 0 { // -name, as find and others write long ones
		o.set = append(o.set, option{name: word, value: next[0], has: true})
		return 1
	}
	if name, value, has := strings.Cut(word, "="); has && len(name) > 1 && isOneOf(takes, name) {
		o.set = append(o.set, option{name: name, value: partOf(a, value), has: true})
		return 0
	}
	for i, r := range word {
		name := string(r)
		if !isOneOf(takes, name) {
			o.set = append(o.set, option{name: name})
			continue
		}
		op := option{name: name, has: true}
		rest := word[i+len(name):]
		used := 0
		switch {
		case rest != "":
			op.value = partOf(a, rest)
		case len(next) > 0:
			op.value, used = next[0], 1
		default:
			op.has = false
		}
		o.set = append(o.set, op)
		return used
	}
	return 0
}

func partOf(f field, text string) field {
	f.text = text
	f.dyn = strings.Contains(text, unknown)
	return f
}

func isOneOf(takes, name string) bool {
	if takes == "" || name == "" {
		return false
	}
	for at := 0; ; {
		i := strings.Index(takes[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		if (from == 0 || isListBlank(takes[from-1])) && (to == len(takes) || isListBlank(takes[to])) {
			return true
		}
		at = to
	}
}

// hasOption reports whether one of the options is set; a long one may be abbreviated.
func (o options) hasOption(names ...string) bool {
	_, ok := o.findOption(names...)
	return ok
}

func (o options) findOption(names ...string) (option, bool) {
	for _, s := range o.set {
		for _, n := range names {
			if s.name == n || s.long && len(n) > 2 && s.name != "" && strings.HasPrefix(n, s.name) {
				return s, true
			}
		}
	}
	return option{}, false
}

// isListBlank is what stands between the names of a list: lists are written on several lines.
func isListBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// valuesOf are all values of an option.
func (o options) valuesOf(names ...string) []field {
	var out []field
	for _, s := range o.set {
		for _, n := range names {
			if s.has && (s.name == n || s.long && len(n) > 2 && s.name != "" && strings.HasPrefix(n, s.name)) {
				out = append(out, s.value)
				break
			}
		}
	}
	return out
}

func (o options) firstOperand() string {
	if len(o.operands) == 0 {
		return ""
	}
	return o.operands[0].text
}

// operandsAfter is what follows the first n operands.
func (o options) operandsAfter(n int) []field {
	if len(o.operands) <= n {
		return nil
	}
	return o.operands[n:]
}
