package procedure

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hermes/core/clip"
	"hermes/core/nearest"
)

// Text is a text with values in it: ${step.field}, {{name}}, {{#each list}}, {{#if value}}.
type Text struct {
	nodes []node
	mode  mode
	src   string // as it was written
}

// mode is where a text stands, which decides what in it is ours.
type mode int

const (
	inValue    mode = iota // arguments, messages, prompts
	inCommand              // a shell has its own ${...}, and gets values in quotes
	inTemplate             // output
)

// node is a piece of a Text.
type node struct {
	text        string   // literal, when path is nil
	path        []string // a value
	dollar      bool     // of ${...}
	block       string   // each, if, unless; "" for none
	body, other []node
	line        int
}

// ref is a value that a text names, for the checks.
type ref struct {
	path   []string
	key    string
	line   int
	mode   mode
	dollar bool
	inner  bool   // inside of an each: it may be a field of the item
	step   int    // that uses it; -1: none
	each   *node  // the block that goes through it
	kind   string // what it must be: boolean, number, array; "" for anything
}

var (
	pathShape = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\p{L}_@][\p{L}\p{N}_-]*(\.[\p{L}\p{N}_-]+|\[\d{1,6}\])*$`)
	})
	valueStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{|\{\{`) })
)

const maxBlocks = 8

// parseTemplate reads a text with values in it.
func (r *reader) parseTemplate(key string, v *yaml.Node, m mode) *Text {
	if len(v.Value) > maxText {
		r.addFault(v.Line, key, fmt.Sprintf("the text has %d bytes, at most %d are read", len(v.Value), maxText), "shorten it")
		return nil
	}
	b := builder{r: r, key: key, first: firstLine(v), src: v.Value, mode: m}
	nodes, end := b.parseNodes("", 0)
	if end != "" {
		r.addFault(b.lineNumber(), key, "{{"+end+"}} closes nothing",
			"remove it, or write the {{#...}} before it")
	}
	return &Text{nodes: nodes, mode: m, src: v.Value}
}

// builder takes a text apart.
type builder struct {
	r     *reader
	key   string
	first int
	src   string
	at    int
	mode  mode
}

func (b *builder) lineNumber() int { return b.first + strings.Count(b.src[:b.at], "\n") }

// parseNodes reads up to what ends a block: end is "else" or "/each", "" at the end of the text.
func (b *builder) parseNodes(inside string, depth int) (out []node, end string) {
	for b.at < len(b.src) {
		m := valueStart().FindStringIndex(b.src[b.at:])
		if m == nil {
			out = append(out, node{text: b.src[b.at:]})
			b.at = len(b.src)
			break
		}
		if m[0] > 0 {
			out = append(out, node{text: b.src[b.at : b.at+m[0]]})
			b.at += m[0]
		}
		if b.src[b.at] == '$' {
			out = append(out, b.parseDollar())
			continue
		}
		n, stop := b.parseBraces(inside, depth)
		if stop != "" {
			return out, stop
		}
		out = append(out, n)
	}
	return out, ""
}

// parseDollar reads ${path}.
func (b *builder) parseDollar() node {
	line := b.lineNumber()
	inner, ok := b.upTo("${", "}")
	path := strings.TrimSpace(inner)
	switch {
	case b.mode == inCommand && (!ok || !pathShape().MatchString(path)):
		return node{text: "${" + inner + closingIf(ok, "}")} // the shell's
	case !ok:
		b.r.addFault(line, b.key, "${ is not closed", "write } behind the name")
		return node{text: "${" + inner}
	case !pathShape().MatchString(path):
		b.r.addFault(line, b.key, fmt.Sprintf("${%s} names no value", clip.Runes(path, 60, "…")), "write ${output_key.field}")
		return node{}
	}
	n := node{path: splitPath(path), dollar: true, line: line, text: "${" + inner + "}"}
	return n
}

func closingIf(ok bool, s string) string {
	if ok {
		return s
	}
	return ""
}

// upTo cuts out what stands between two marks, the first of which is here.
func (b *builder) upTo(open, end string) (string, bool) {
	rest := b.src[b.at+len(open):]
	inner, _, ok := strings.Cut(rest, end)
	if !ok || strings.Contains(inner, "\n") {
		inner, _, _ = strings.Cut(inner, "\n")
		b.at += len(open) + len(inner)
		return inner, false
	}
	b.at += len(open) + len(inner) + len(end)
	return inner, true
}

