package shelltext

import (
	_ "embed" // the table
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed wrappers.yaml
var wrapperTable []byte

// Wrapper is a program that runs the rest of its words; wrappers.yaml explains the keys.
type Wrapper struct {
	Names   string `yaml:"names"`
	Values  string `yaml:"values"`
	Skip    int    `yaml:"skip"`
	Assigns bool   `yaml:"assigns"`
	Itself  bool   `yaml:"itself"`
	Rights  bool   `yaml:"rights"`
	Feeds   string `yaml:"feeds"`
	Splits  string `yaml:"splits"`
	Line    bool   `yaml:"line"`
	Late    bool   `yaml:"late"`
	Own     bool   `yaml:"own"`

	once    sync.Once
	grammar *Grammar
}

var wrappers = sync.OnceValue(func() map[string]*Wrapper {
	var list []*Wrapper
	_ = yaml.Unmarshal(wrapperTable, &list) // a test reads it strictly
	out := map[string]*Wrapper{}
	for _, w := range list {
		for name := range strings.FieldsSeq(w.Names) {
			out[name] = w
		}
	}
	return out
})

// WrapperNames are those of all wrappers.
func WrapperNames() []string { return slices.Collect(maps.Keys(wrappers())) }

// WrapperOf is the wrapper of this name; nil when it is none.
func WrapperOf(name string) *Wrapper { return wrappers()[name] }

// Grammar is that of the options before the command.
func (w *Wrapper) Grammar() *Grammar {
	w.once.Do(func() {
		w.grammar = NewGrammar(Style{Loose: true, Abbreviates: true}, map[string]string{"value": w.Values, "splits": w.Splits}, map[string]string{"feeds": w.Feeds})
	})
	return w.grammar
}

// Script is a text that a shell runs, and its arguments: "$@".
type Script struct {
	Text Word
	Args []Word
}

// Started is what a command starts.
type Started struct {
	Commands [][]Word
	Scripts  []Script
	// Assigns are the variables that it sets for what it starts, as NAME=value.
	Assigns []Word
	// Only says that it does nothing itself: only what it starts counts.
	Only bool
	// Itself says that it also does something of its own.
	Itself bool
	// Rights says that it starts that as somebody else, or in another place.
	Rights bool
	// Splits says that it takes a text for a command (env -S), and Vague that an option of it is
	// known only when it runs.
	Splits, Vague bool
}

const shells = "sh bash dash ash zsh ksh mksh yash rbash fish"

// Starts says what a command starts.
func Starts(argv []Word) Started {
	switch name := path.Base(argv[0].Text); {
	case containsWord(shells, name):
		return startsShell(argv, Started{})
	case name == "su" || name == "runuser" && slices.ContainsFunc(argv, func(w Word) bool { return w.Text == "-c" || strings.HasPrefix(w.Text, "--command") }):
		return startsShell(argv, Started{Rights: true})
	case name == "eval":
		return Started{Scripts: []Script{{Text: joinWords(argv[1:])}}, Only: true}
	case name == "trap":
		if len(argv) < 2 || strings.HasPrefix(argv[1].Text, "-") && argv[1].Text != "--" {
			return Started{Only: true}
		}
		at := 1
		if argv[1].Text == "--" {
			at = min(2, len(argv)-1)
		}
		return Started{Scripts: []Script{{Text: argv[at]}}, Only: true}
	case name == "find" || name == "gfind":
		return startsFound(argv)
	case wrappers()[name] != nil:
		return wrappers()[name].startsOf(argv)
	default:
		return Started{}
	}
}

func joinWords(words []Word) Word {
	var text, source []string
	for _, w := range words {
		text, source = append(text, w.Text), append(source, w.Source)
	}
	return Word{Text: strings.Join(text, " "), Source: strings.Join(source, " ")}
}

func (w *Wrapper) startsOf(argv []Word) Started {
	words := make([]string, len(argv)-1)
	for i, a := range argv[1:] {
		words[i] = a.Text
	}
	l := w.Grammar().Parse(words)
	in := Started{Rights: w.Rights, Itself: w.Itself, Only: !w.Rights && !w.Itself}
	end := len(argv)
	if len(l.Operands) > 0 {
		end = l.Operands[0] + 1
	}
	in.Vague = slices.ContainsFunc(argv[1:end], func(a Word) bool { return strings.HasPrefix(a.Text, "-") && !a.Known() })
	for _, o := range l.Options {
		if o.Role == "splits" {
			in.Splits = true
			in.Scripts = append(in.Scripts, Script{Text: Word{Text: o.Value, Source: argv[o.Word+1].Source}})
		}
	}
	rest := w.commandOf(&in, argv[end:])
	switch {
	case len(rest) == 0: // it lists or says something; exec alone only redirects
		in.Only = argv[0].Text == "exec" && len(argv) == 1
	case len(rest) > 1 && w.Skip > 0 &&
		containsWord("-c --command", rest[0].Text): // flock file -c text
		in.Scripts = append(in.Scripts, Script{Text: rest[1]})
	case w.Line:
		in.Scripts = append(in.Scripts, Script{Text: joinWords(rest)})
	case w.Feeds != "":
		in.Commands = [][]Word{markInput(l, rest)}
	default:
		in.Commands = [][]Word{rest}
	}
	return in
}

// commandOf takes off what stands before the command of a wrapper.
func (w *Wrapper) commandOf(in *Started, rest []Word) []Word {
	for w.Assigns && len(rest) > 0 && strings.Contains(rest[0].Text, "=") {
		in.Assigns = append(in.Assigns, rest[0])
		rest = rest[1:]
	}
	rest = rest[min(w.Skip, len(rest)):]
	for w.Late && len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		rest = rest[1:]
	}
	return rest
}

