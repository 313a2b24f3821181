package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// editing keeps two edits of this process apart.
var editing sync.Mutex

// Set writes one key of config.yaml. Comments, order and spelling of everything else stay as they
// are: the text itself is changed where that is enough, and every edit is read back before it is
// kept. A list is written a,b or [a, b].
func Set(p Paths, key, value string) error {
	editing.Lock()
	defer editing.Unlock()
	path, f, ok := resolveKey(configType, key)
	if !ok {
		return unknownKey(key)
	}
	path, f = lengthenKey(path, f)
	if f.isSecret() && f.typ.Kind() != reflect.Map && !strings.Contains(value, "${") {
		return fmt.Errorf("%s is a secret, and secrets live in .env: `hermes config set NAME_API_KEY ...` writes there", key)
	}
	if err := validateValue(strings.Join(path, "."), value); err != nil {
		return err
	}
	raw, problems := readFile(p.ConfigFile, "config.yaml")
	if len(problems) > 0 {
		return fmt.Errorf("%s: nothing was changed", problems[0])
	}
	text, err := editText(raw, path, f, value)
	if err != nil {
		return err
	}
	return replaceFile(p.ConfigFile, text)
}

// lengthenKey turns a key that a scalar may stand for (model) into the one that it sets
// (model.default).
func lengthenKey(path []string, f field) ([]string, field) {
	if f.typ.Kind() == reflect.Struct {
		if short, ok := shortField(f.typ); ok {
			return append(path, short.name), short
		}
	}
	return path, f
}

func validateValue(key, value string) error {
	c := Defaults()
	c.places, c.unused = map[string]place{}, map[string]place{}
	for _, p := range c.addLayer("", func(d *decoder) { d.assignText(key, value, key) }) {
		return errors.New(strings.TrimPrefix(p.String(), ": "))
	}
	return nil
}

func editText(raw []byte, path []string, f field, value string) ([]byte, error) {
	crlf := bytes.Contains(raw, []byte("\r\n"))
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	p := parse("config.yaml", []byte(text))
	if len(p.problems) > 0 {
		return nil, fmt.Errorf("%s: nothing was changed; repair it with `hermes config edit` first", p.problems[0])
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if len(p.roots) > 0 {
		root = p.roots[0]
	}
	node := valueNode(f, value)
	styleNode(node, f)
	e := edit{text: text, root: root, path: path, node: node}
	for _, way := range []func() (string, bool){e.inText, e.inTree} {
		if out, ok := way(); ok && e.isExactlyAsked(out) {
			if crlf {
				out = strings.ReplaceAll(out, "\n", "\r\n")
			}
			return []byte(out), nil
		}
	}
	return nil, fmt.Errorf("config.yaml is written in a way that %s cannot be set in: use `hermes config edit`", strings.Join(path, "."))
}

// styleNode makes a new value look as a person would write it: flow lists, and quotes only where
// YAML needs them.
func styleNode(n *yaml.Node, f field) {
	for _, c := range n.Content {
		styleNode(c, f)
	}
	switch {
	case n.Kind != yaml.ScalarNode:
		n.Style = yaml.FlowStyle
	case f.typ.Kind() != reflect.String && f.typ.Kind() != reflect.Slice && f.typ.Kind() != reflect.Map:
		n.Tag = "" // a number or a boolean is written bare
	}
}

// edit is one change of one key.
type edit struct {
	text string // lines end in \n
	root *yaml.Node
	path []string // canonical
	node *yaml.Node
}

// valueLine is the new value on one line.
func (e edit) valueLine() (string, bool) {
	out, err := yaml.Marshal(e.node)
	text := strings.TrimRight(string(out), "\n")
	return text, err == nil && !strings.Contains(text, "\n")
}

// isExactlyAsked reports whether out says what was asked for, and everything else as before.
func (e edit) isExactlyAsked(out string) bool {
	p := parse("", []byte(out))
	if len(p.problems) > 0 || len(p.roots) != 1 {
		return false
	}
	before, after := map[string]string{}, map[string]string{}
	flattenLeaves(e.root, "", before, 0)
	flattenLeaves(p.roots[0], "", after, 0)
	at := lookupNode(p.roots[0], e.path)
	if at.value == nil || (len(at.rest) > 0 && !at.isShort()) || !sameNode(at.value, e.node) {
		return false
	}
	inside := "\x00" + strings.Join(at.spelling[:len(at.spelling)-len(at.rest)], "\x00")
	for _, m := range []map[string]string{before, after} {
		for k := range m {
			if before[k] != after[k] && k != inside && !strings.HasPrefix(k, inside+"\x00") && !e.withDefaultKey(k, at) {
				return false
			}
		}
	}
	return true
}

// withDefaultKey allows for `model: x` becoming a mapping with model.default: x.
func (e edit) withDefaultKey(key string, at found) bool {
	parent := "\x00" + strings.Join(at.spelling[:len(at.spelling)-1], "\x00")
	return lookupNode(e.root, e.path).scalar &&
		(key == parent || strings.HasPrefix(key, parent+"\x00"))
}

func sameNode(a, b *yaml.Node) bool {
	if len(a.Content) != len(b.Content) || (a.Kind == yaml.ScalarNode && a.Value != b.Value) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// flattenLeaves lists every leaf under its path. Aliases count as what is written, not as what they
// point to.
func flattenLeaves(n *yaml.Node, path string, out map[string]string, depth int) {
	switch {
	case depth > 64:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			flattenLeaves(n.Content[i+1], path+"\x00"+n.Content[i].Value, out, depth+1)
		}
	case n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			flattenLeaves(c, fmt.Sprintf("%s\x00%d", path, i), out, depth+1)
		}
	case isNull(n):
	default:
		out[path] = n.Tag + n.Value
	}
}

