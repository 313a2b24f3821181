package config

import (
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// field is one key of a struct, as its tags describe it.
type field struct {
	name  string   // the YAML key
	also  []string // other spellings that are accepted
	index int
	typ   reflect.Type
	tag   reflect.StructTag

	kind  string  // the kind of back end whose key it is; "": everybody's
	own   int     // index of the field of type Own, when kind is set
	part  any     // the kind's struct with its defaults
	twins []field // the same key of other kinds
}

func (f field) hasTag(option string) bool { return f.tag.Get(option) == "yes" }
func (f field) isLive() bool              { return f.hasTag("live") }
func (f field) isSecret() bool            { return f.hasTag("secret") }

// leafField is the field of a value that stands alone: a list item, a map value.
func (f field) leafField(t reflect.Type) field {
	f.typ = t
	return f
}

// listed is what fields found, by type, and the schema; a kind that comes or goes empties it.
var listed sync.Map

// fieldsOf returns the keys of a struct type in declaration order. The list is not to be changed.
func fieldsOf(t reflect.Type) []field {
	if list, ok := listed.Load(t); ok {
		return list.([]field)
	}
	list := readFields(t)
	listed.Store(t, list)
	return list
}

func readFields(t reflect.Type) []field {
	out := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Type == ownType {
			out = append(out, ownFields(i, sf.Tag.Get("own"))...)
			continue
		}
		name := sf.Tag.Get("key")
		if name == "" {
			continue
		}
		f := field{name: name, index: i, typ: sf.Type, tag: sf.Tag}
		if also := sf.Tag.Get("also"); also != "" {
			f.also = strings.Split(also, ",")
		}
		out = append(out, f)
	}
	return out
}

// fieldOf finds a key of a struct type under any of its spellings.
func fieldOf(t reflect.Type, key string) (field, bool) {
	for _, f := range fieldsOf(t) {
		if f.name == key {
			return f, true
		}
		if slices.Contains(f.also, key) {
			return f, true
		}
	}
	return field{}, false
}

// shortField is the key that a plain scalar in place of a mapping sets.
func shortField(t reflect.Type) (field, bool) {
	for _, f := range fieldsOf(t) {
		if f.hasTag("short") {
			return f, true
		}
	}
	return field{}, false
}

var (
	configType   = reflect.TypeFor[Config]()
	durationType = reflect.TypeFor[time.Duration]()
)

// Key describes one setting, for listings, completion and documents.
type Key struct {
	Name    string // dotted, <name> stands for a name of the person's choice
	Type    string // "text", "whole number", "number", "yes or no", "length of time", "size", "list", "mapping"
	Choices []string
	Default string
	Live    bool // takes effect while the program runs
	Secret  bool
	Later   bool // accepted and checked, but nothing uses it in this version
	Doc     string
}

// Schema lists every setting in declaration order. The list is not to be changed.
func Schema() []Key {
	if keys, ok := listed.Load(schemaOf{}); ok {
		return keys.([]Key)
	}
	var keys []Key
	describeKeys(configType, reflect.ValueOf(*Defaults()), "", &keys)
	listed.Store(schemaOf{}, keys)
	return keys
}

// schemaOf is where listed holds the whole schema.
type schemaOf struct{}

func describeKeys(t reflect.Type, v reflect.Value, prefix string, keys *[]Key) {
	for _, f := range fieldsOf(t) {
		name := prefix + f.name
		value := f.valueIn(v)
		switch {
		case f.typ.Kind() == reflect.Struct:
			describeKeys(f.typ, value, name+".", keys)
		case f.typ.Kind() == reflect.Map && f.typ.Elem().Kind() == reflect.Struct:
			describeKeys(f.typ.Elem(), reflect.Zero(f.typ.Elem()), name+".<name>.", keys)
		default:
			k := describeKey(name, f)
			k.Default = renderValue(value)
			*keys = append(*keys, k)
		}
	}
}

// describeKey is a setting without its default.
func describeKey(name string, f field) Key {
	return Key{
		Name: name, Type: typeName(f.typ), Choices: choicesOf(f),
		Live: f.isLive(), Secret: f.isSecret(), Later: f.hasTag("later"), Doc: f.docText(),
	}
}

// KeyCalled finds a setting by its dotted key, in any spelling that the file may use: model,
// display.skin, terminal.backends.mine.kind. It tells no default.
func KeyCalled(key string) (Key, bool) {
	path, f, ok := resolveKey(configType, key)
	if !ok {
		return Key{}, false
	}
	path, f = lengthenKey(path, f)
	return describeKey(strings.Join(path, "."), f), true
}

func typeName(t reflect.Type) string {
	switch {
	case t == durationType:
		return "length of time"
	case t == sizeType:
		return "size"
	case t.Kind() == reflect.Bool:
		return "yes or no"
	case t.Kind() == reflect.Int:
		return "whole number"
	case t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.Map, t.Kind() == reflect.Struct:
		return "mapping"
	default:
		return "text"
	}
}

func choicesOf(f field) []string {
	switch list := f.tag.Get("oneof"); list {
	case "":
		return nil
	case "kinds":
		return append([]string{""}, kindNames()...)
	default:
		return strings.Split(list, "|")
	}
}

// docText is what the key is for, with the names of the kinds in it.
func (f field) docText() string {
	doc := f.tag.Get("doc")
	if !strings.Contains(doc, "{") {
		return doc
	}
	var signs []string
	for _, k := range Kinds() {
		if k.ImpliedBy != "" {
			signs = append(signs, k.Name+" with "+k.ImpliedBy)
		}
	}
	names := strings.NewReplacer("{kinds}", strings.Join(kindNames(), ", "), "{signs}", strings.Join(signs, ", "))
	return names.Replace(doc)
}

// resolveKey finds the field that a dotted key names. The path has the canonical spelling of each
// part; map names are kept as they are, dots included: keys.conversation.send,
// providers.x.models.gpt-4.1.price_in.
func resolveKey(t reflect.Type, key string) (path []string, f field, ok bool) {
	head, rest, more := strings.Cut(key, ".")
	f, ok = fieldOf(t, head)
	if !ok {
		return nil, field{}, false
	}
	path = []string{f.name}
	switch {
	case !more:
		return path, f, true
	case f.typ.Kind() == reflect.Struct:
		sub, leaf, ok := resolveKey(f.typ, rest)
		return append(path, sub...), leaf, ok
	case f.typ.Kind() == reflect.Map:
		sub, leaf, ok := resolveMap(f, rest)
		return append(path, sub...), leaf, ok
	default:
		return nil, field{}, false
	}
}

// resolveMap splits rest into a map name and what follows it, at the first dot where both make
// sense.
func resolveMap(f field, rest string) ([]string, field, bool) {
	elem := f.typ.Elem()
	if rest == "" {
		return nil, field{}, false
	}
	if elem.Kind() != reflect.Struct {
		return []string{rest}, f.leafField(elem), true
	}
	for i := 1; i < len(rest)-1; i++ {
		if rest[i] != '.' {
			continue
		}
		if sub, leaf, ok := resolveKey(elem, rest[i+1:]); ok {
			return append([]string{rest[:i]}, sub...), leaf, true
		}
	}
	return []string{rest}, f.leafField(elem), true
}

// sortedKeys returns the keys of a string map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
