package command

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hermes/core/shelltext"
)

// programFiles say what programs mean; programs/README.md explains them.
//
//go:embed programs/*.yaml programs/words/*.yaml
var programFiles embed.FS

// program is what a data file says about programs of one kind.
type program struct {
	Names   string            `yaml:"names"`
	Options map[string]string `yaml:"options"` // role: options in the syntax of shelltext.Rule
	// Strict says that an option that is not listed asks.
	Strict      bool   `yaml:"strict"`
	Mixed       bool   `yaml:"mixed"`       // options may follow operands
	Ends        string `yaml:"ends"`        // what follows these options are arguments
	Abbreviates bool   `yaml:"abbreviates"` // long options may be cut short
	Folded      bool   `yaml:"folded"`      // capitals do not count in options
	Separate    bool   `yaml:"separate"`    // letters do not stand together behind one dash
	// Handler names what of code comes before the rest, for what data cannot say.
	Handler  string  `yaml:"handler"`
	Skip     int     `yaml:"skip"`     // operands before those that Operands speaks of
	Operands string  `yaml:"operands"` // what operands are, see operandRoles
	When     []*rule `yaml:"when"`     // effects of options, with or without verbs
	Verbs    []*verb `yaml:"verbs"`    // what the first operand means
	Else     string  `yaml:"else"`     // effect of a verb that is not listed; without one it is an operand
	Does     string  `yaml:"does"`     // effect of every call
	Alone    string  `yaml:"alone"`    // effect of a call without operands, code or input
	Harmless string  `yaml:"harmless"` // settings of role setting, or values of a variable, that do nothing
	Value    string  `yaml:"value"`    // of a variable: what it holds
	Passes   bool    `yaml:"passes"`   // it puts out what it reads
	Decodes  string  `yaml:"decodes"`  // with one of these options, or "always", it puts out what was encoded
	Secret   bool    `yaml:"secret"`   // what it puts out is secret
	Prints   bool    `yaml:"prints"`   // code that only prints is known in this language

	reads   bool // without operands it runs what comes in
	once    sync.Once
	grammar *shelltext.Grammar
}

// rule is an effect of options or operands.
type rule struct {
	Options string   `yaml:"options"` // one of these is given
	Is      string   `yaml:"is"`      // and has one of these values
	Verbs   string   `yaml:"verbs"`   // the first operand is one of these; "none" that there is none
	Not     string   `yaml:"not"`     // the first operand is none of these; "none" that there is one
	Second  string   `yaml:"second"`  // the operand behind it is one of these
	Any     string   `yaml:"any"`     // one of the operands is one of these
	Holds   []string `yaml:"holds"`   // the words, with a blank before each, hold one of these texts
	Last    bool     `yaml:"last"`    // nothing else is said
	More    int      `yaml:"more"`    // there are more operands than this
	Empty   bool     `yaml:"empty"`   // there are no words at all
	Names   string   `yaml:"names"`   // only these programs of the entry
	Does    string   `yaml:"does"`    // the effect; without one the rule says that nothing happens at all
}

// verb is what the first operand of a program means.
type verb struct {
	Words   string            `yaml:"words"`
	Does    string            `yaml:"does"`
	Then    string            `yaml:"then"`    // what the operands behind it are, see operandRoles
	As      string            `yaml:"as"`      // what follows are the words of this program
	Skip    int               `yaml:"skip"`    // operands behind it that are something else
	Options map[string]string `yaml:"options"` // options that mean something else behind it

	once    sync.Once
	grammar *shelltext.Grammar
}

// entry is a program as it stands in a data file; it is read at its first use.
type entry struct {
	kind, names, text string

	once sync.Once
	is   *program
}

// allEntries are those of all data files, found by their first lines alone.
func allEntries() []*entry {
	var out []*entry
	files, _ := fs.Glob(programFiles, "programs/*.yaml")
	for _, name := range files {
		text, _ := programFiles.ReadFile(name) // they are part of the program
		kind, at, all := "", 0, string(text)
		var last *entry
		for line := range strings.Lines(all) {
			names, is := strings.CutPrefix(line, "- names: ")
			switch {
			case is:
				last = &entry{kind: kind, names: strings.Trim(names, "\" \n")}
				out = append(out, last)
			case line[0] >= 'a' && line[0] <= 'z':
				last = nil
				kind, _, _ = strings.Cut(line, ":")
			}
			at += len(line)
			if last != nil {
				last.text = all[at-len(line)-len(last.text) : at]
			}
		}
	}
	return out
}

// readProgram reads the entry. That it is right is a matter of a test; what cannot be read knows no
// option, and asks.
func (e *entry) readProgram() *program {
	e.once.Do(func() {
		var list []*program
		if err := yaml.Unmarshal([]byte(e.text), &list); err != nil || len(list) != 1 {
			e.is = &program{Strict: true, Does: "unclear/always what {name} does cannot be read from its data"}
			return
		}
		e.is = list[0]
		kindDefaults(e.kind, e.is)
	})
	return e.is
}

