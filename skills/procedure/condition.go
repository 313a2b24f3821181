package procedure

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hermes/core/clip"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
	"go.yaml.in/yaml/v3"
)

// Condition is an expression over values: ${anomalies.count} > 0.
type Condition struct {
	Text  string
	Line  int
	paths [][]string
	code  *vm.Program
}

const (
	maxCondition = 1000 // bytes
	maxTerms     = 100
	maxMemory    = 100_000
)

// allowedFunctions are the functions of expressions: all of them look at one value.
var allowedFunctions = []string{"len", "lower", "upper", "trim", "int", "float", "string"}

var valueMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([^{}\n]*)\}|\{\{([^{}\n]*)\}\}`) })

// readCondition reads an expression. Values stand in it as ${a.b}; the rest is the language of
// expr-lang.
func (r *reader) readCondition(dst **Condition) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		if v.Kind == yaml.ScalarNode && v.Tag == "!!bool" {
			v.Tag = "!!str"
		}
		text, ok := r.scalarText(key, v)
		if !ok {
			return
		}
		c := &Condition{Text: text, Line: firstLine(v)}
		if len(text) > maxCondition {
			r.addFault(v.Line, key, fmt.Sprintf("the condition has %d bytes, at most %d are read", len(text), maxCondition), "")
			return
		}
		env := types.Map{}
		code := valueMark().ReplaceAllStringFunc(text, func(mark string) string {
			path := strings.TrimSpace(strings.Trim(mark, "${} "))
			if !pathShape().MatchString(path) {
				r.addFault(c.Line, key, fmt.Sprintf("%s names no value", clip.Runes(mark, 60, "…")),
					"write ${output_key.field}")
				path = "error"
			}
			name := fmt.Sprintf("value%d", len(c.paths))
			c.paths = append(c.paths, splitPath(path))
			env[name] = types.Any
			return name
		})
		options := []expr.Option{expr.Env(env), expr.MaxNodes(maxTerms), expr.DisableAllBuiltins()}
		for _, f := range allowedFunctions {
			options = append(options, expr.EnableBuiltin(f))
		}
		program, err := expr.Compile(code, options...)
		if err != nil {
			r.addFault(c.Line, key, "the condition cannot be read: "+firstWords(err, c), "write it like ${step.count} > 0 and ${step.ok} == true")
			return
		}
		c.code = program
		*dst = c
		for _, path := range c.paths {
			r.p.refs = append(r.p.refs, ref{path: path, key: key, line: c.Line, dollar: true, step: -1, kind: c.kindOf(code, path)})
		}
	}
}

// firstWords are the first line of what the compiler says, with our names in it.
func firstWords(err error, c *Condition) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	for i, path := range c.paths {
		line = strings.ReplaceAll(line, fmt.Sprintf("value%d", i), "${"+strings.Join(path, ".")+"}")
	}
	if strings.Contains(line, "unknown name") {
		line += "; values are written ${...}, texts in quotes"
	}
	return line
}

var (
	withBool   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[!=]=\s*(true|false)\b`) })
	withNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*([<>]=?|[!=]=)\s*-?[0-9]`) })
)

// kindOf guesses from what a value is compared with what it is.
func (c *Condition) kindOf(code string, path []string) string {
	for i, p := range c.paths {
		if strings.Join(p, ".") != strings.Join(path, ".") {
			continue
		}
		_, after, _ := strings.Cut(code, fmt.Sprintf("value%d", i))
		switch {
		case withBool().MatchString(after):
			return "boolean"
		case withNumber().MatchString(after):
			return "number"
		}
	}
	return ""
}