// parseBraces reads {{...}}: a value, or a block with all that is in it.
func (b *builder) parseBraces(inside string, depth int) (n node, end string) {
	line := b.lineNumber()
	if strings.HasPrefix(b.src[b.at:], "{{.") { // a template of another program: docker ps --format
		b.at += 2
		return node{text: "{{"}, ""
	}
	inner, ok := b.upTo("{{", "}}")
	word := strings.TrimSpace(inner)
	switch {
	case !ok:
		b.r.addFault(line, b.key, "{{ is not closed", "write }} behind the name")
		return node{text: "{{" + inner}, ""
	case strings.HasPrefix(word, "!"):
		return node{}, ""
	case strings.HasPrefix(word, "#"):
		return b.parseBlock(word[1:], line, depth), ""
	case word == "else" && (inside == "if" || inside == "unless" || inside == "each"):
		return node{}, "else"
	case inside != "" && word == "/"+inside:
		return node{}, word
	case word == "else" || strings.HasPrefix(word, "/"):
		b.r.addFault(line, b.key, "{{"+word+"}} closes nothing",
			"remove it, or write the {{#...}} before it")
		return node{}, ""
	case !pathShape().MatchString(word):
		b.r.addFault(line, b.key, fmt.Sprintf("{{%s}} names no value", clip.Runes(word, 60, "…")), "write {{name}}, {{#each list}} or {{#if value}}")
		return node{}, ""
	}
	return node{path: splitPath(word), line: line}, ""
}

var blockWords = []string{"each", "if", "unless"}

func (b *builder) parseBlock(head string, line, depth int) node {
	word, arg, _ := strings.Cut(strings.TrimSpace(head), " ")
	arg = strings.TrimSpace(arg)
	if !slices.Contains(blockWords, word) {
		fix := "write each, if or unless"
		if near, ok := nearest.Name(word, blockWords); ok {
			fix = "did you mean {{#" + near + "}}?"
		}
		b.r.addFault(line, b.key, fmt.Sprintf("there is no block {{#%s}}", clip.Runes(word, 60, "…")), fix)
		word = "if"
	} else if !pathShape().MatchString(arg) {
		b.r.addFault(line, b.key, fmt.Sprintf("{{#%s}} names no value", word), "write {{#"+word+" output_key.field}}")
	}
	if b.mode == inCommand {
		b.r.addFault(line, b.key, "a command holds no blocks",
			"make two steps of it, each with a condition")
	}
	if depth >= maxBlocks {
		b.r.addFault(line, b.key, "blocks are nested too deeply", "")
		b.at = len(b.src)
		return node{}
	}
	n := node{block: word, path: splitPath(arg), line: line}
	b.skipLine()
	var end string
	if n.body, end = b.parseNodes(word, depth+1); end == "else" {
		b.skipLine()
		n.other, end = b.parseNodes(word, depth+1)
	}
	if end != "/"+word {
		b.r.addFault(line, b.key, "{{#"+word+"}} is not closed", "write {{/"+word+"}} behind it")
	}
	b.skipLine()
	return n
}

// skipLine drops the end of a line that holds nothing but a tag, so that tags leave no empty lines.
func (b *builder) skipLine() {
	open := strings.LastIndex(b.src[:b.at], "{{")
	start := strings.LastIndexByte(b.src[:max(open, 0)], '\n') + 1
	if open >= 0 && strings.TrimSpace(b.src[start:open]) == "" && b.at < len(b.src) && b.src[b.at] == '\n' {
		b.at++
	}
}

var pathSteps = strings.NewReplacer("[", ".", "]", "")

// splitPath splits a.b[0].c.
func splitPath(path string) []string { return strings.Split(pathSteps.Replace(path), ".") }

// eachValue calls f for every value that nodes name; inner says that it is inside of an each.
func eachValue(nodes []node, inner bool, f func(n *node, inner bool)) {
	for i := range nodes {
		n := &nodes[i]
		if n.path != nil {
			f(n, inner)
		}
		eachValue(n.body, inner || n.block == "each", f)
		eachValue(n.other, inner, f)
	}
}