// fromData are the handlers of the programs in the data files.
func fromData() map[string]handler {
	out := map[string]handler{}
	for _, e := range allEntries() {
		prefix := map[string]string{"git": "git ", "variables": "$", "python-modules": "python -m "}[e.kind]
		if prefix == "" {
			out[e.names] = func(w *walker, c cmd) { e.readProgram().judgeCommand(w, c) }
		}
		for name := range strings.FieldsSeq(e.names) {
			table.data[prefix+name] = e
			if e.kind == "variables" && strings.Contains(name, "*") {
				table.starred = append(table.starred, starredName{name, e})
			}
		}
	}
	return out
}

// kindDefaults completes an entry by what all of its kind have in common.
func kindDefaults(kind string, p *program) {
	switch kind {
	case "interpreters":
		p.Strict, p.reads = true, true
		if p.Operands == "" {
			p.Operands = "script"
		}
		if p.Alone == "" {
			p.Alone = "exec/sensitive@{name} it starts {name}, whose input nobody sees"
		}
	case "python-modules":
		p.Mixed = isOneOf("change", p.Operands)
	case "programs", "git":
		p.Mixed, p.Abbreviates = true, true
	case "readers":
		p.Mixed, p.Abbreviates, p.Passes = true, true, true
	case "shells":
		p.Strict = true
	case "editors":
		p.Strict, p.Mixed = true, true
		if p.Operands == "" {
			p.Operands = "edit"
		}
	case "wrappers":
		if p.Operands == "" {
			p.Operands = "words"
		}
	case "tools":
		p.Mixed = true
		if p.Does == "" {
			p.Does = "run/standard@{name} runs {name} on the project"
		}
	}
}

func (p *program) takeArguments(args []field) parsed {
	p.once.Do(func() {
		ruled := map[string]string{}
		for _, r := range p.When {
			ruled["flag"] += " " + r.Options
		}
		if p.Decodes != "always" {
			ruled["flag"] += " " + p.Decodes
		}
		p.grammar = shelltext.NewGrammar(p.optionStyle(), ruled, p.Options)
	})
	return takeApart(p.grammar, args)
}

// judgeCommand notes what the program does with its arguments.
func (p *program) judgeCommand(w *walker, c cmd) {
	if p.Passes {
		defer judgeFilter(w, c)
		if p.Options == nil && p.When == nil && p.Decodes == "" {
			return
		}
	}
	g := p.takeArguments(c.args)
	if h := table.handlers[p.Handler]; h != nil && h(w, p, c, g) {
		return
	}
	if g.hasOnly("show") && len(g.operands) == 0 {
		return
	}
	restore := w.openScope()
	defer restore()
	p.optionsDo(w, c, g)
	for _, r := range p.When {
		switch {
		case !r.appliesTo(c, g):
		case r.Does == "":
			return
		default:
			w.addNamedEffect(r.Does, c.name, g.operands)
			if r.Last {
				return
			}
		}
	}
	if len(p.Verbs) > 0 && p.judgeVerb(w, c, g) {
		return
	}
	w.out.secret = w.out.secret || p.Secret
	w.out.decoded = w.out.decoded || p.Decodes == "always" || p.Decodes != "" && slices.ContainsFunc(g.given, (&rule{Options: p.Decodes}).optionGiven)
	w.addNamedEffect(p.Does, c.name, g.operands)
	w.operandsDo(p, p.Operands, c, g, g.operands[min(p.Skip, len(g.operands)):])
}

// appliesTo reports whether a command is one of those that the rule speaks of.
func (r *rule) appliesTo(c cmd, g parsed) bool {
	word := func(i int) string {
		if i < len(g.operands) {
			return g.operands[i].text
		}
		return ""
	}
	among := func(list, s string) bool { return list == "" || isOneOf(list, s) }
	verb := among(r.Verbs, word(0)) || r.Verbs == "none" && word(0) == ""
	return verb && r.wordsHold(c, g) && among(r.Names, c.name) && among(r.Second, word(1)) && (r.Not == "" || !isOneOf(r.Not, word(0)) && (r.Not != "none" || word(0) != "")) && (r.Options == "" || slices.ContainsFunc(g.given, r.optionGiven))
}

// wordsHold reports whether the words are as many, and hold, what the rule says.
func (r *rule) wordsHold(c cmd, g parsed) bool {
	return (!r.Empty || len(c.args) == 0) && (r.More == 0 || len(g.operands) > r.More) &&
		(r.Any == "" || slices.ContainsFunc(g.operands, func(f field) bool { return isOneOf(r.Any, f.text) })) &&
		(r.Holds == nil || slices.ContainsFunc(r.Holds, func(s string) bool { return strings.Contains(joinedText(c.args)+" ", s) }))
}