// found is how far a path goes in a file.
type found struct {
	parent   *yaml.Node // mapping that holds key, or that would
	key      *yaml.Node
	value    *yaml.Node // nil when the path ends before
	rest     []string   // what the file lacks
	spelling []string   // the path as the file writes it
	scalar   bool       // a scalar stands where a mapping would be needed
}

// isShort reports whether the scalar that was found stands for the key that was looked for: `model:
// x` for model.default.
func (at found) isShort() bool {
	if !at.scalar || len(at.rest) != 1 {
		return false
	}
	_, f, ok := resolveKey(configType, strings.Join(at.spelling[:len(at.spelling)-1], "."))
	if !ok || f.typ.Kind() != reflect.Struct {
		return false
	}
	short, ok := shortField(f.typ)
	return ok && short.name == at.rest[0]
}

// lookupNode walks a path, taking other spellings of a key where the proper one is absent.
func lookupNode(root *yaml.Node, path []string) found {
	at := found{parent: root, value: root}
	t := configType
	for i, name := range path {
		if at.value.Kind != yaml.MappingNode {
			at.rest, at.scalar = path[i:], !isNull(at.value)
			at.spelling = append(at.spelling, at.rest...)
			return at
		}
		names := []string{name}
		if t.Kind() == reflect.Struct {
			f, _ := fieldOf(t, name)
			names, t = append(names, f.also...), f.typ
		} else {
			t = t.Elem()
		}
		key, value := childNode(at.value, names)
		at.parent = at.value
		if key == nil {
			at.key, at.value, at.rest = nil, nil, path[i:]
			at.spelling = append(at.spelling, at.rest...)
			return at
		}
		at.key, at.value = key, value
		at.spelling = append(at.spelling, key.Value)
	}
	return at
}

func childNode(n *yaml.Node, names []string) (key, value *yaml.Node) {
	for _, name := range names {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i], n.Content[i+1]
			}
		}
	}
	return nil, nil
}
