package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"hermes/core/clip"

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

// decoder puts one layer of settings into a Config. It reads YAML nodes by the schema of the Go
// types and never looks at what the schema does not ask for, so depth is bounded by the schema and
// breadth by maxVisits.
type decoder struct {
	file     string
	env      environment
	root     reflect.Value // of Config
	places   map[string]place
	unused   map[string]place // keys of the Python hermes, which do nothing here
	problems []Problem
	visits   int
	at       string          // dotted path of what is being decoded
	from     string          // put before what problems quote: the name of a variable
	set      map[string]bool // paths that got a value
	doubts   []doubt
	inList   bool
	garbled  bool // bytes that are no UTF-8 were replaced
}

// doubt is something at a path that could not be read.
type doubt struct {
	path string
	why  Problem
}

type pair struct{ key, value *yaml.Node }

// addProblem notes that what stands at d.at cannot be read.
func (d *decoder) addProblem(n *yaml.Node, text, why, fix string) {
	d.problemAt(d.at, n, text, why, fix)
}

func (d *decoder) problemAt(path string, n *yaml.Node, text, why, fix string) {
	d.doubts = append(d.doubts, doubt{path, d.noteProblem(n, text, why, fix)})
}

// noteProblem notes a problem that puts nothing in doubt.
func (d *decoder) noteProblem(n *yaml.Node, text, why, fix string) Problem {
	p := Problem{File: d.file, Text: d.from + clip.Runes(text, 60, "…"), Why: why, Fix: fix}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	switch {
	case len(d.problems) < maxProblems:
		d.problems = append(d.problems, p)
	case len(d.problems) == maxProblems:
		d.problems = append(d.problems, Problem{File: d.file, Why: "more problems follow", Fix: "repair these first"})
	}
	return p
}

// enterPath moves to a path; what it returns moves back.
func (d *decoder) enterPath(path string) func() {
	before := d.at
	d.at = path
	return func() { d.at = before }
}

// mayGoOn reports whether more may be looked at.
func (d *decoder) mayGoOn(n *yaml.Node) bool {
	d.visits++
	if d.visits == maxVisits+1 {
		d.problemAt("", n, "", "too many values", "aliases (*name) multiply here: write less of them")
	}
	return d.visits <= maxVisits
}

