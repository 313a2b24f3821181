package command

import "hermes/core/shelltext"

// given is one option of a command, as the data files know it.
type given struct {
	role  string
	flag  string // with its dashes
	name  string // without
	value field
	has   bool
}

// parsed is a command taken apart by a grammar.
type parsed struct {
	given    []given
	operands []field
	strange  []field // words with an option that is not known
	first    int     // the index of the first operand among all words
}

// takeApart reads args by a grammar.
func takeApart(g *shelltext.Grammar, args []field) parsed {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a.text
	}
	line := g.Parse(words)
	var p parsed
	for _, o := range line.Options {
		p.given = append(p.given, given{role: o.Role, flag: o.Option, name: o.Name, value: partOf(args[o.Word], o.Value), has: o.Has})
	}
	if len(line.Operands) > 0 {
		p.first = line.Operands[0]
	}
	for _, i := range line.Operands {
		p.operands = append(p.operands, args[i])
	}
	for _, i := range line.UnknownOptions {
		p.strange = append(p.strange, args[i])
	}
	return p
}

// valuesOf are the values of all options with this role.
func (p parsed) valuesOf(role string) []field {
	var out []field
	for _, o := range p.given {
		if o.role == role {
			out = append(out, o.value)
		}
	}
	return out
}

// hasOption reports whether one of the options is set, by their names without dashes.
func (p parsed) hasOption(names string) bool {
	for _, o := range p.given {
		if isOneOf(names, o.name) {
			return true
		}
	}
	return false
}

// hasOnly reports whether every option has this role, and there is at least one.
func (p parsed) hasOnly(role string) bool {
	for _, o := range p.given {
		if o.role != role && o.role != "flag" {
			return false
		}
	}
	return len(p.valuesOf(role)) > 0 && len(p.strange) == 0
}