// markInput marks where a wrapper puts what it reads: behind the command, or where a text given by
// an option stands.
func markInput(l Line, command []Word) []Word {
	mark := ""
	for _, o := range l.Options {
		if o.Role == "feeds" {
			if mark = o.Value; mark == "" {
				mark = "{}"
			}
		}
	}
	if mark == "" {
		return append(slices.Clone(command), Word{Text: string(Unknown), Source: "..."})
	}
	return markUnknown(command, mark)
}

// markUnknown makes unknown what mark stands for.
func markUnknown(command []Word, mark string) []Word {
	out := slices.Clone(command)
	for i, w := range out {
		out[i].Text = strings.ReplaceAll(w.Text, mark, string(Unknown))
	}
	return out
}

// startsShell reads sh -c 'text'. A shell that reads a file or its input is a program like others.
func startsShell(argv []Word, in Started) Started {
	for i := 1; i < len(argv); i++ {
		switch arg := argv[i]; {
		case !arg.Known():
			in.Vague = true
			return in
		case arg.Text == "--command" && i+1 < len(argv):
			return in.startText(argv[i+1], nil)
		case strings.HasPrefix(arg.Text, "--command="):
			return in.startText(Word{Text: strings.TrimPrefix(arg.Text, "--command="), Source: arg.Source},
				nil)
		case containsWord("-o +o -O +O --rcfile --init-file --emulate", arg.Text):
			i++
		case strings.HasPrefix(arg.Text, "--"):
		case len(arg.Text) > 1 && (arg.Text[0] == '-' || arg.Text[0] == '+'):
			if strings.Contains(arg.Text, "c") {
				return in.readInline(argv, i+1)
			}
		case !in.Rights:
			return in // a file
		}
	}
	return in
}

// readInline reads the text that follows -c, behind more options.
func (in Started) readInline(argv []Word, i int) Started {
	for ; i < len(argv); i++ {
		switch a := argv[i].Text; {
		case containsWord("-o +o -O +O", a):
			i++
		case len(a) < 2 || (a[0] != '-' && a[0] != '+'):
			return in.startText(argv[i], argv[min(i+2, len(argv)):]) // between them is a name
		}
	}
	return in
}

func (in Started) startText(w Word, args []Word) Started {
	in.Scripts, in.Only = []Script{{w, args}}, !in.Rights
	return in
}

// startsFound reads find ... -exec command ;
func startsFound(argv []Word) (in Started) {
	for i := 1; i < len(argv); i++ {
		if !containsWord("-exec -execdir -ok -okdir", argv[i].Text) {
			continue
		}
		end := i + 1
		for end < len(argv) && argv[end].Text != ";" && argv[end].Text != "+" {
			end++
		}
		if end > i+1 {
			in.Commands = append(in.Commands, markUnknown(argv[i+1:end], "{}"))
		}
		i = end
	}
	return in
}