// followAlias resolves aliases and counts. It returns nil once too much was seen.
func (d *decoder) followAlias(n *yaml.Node) *yaml.Node {
	for range maxMerges {
		if !d.mayGoOn(n) {
			return nil
		}
		if n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	d.addProblem(n, "", "aliases (*name) lead to each other too often", "write the value itself")
	return nil
}

// decodeSection decodes a mapping into a struct. prefix is the dotted path with its last dot.
func (d *decoder) decodeSection(v reflect.Value, n *yaml.Node, prefix string) {
	defer d.enterPath(strings.TrimSuffix(prefix, "."))()
	pairs := d.listPairs(n, 0)
	given := make(map[string]bool, len(pairs))
	for _, p := range pairs {
		given[p.key.Value] = true
	}
	for _, p := range pairs {
		f, ok := fieldOf(v.Type(), p.key.Value)
		switch {
		case !ok:
			d.reportUnknown(v.Type(), p, prefix)
		case f.name != p.key.Value && given[f.name]:
			// The proper spelling is there too, and wins.
		default:
			d.decodeValue(f.valueIn(v), f, p.value, prefix+f.name)
			f.shareValue(v)
		}
	}
}

// listPairs lists the keys of a mapping: merged ones (<<) first, unless the mapping has them
// itself.
func (d *decoder) listPairs(n *yaml.Node, depth int) []pair {
	var own, merged []pair
	at := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !d.mayGoOn(key) {
			break
		}
		switch {
		case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
			merged = append(merged, d.mergedPairs(value, depth+1)...)
		case key.Kind != yaml.ScalarNode:
			d.addProblem(key, "", "a key must be plain text", "")
		default:
			if before, twice := at[key.Value]; twice {
				d.problemAt(canonicalKey(d.at, key.Value), key, key.Value, "written twice:", fmt.Sprintf("keep one; the other is in line %d", own[before].key.Line))
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
	n = d.followAlias(n)
	switch {
	case n == nil:
		return nil
	case depth > maxMerges:
		d.addProblem(n, "", "<< is nested too deeply", "write the keys themselves")
		return nil
	case n.Kind == yaml.MappingNode:
		return d.listPairs(n, depth)
	case n.Kind == yaml.SequenceNode:
		var out []pair
		for _, item := range n.Content {
			out = append(out, d.mergedPairs(item, depth+1)...)
		}
		return out
	default:
		d.addProblem(n, n.Value, "<< wants a mapping, found", "")
		return nil
	}
}

func (d *decoder) reportUnknown(t reflect.Type, p pair, prefix string) {
	name := p.key.Value
	if target, ok := moved[prefix+name]; ok {
		path, f, _ := resolveKey(configType, target)
		d.decodeValue(d.findField(path), f, p.value, target)
		return
	}
	if belongsToPython(t.Name(), name) {
		if d.unused != nil && !strings.HasPrefix(name, "_") { // _config_version and its like are no settings
			d.unused[prefix+name] = place{d.file, p.key.Line, p.key.Column}
		}
		return
	}
	why := d.noteProblem(p.key, name, "unknown key", d.hintFor(t, name, prefix))
	for _, path := range meantSettings(t, name, prefix) {
		d.doubts = append(d.doubts, doubt{path, why})
	}
	if strings.HasPrefix(prefix, ofServers) && strings.HasSuffix(prefix, ".permissions.") {
		d.doubts = append(d.doubts, doubt{prefix + name, why})
	}
}

func (d *decoder) hintFor(t reflect.Type, name, prefix string) string {
	if path, _, ok := resolveKey(configType, strings.TrimPrefix(name, prefix)); ok && prefix != "" && len(path) == 1 {
		return "it belongs to the top level, not under " + strings.TrimSuffix(prefix, ".")
	}
	if _, _, ok := resolveKey(configType, prefix+name); ok && strings.Contains(name, ".") {
		return fmt.Sprintf("write a line for each part: %q, and below it %q", strings.ReplaceAll(name[:strings.LastIndexByte(name, '.')], ".", ": ")+":", name[strings.LastIndexByte(name, '.')+1:]+":")
	}
	for _, k := range Schema() {
		if strings.HasSuffix(k.Name, "."+name) && !strings.Contains(k.Name, "<") {
			return fmt.Sprintf("it belongs under %s: %s", strings.TrimSuffix(k.Name, "."+name), k.Name)
		}
	}
	var names []string
	for _, f := range fieldsOf(t) {
		names = append(names, append([]string{f.name}, f.also...)...)
	}
	if near := nearestMeant(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "`hermes config show --all` lists every key"
}

// canonicalKey is the dotted path of a key, in the spelling of the schema.
func canonicalKey(section, key string) string {
	path := strings.TrimPrefix(section+"."+key, ".")
	if parts, _, ok := resolveKey(configType, path); ok {
		return strings.Join(parts, ".")
	}
	return path
}

// findField walks from the root to the struct field at path; map names cannot be in it.
func (d *decoder) findField(path []string) reflect.Value {
	v := d.root
	for _, name := range path {
		f, _ := fieldOf(v.Type(), name)
		v = f.valueIn(v)
	}
	return v
}

// decodeValue decodes n into v and reports whether v has a usable value now.
func (d *decoder) decodeValue(v reflect.Value, f field, n *yaml.Node, path string) bool {
	defer d.enterPath(path)()
	n = d.followAlias(n)
	if n == nil {
		return false
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.structOrShort(v, n, path)
	case reflect.Map:
		return d.decodeMapping(v, f, n, path)
	case reflect.Slice:
		return d.decodeList(v, f, n, path)
	default:
		return d.decodeScalar(v, f, n, path)
	}
}

func (d *decoder) structOrShort(v reflect.Value, n *yaml.Node, path string) bool {
	if n.Kind == yaml.MappingNode {
		d.decodeSection(v, n, path+".")
		return true
	}
	if isNull(n) {
		return true
	}
	if f, ok := shortField(v.Type()); ok && n.Kind == yaml.ScalarNode {
		defer f.shareValue(v)
		return d.decodeValue(f.valueIn(v), f, n, path+"."+f.name)
	}
	d.addProblem(n, n.Value, "expected keys below "+path+", found "+kindName(n), "")
	return false
}

var backendName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`) })

func (d *decoder) decodeMapping(v reflect.Value, f field, n *yaml.Node, path string) bool {
	elem := f.typ.Elem()
	pairs, ok := d.namedEntries(n, elem, path)
	if !ok {
		return false
	}
	if v.IsNil() && len(pairs) > 0 {
		v.Set(reflect.MakeMapWithSize(v.Type(), len(pairs)))
	}
	for _, p := range pairs {
		name := reflect.ValueOf(p.key.Value)
		if elem == reflect.TypeFor[Backend]() && !backendName().MatchString(p.key.Value) {
			d.addProblem(p.key, p.key.Value, "not a name for a back end:", "use up to 32 of a-z, 0-9, dash and underscore")
			continue
		}
		if elem == reflect.TypeFor[Plugin]() && belongsToPython("Plugins", p.key.Value) && p.value.Kind != yaml.MappingNode {
			d.unused[path+"."+p.key.Value] = place{d.file, p.key.Line, p.key.Column}
			continue
		}
		item := reflect.New(elem).Elem()
		if old := v.MapIndex(name); old.IsValid() {
			item.Set(old)
		}
		// A back end that cannot be read is there all the same: what asks for it must not get
		// another one.
		if d.decodeValue(item, f.leafField(elem), p.value, path+"."+p.key.Value) || elem == reflect.TypeFor[Backend]() {
			v.SetMapIndex(name, item)
		}
	}
	d.markPlace(path, n)
	return true
}

// namedEntries returns the entries of a mapping. Where the entries have fields of their own, a list
// of names will do.
func (d *decoder) namedEntries(n *yaml.Node, elem reflect.Type, path string) ([]pair, bool) {
	switch {
	case n.Kind == yaml.MappingNode:
		return d.listPairs(n, 0), true
	case isNull(n):
		return nil, true
	case n.Kind == yaml.SequenceNode && elem == reflect.TypeFor[ModelLimit]():
		var out []pair
		for _, item := range n.Content {
			if item = d.followAlias(item); item != nil && item.Kind == yaml.ScalarNode {
				out = append(out, pair{item, &yaml.Node{Kind: yaml.MappingNode, Line: item.Line, Column: item.Column}})
			}
		}
		return out, true
	default:
		d.addProblem(n, n.Value, "expected names below "+path+", found "+kindName(n), "")
		return nil, false
	}
}

func (d *decoder) decodeList(v reflect.Value, f field, n *yaml.Node, path string) bool {
	items := n.Content
	switch {
	case isNull(n):
		items = nil
	case n.Kind == yaml.ScalarNode, n.Kind == yaml.MappingNode && f.typ.Elem().Kind() == reflect.Struct:
		items = []*yaml.Node{n}
	case n.Kind != yaml.SequenceNode:
		d.addProblem(n, n.Value, "expected a list for "+path+", found "+kindName(n), "write - item lines, or [a, b]")
		return false
	}
	d.inList = true
	defer func() { d.inList = false }()
	out := reflect.MakeSlice(v.Type(), 0, len(items))
	for _, item := range items {
		one := reflect.New(f.typ.Elem()).Elem()
		if d.decodeValue(one, f.leafField(f.typ.Elem()), item, path) {
			out = reflect.Append(out, one)
		}
	}
	v.Set(out)
	d.markPlace(path, n)
	return true
}

func (d *decoder) decodeScalar(v reflect.Value, f field, n *yaml.Node, path string) bool {
	if n.Kind != yaml.ScalarNode {
		d.addProblem(n, "", fmt.Sprintf("expected one value (%s) for %s, found %s", typeName(v.Type()), path, kindName(n)), "")
		return false
	}
	text, replaced := d.env.expandText(n.Value)
	if isNull(n) {
		fallback, ok := f.tag.Lookup("null")
		if !ok {
			return d.decodeEmpty(v, f, n)
		}
		text = fallback
	}
	if d.garbled && f.isRestricting() && strings.ContainsRune(text, utf8.RuneError) {
		d.addProblem(n, quotableText(f, n), "not UTF-8 text:", "save the file as UTF-8")
		return false
	}
	if bad := d.findMistyped(v, f, n, replaced); bad != nil {
		d.addProblem(n, quotableText(f, n), bad.why, bad.fix)
		return false
	}
	if len(text) > maxValue {
		d.addProblem(n, "", path+" is too long", fmt.Sprintf("write less than %d KiB", maxValue>>10))
		return false
	}
	if bad := setScalar(v, f, text); bad != nil {
		d.addProblem(n, quotableText(f, n), bad.why, bad.fix)
		return false
	}
	d.markPlace(path, n)
	return true
}

// decodeEmpty takes a key without a value: nothing was said. Where that could mean anything, it
// is a problem.
func (d *decoder) decodeEmpty(v reflect.Value, f field, n *yaml.Node) bool {
	if f.isRestricting() && (d.inList || v.Kind() != reflect.String || f.tag.Get("oneof") != "") {
		d.addProblem(n, "", "there is no value for "+d.at, "write one, or remove the key")
	}
	return false
}

// findMistyped catches numbers in quotes, and a bare true where text is meant.
func (d *decoder) findMistyped(v reflect.Value, f field, n *yaml.Node, replaced bool) *badValue {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
	switch {
	case quoted && !replaced && v.Kind() != reflect.String && v.Type() != durationType && v.Type() != sizeType:
		return &badValue{"expected " + typeArticle(v.Type()) + ", found the text", "write it without quotes"}
	case v.Kind() == reflect.String && n.Tag == "!!bool" && f.tag.Get("oneof") == "" && !f.hasTag("scalar"):
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

// quotableText is what a problem may quote: never a secret.
func quotableText(f field, n *yaml.Node) string {
	if f.isSecret() {
		return ""
	}
	return n.Value
}

func (d *decoder) markPlace(path string, n *yaml.Node) {
	d.places[path] = place{d.file, n.Line, n.Column}
	d.set[path] = true
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
