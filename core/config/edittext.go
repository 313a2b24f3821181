package config

import (
	"bytes"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// inText changes the text itself. It gives up where the file is written in an unusual way; sound
// checks what it did.
func (e edit) inText() (string, bool) {
	value, ok := e.valueLine()
	if !ok {
		return "", false
	}
	at := lookupNode(e.root, e.path)
	lines := strings.Split(e.text, "\n")
	switch {
	case at.value != nil && at.value.Kind == yaml.AliasNode:
		return "", false
	case at.value != nil && len(at.rest) == 0:
		return replaceValue(lines, at, value)
	case at.scalar:
		return widenScalar(lines, at, value)
	default:
		return insertKeys(lines, at, value)
	}
}

// replaceValue puts value in place of a scalar or a flow list that stands on the line of its key.
func replaceValue(lines []string, at found, value string) (string, bool) {
	n := at.value
	if isNull(n) && n.Value == "" {
		return replaceNothing(lines, at.key, value)
	}
	if n.Line < 1 || n.Line > len(lines) || n.Anchor != "" {
		return "", false
	}
	line := []rune(lines[n.Line-1])
	start := n.Column - 1
	if start < 0 || start > len(line) {
		return "", false
	}
	length, ok := valueLength(n, string(line[start:]))
	if !ok {
		return "", false
	}
	head, tail := string(line[:start]), string(line[start:])[length:]
	if strings.HasPrefix(value, "\n") {
		head = strings.TrimRight(head, " ")
	}
	lines[n.Line-1] = head + value + tail
	return strings.Join(lines, "\n"), true
}

// replaceNothing fills in "key:" that has no value.
func replaceNothing(lines []string, key *yaml.Node, value string) (string, bool) {
	if key.Line < 1 || key.Line > len(lines) {
		return "", false
	}
	line := lines[key.Line-1]
	head, tail, ok := strings.Cut(line, key.Value+":")
	if !ok {
		return "", false
	}
	lines[key.Line-1] = head + key.Value + ": " + value + tail
	return strings.Join(lines, "\n"), true
}

// valueLength returns how many bytes of rest the value takes.
func valueLength(n *yaml.Node, rest string) (int, bool) {
	switch {
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle != 0, n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0:
		end := strings.LastIndexAny(rest, "]}")
		return end + 1, end >= 0
	case n.Kind != yaml.ScalarNode, n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, false
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return i + 1, true
			}
		}
		return 0, false
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\'' && strings.HasPrefix(rest[i+1:], "'") {
				i++
			} else if rest[i] == '\'' {
				return i + 1, true
			}
		}
		return 0, false
	default:
		return len(n.Value), strings.HasPrefix(rest, n.Value)
	}
}

// widenScalar turns `model: x` into a mapping that holds x and the new value.
func widenScalar(lines []string, at found, value string) (string, bool) {
	if len(at.rest) != 1 || at.key == nil {
		return "", false
	}
	if at.isShort() {
		return replaceValue(lines, found{key: at.key, value: at.value}, value)
	}
	_, f, ok := resolveKey(configType, strings.Join(at.spelling[:len(at.spelling)-1], "."))
	if !ok || f.typ.Kind() != reflect.Struct {
		return "", false
	}
	short, ok := shortField(f.typ)
	if !ok {
		return "", false
	}
	line := []rune(lines[at.value.Line-1])
	start := at.value.Column - 1
	if start < 0 || start > len(line) {
		return "", false
	}
	length, ok := valueLength(at.value, string(line[start:]))
	if !ok {
		return "", false
	}
	old := string(line[start:])[:length]
	indent := "\n" + strings.Repeat(" ", at.key.Column+1)
	mapping := indent + short.name + ": " + old + indent + at.rest[0] + ": " + value
	return replaceValue(lines, found{key: at.key, value: at.value}, mapping)
}

// insertKeys adds the missing keys after the last line of the mapping that they belong to.
func insertKeys(lines []string, at found, value string) (string, bool) {
	parent := at.parent
	indent, after := 0, len(lines)-1
	switch {
	case at.key != nil: // "key:" without a value
		indent, after = at.key.Column+1, at.key.Line
	case len(parent.Content) > 0:
		if parent.Style&yaml.FlowStyle != 0 {
			return "", false
		}
		indent = parent.Content[0].Column - 1
		if indent > 0 {
			after = endOf(lines, lastLine(parent), indent)
		}
	}
	if after < 0 || after > len(lines) {
		return "", false
	}
	var added []string
	for i, name := range at.rest {
		pad := strings.Repeat(" ", indent+2*i)
		if i == len(at.rest)-1 {
			added = append(added, pad+quoteKey(name)+": "+value)
		} else {
			added = append(added, pad+quoteKey(name)+":")
		}
	}
	out := append([]string{}, lines[:after]...)
	if after == len(lines)-1 && lines[after] != "" { // no line break at the end of the file
		out, after = append(out, lines[after]), after+1
	}
	out = append(out, added...)
	rest := lines[min(after, len(lines)):]
	if len(rest) == 0 {
		rest = []string{""}
	}
	return strings.Join(append(out, rest...), "\n"), true
}

func quoteKey(name string) string {
	out, err := yaml.Marshal(name)
	if err != nil {
		return name
	}
	return strings.TrimRight(string(out), "\n")
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// endOf skips the rest of a value of several lines: what follows line and is indented at least as
// much.
func endOf(lines []string, line, indent int) int {
	for line < len(lines) {
		text := lines[line]
		if strings.TrimSpace(text) == "" || len(text)-len(strings.TrimLeft(text, " ")) <= indent {
			break
		}
		line++
	}
	return line
}

// inTree changes the parsed file and writes it anew: comments and order stay, blank lines may not.
func (e edit) inTree() (string, bool) {
	p := parse("", []byte(e.text)) // a copy: sound compares with the old one
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if len(p.roots) > 0 {
		root = p.roots[0]
	}
	at := lookupNode(root, e.path)
	switch {
	case at.scalar:
		return "", false
	case len(at.rest) == 0:
		comment := at.value.LineComment
		*at.value = *e.node
		at.value.LineComment = comment
	default:
		if at.key != nil {
			*at.value = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			at.parent = at.value
		}
		below := wrapInKeys(at.rest, e.node)
		at.parent.Content = append(at.parent.Content, below.Content...)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := enc.Encode(root)
	return b.String(), err == nil
}