// optionGiven reports whether o is one of the options of the rule, with one of its values.
func (r *rule) optionGiven(o given) bool {
	for token := range strings.FieldsSeq(r.Options) {
		if rule, _ := shelltext.ReadRule(token, ""); rule.Option == o.flag && (r.Is == "" || isOneOf(r.Is, o.value.text)) {
			return true
		}
	}
	return false
}

// optionsDo notes what the options do.
func (p *program) optionsDo(w *walker, c cmd, g parsed) {
	if p.Strict {
		for _, a := range g.strange {
			w.addEffect(Exec, LevelAlways, a.text, c.name+" is given "+showUnknown(a.text)+", of which is not known here what it does")
		}
	}
	for _, o := range g.given {
		if act := table.options[o.role]; act != nil {
			act(w, p, c, o)
		}
	}
}

func showUnknown(text string) string { return strings.ReplaceAll(text, unknown, "…") }

// judgeVerb notes what the first operand says; false when it is an operand like others.
func (p *program) judgeVerb(w *walker, c cmd, g parsed) bool {
	v := p.verbOf(g)
	switch {
	case v != nil && v.As != "":
		w.runWords(append([]field{{text: v.As}}, c.args[g.first+1:]...))
		return true
	case v != nil:
		first := g.operands[0]
		rest := v.takeArguments(p, c.args[g.first+1:]) // options behind it may be those of a command
		p.optionsDo(w, c, rest)
		w.addNamedEffect(v.Does, c.name, append([]field{first}, rest.operands...))
		if len(rest.operands)+len(rest.valuesOf("code")) > 0 || v.Does == "" {
			w.operandsDo(p, v.Then, c, rest, rest.operands[min(v.Skip, len(rest.operands)):])
		}
		return true
	}
	if p.Else == "" || len(g.operands) == 0 {
		return false
	}
	w.addNamedEffect(p.Else, c.name, g.operands)
	return true
}

// verbOf is what the first operand says, or the first two of them as "one/two"; nil when it is no
// verb.
func (p *program) verbOf(g parsed) *verb {
	if len(g.operands) == 0 || len(g.valuesOf("code")) > 0 {
		return nil
	}
	word, both := g.operands[0].text, ""
	if len(g.operands) > 1 {
		both = word + "/" + g.operands[1].text
	}
	var found *verb
	for i := range p.Verbs {
		switch v := p.Verbs[i]; {
		case both != "" && isOneOf(v.Words, both):
			return v
		case found == nil && isOneOf(v.Words, word):
			found = v
		}
	}
	return found
}

// takeArguments reads what stands behind a verb: options of the program, or such as have another
// meaning here.
func (v *verb) takeArguments(p *program, args []field) parsed {
	v.once.Do(func() {
		style := p.optionStyle()
		style.Mixed = !isOneOf("words line script task script-name fetched", v.Then) // their options are not ours
		v.grammar = shelltext.NewGrammar(style, p.Options, v.Options)
	})
	return takeApart(v.grammar, args)
}

func (p *program) optionStyle() shelltext.Style {
	return shelltext.Style{Mixed: p.Mixed, Ends: p.Ends, Abbreviates: p.Abbreviates, Folded: p.Folded, Separate: p.Separate, Loose: !p.Strict}
}

// readEffect reads an effect of a data file: class/level[~][@target] reason; with ~ it can be
// undone.
func readEffect(s string) (Effect, error) {
	head, reason, _ := strings.Cut(s, " ")
	head, target, _ := strings.Cut(head, "@")
	class, level, ok := strings.Cut(head, "/")
	level, reversible := strings.CutSuffix(level, "~")
	levels := map[string]Level{"read": LevelRead, "create": LevelCreate, "standard": LevelStandard, "sensitive": LevelSensitive, "always": LevelAlways, "never": levelNever}
	l, known := levels[level]
	if !ok || !known || reason == "" || !isOneOf(classNames, class) {
		return Effect{}, fmt.Errorf("%q is no effect: class/level[~][@target] reason", s)
	}
	return Effect{Class: Class(class), Level: l, Reason: reason, Target: target, Reversible: reversible}, nil
}

const classNames = "read write delete run exec net-in net-out credential privilege system history persist device hidden unclear"

// addNamedEffect notes an effect of a data file. {name}, {verb} and {1} stand for the program, its
// first operand and the one behind it.
func (w *walker) addNamedEffect(effect, name string, operands []field) {
	if effect == "" {
		return
	}
	e, err := readEffect(effect)
	if err != nil {
		e = Effect{Class: Unclear, Level: LevelAlways, Reason: err.Error()}
	}
	words := []string{"", ""}
	for i := range min(2, len(operands)) {
		words[i] = showUnknown(operands[i].text)
	}
	fill := strings.NewReplacer("{name}", name, "{verb}", words[0], "{1}", words[1], "{}", "")
	e.Reason = strings.TrimSpace(fill.Replace(e.Reason))
	if e.Target == "" {
		e.Target = "{verb}"
	}
	e.Target = fill.Replace(e.Target)
	w.keepEffect(e)
}
