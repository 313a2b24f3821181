package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

const (
	maxVisits   = 50_000 // nodes looked at; more means that aliases multiply
	maxMerges   = 8      // depth of << in <<
	maxProblems = 100
	maxValue    = 64 << 10 // bytes of one value after ${VAR}
)

// place is where a value was written.
type place struct {
	file         string
	line, column int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

// decoder puts one layer of settings into a Config. It reads YAML nodes by the schema of the Go types and never looks at
// what the schema does not ask for, so depth is bounded by the schema and breadth by maxVisits.
type decoder struct {
	file     string
	env      environment
	root     reflect.Value // of Config
	places   map[string]place
	problems []Problem
	visits   int
}

type pair struct{ key, value *yaml.Node }

func (d *decoder) problem(n *yaml.Node, text, why, fix string) {
	if len(d.problems) == maxProblems {
		why, text, fix = "more problems follow", "", "repair these first"
	}
	if len(d.problems) > maxProblems {
		return
	}
	p := Problem{File: d.file, Text: clip(text), Why: why, Fix: fix}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	d.problems = append(d.problems, p)
}

func clip(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}

// follow resolves aliases and counts. It returns nil once too much was seen.
func (d *decoder) follow(n *yaml.Node) *yaml.Node {
	for range maxMerges {
		d.visits++
		if d.visits > maxVisits {
			if d.visits == maxVisits+1 {
				d.problem(n, "", "too many values", "aliases (*name) multiply here: write less of them")
			}
			return nil
		}
		if n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// section decodes a mapping into a struct. prefix is the dotted path with its last dot.
func (d *decoder) section(v reflect.Value, n *yaml.Node, prefix string) {
	pairs := d.pairs(n, 0)
	given := make(map[string]bool, len(pairs))
	for _, p := range pairs {
		given[p.key.Value] = true
	}
	for _, p := range pairs {
		f, ok := fieldOf(v.Type(), p.key.Value)
		switch {
		case !ok:
			d.unknown(v.Type(), p, prefix)
		case f.name != p.key.Value && given[f.name]:
			// The proper spelling is there too, and wins.
		default:
			d.value(v.Field(f.index), f, p.value, prefix+f.name)
		}
	}
}

// pairs lists the keys of a mapping: merged ones (<<) first, unless the mapping has them itself.
func (d *decoder) pairs(n *yaml.Node, depth int) []pair {
	var own, merged []pair
	at := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if d.visits++; d.visits > maxVisits {
			break
		}
		switch {
		case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
			merged = append(merged, d.mergedPairs(value, depth+1)...)
		case key.Kind != yaml.ScalarNode:
			d.problem(key, "", "a key must be plain text", "")
		default:
			if before, twice := at[key.Value]; twice {
				d.problem(key, key.Value, "written twice:", fmt.Sprintf("keep one; the other is in line %d", own[before].key.Line))
				own[before] = pair{key, value}
				continue
			}
			at[key.Value] = len(own)
			own = append(own, pair{key, value})
		}
	}
	out := make([]pair, 0, len(own)+len(merged))
	for _, p := range merged {
		if _, overridden := at[p.key.Value]; !overridden {
			out = append(out, p)
		}
	}
	return append(out, own...)
}

func (d *decoder) mergedPairs(n *yaml.Node, depth int) []pair {
	n = d.follow(n)
	switch {
	case n == nil || depth > maxMerges:
		return nil
	case n.Kind == yaml.MappingNode:
		return d.pairs(n, depth)
	case n.Kind == yaml.SequenceNode:
		var out []pair
		for _, item := range n.Content {
			out = append(out, d.mergedPairs(item, depth+1)...)
		}
		return out
	default:
		d.problem(n, n.Value, "<< wants a mapping, found", "")
		return nil
	}
}

func (d *decoder) unknown(t reflect.Type, p pair, prefix string) {
	name := p.key.Value
	if target, ok := moved[prefix+name]; ok {
		path, f, _ := resolve(configType, target)
		d.value(d.find(path), f, p.value, target)
		return
	}
	if belongsToPython(t.Name(), name) {
		return
	}
	d.problem(p.key, name, "unknown key", d.hint(t, name, prefix))
}

func (d *decoder) hint(t reflect.Type, name, prefix string) string {
	if path, _, ok := resolve(configType, strings.TrimPrefix(name, prefix)); ok && prefix != "" && len(path) == 1 {
		return "it belongs to the top level, not under " + strings.TrimSuffix(prefix, ".")
	}
	for _, k := range Schema() {
		if strings.HasSuffix(k.Name, "."+name) && !strings.Contains(k.Name, "<") {
			return fmt.Sprintf("it belongs under %s: %s", strings.TrimSuffix(k.Name, "."+name), k.Name)
		}
	}
	var names []string
	for _, f := range fields(t) {
		names = append(names, append([]string{f.name}, f.also...)...)
	}
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "`hermes config show --all` lists every key"
}

// find walks from the root to the struct field at path; map names cannot be in it.
func (d *decoder) find(path []string) reflect.Value {
	v := d.root
	for _, name := range path {
		f, _ := fieldOf(v.Type(), name)
		v = v.Field(f.index)
	}
	return v
}

// value decodes n into v and reports whether v has a usable value now.
func (d *decoder) value(v reflect.Value, f field, n *yaml.Node, path string) bool {
	n = d.follow(n)
	if n == nil {
		return false
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.structOrShort(v, n, path)
	case reflect.Map:
		return d.mapping(v, f, n, path)
	case reflect.Slice:
		return d.list(v, f, n, path)
	default:
		return d.scalar(v, f, n, path)
	}
}

func (d *decoder) structOrShort(v reflect.Value, n *yaml.Node, path string) bool {
	if n.Kind == yaml.MappingNode {
		d.section(v, n, path+".")
		return true
	}
	if isNull(n) {
		return true
	}
	if f, ok := shortField(v.Type()); ok && n.Kind == yaml.ScalarNode {
		return d.value(v.Field(f.index), f, n, path+"."+f.name)
	}
	d.problem(n, n.Value, "expected keys below "+path+", found "+kindName(n), "")
	return false
}

var backendName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`) })

func (d *decoder) mapping(v reflect.Value, f field, n *yaml.Node, path string) bool {
	elem := f.typ.Elem()
	pairs, ok := d.named(n, elem, path)
	if !ok {
		return false
	}
	if v.IsNil() && len(pairs) > 0 {
		v.Set(reflect.MakeMapWithSize(v.Type(), len(pairs)))
	}
	for _, p := range pairs {
		name := reflect.ValueOf(p.key.Value)
		if elem == reflect.TypeFor[Backend]() && !backendName().MatchString(p.key.Value) {
			d.problem(p.key, p.key.Value, "not a name for a back end:", "use up to 32 of a-z, 0-9, dash and underscore")
			continue
		}
		item := reflect.New(elem).Elem()
		if old := v.MapIndex(name); old.IsValid() {
			item.Set(old)
		}
		if d.value(item, f.leaf(elem), p.value, path+"."+p.key.Value) {
			v.SetMapIndex(name, item)
		}
	}
	d.mark(path, n)
	return true
}

// named returns the entries of a mapping. Where the entries have fields of their own, a list of names will do.
func (d *decoder) named(n *yaml.Node, elem reflect.Type, path string) ([]pair, bool) {
	switch {
	case n.Kind == yaml.MappingNode:
		return d.pairs(n, 0), true
	case isNull(n):
		return nil, true
	case n.Kind == yaml.SequenceNode && elem == reflect.TypeFor[ModelLimit]():
		var out []pair
		for _, item := range n.Content {
			if item = d.follow(item); item != nil && item.Kind == yaml.ScalarNode {
				out = append(out, pair{item, &yaml.Node{Kind: yaml.MappingNode, Line: item.Line, Column: item.Column}})
			}
		}
		return out, true
	default:
		d.problem(n, n.Value, "expected names below "+path+", found "+kindName(n), "")
		return nil, false
	}
}

func (d *decoder) list(v reflect.Value, f field, n *yaml.Node, path string) bool {
	items := n.Content
	switch {
	case isNull(n):
		items = nil
	case n.Kind == yaml.ScalarNode:
		items = []*yaml.Node{n}
	case n.Kind != yaml.SequenceNode:
		d.problem(n, n.Value, "expected a list for "+path+", found "+kindName(n), "write - item lines, or [a, b]")
		return false
	}
	out := reflect.MakeSlice(v.Type(), 0, len(items))
	for _, item := range items {
		one := reflect.New(f.typ.Elem()).Elem()
		if d.value(one, f.leaf(f.typ.Elem()), item, path) {
			out = reflect.Append(out, one)
		}
	}
	v.Set(out)
	d.mark(path, n)
	return true
}

func (d *decoder) scalar(v reflect.Value, f field, n *yaml.Node, path string) bool {
	if n.Kind != yaml.ScalarNode {
		d.problem(n, "", fmt.Sprintf("expected one value (%s) for %s, found %s", typeName(v.Type()), path, kindName(n)), "")
		return false
	}
	text, replaced := d.env.expand(n.Value)
	if isNull(n) {
		fallback, ok := f.tag.Lookup("null")
		if !ok {
			return false // nothing was said
		}
		text = fallback
	}
	if bad := d.mistyped(v, f, n, replaced); bad != nil {
		d.problem(n, shown(f, n), bad.why, bad.fix)
		return false
	}
	if len(text) > maxValue {
		d.problem(n, "", path+" is too long", fmt.Sprintf("write less than %d KiB", maxValue>>10))
		return false
	}
	if bad := setScalar(v, f, text); bad != nil {
		d.problem(n, shown(f, n), bad.why, bad.fix)
		return false
	}
	d.mark(path, n)
	return true
}

// mistyped catches numbers in quotes, and a bare true where text is meant.
func (d *decoder) mistyped(v reflect.Value, f field, n *yaml.Node, replaced bool) *badValue {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
	switch {
	case quoted && !replaced && v.Kind() != reflect.String && v.Type() != durationType && v.Type() != sizeType:
		return &badValue{"expected " + typeArticle(v.Type()) + ", found the text", "write it without quotes"}
	case v.Kind() == reflect.String && n.Tag == "!!bool" && f.tag.Get("oneof") == "":
		return &badValue{"expected text, found", fmt.Sprintf("write it in quotes: %q", n.Value)}
	default:
		return nil
	}
}

func typeArticle(t reflect.Type) string {
	if t.Kind() == reflect.Bool {
		return "yes or no"
	}
	return "a " + typeName(t)
}

// shown is what a problem may quote: never a secret.
func shown(f field, n *yaml.Node) string {
	if f.secret() {
		return ""
	}
	return n.Value
}

func (d *decoder) mark(path string, n *yaml.Node) {
	d.places[path] = place{d.file, n.Line, n.Column}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "the value"
	}
}
