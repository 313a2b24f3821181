package config

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
)

// Value is one setting in effect.
type Value struct {
	Key    string `json:"key"`   // dotted
	Value  string `json:"value"` // as it would stand in the file; secrets are masked
	Origin string `json:"origin"`
	Live   bool   `json:"live"`

	secret string // what Value hides
}

const masked = "********"

// Values lists every setting, sorted as the schema is, map entries by name.
func (c *Config) Values() []Value {
	var out []Value
	c.collectValues(reflect.ValueOf(c).Elem(), "", &out)
	return out
}

func (c *Config) collectValues(v reflect.Value, prefix string, out *[]Value) {
	for _, f := range fieldsOf(v.Type()) {
		key, value := prefix+f.name, f.valueIn(v)
		switch {
		case f.typ.Kind() == reflect.Struct:
			c.collectValues(value, key+".", out)
		case f.typ.Kind() == reflect.Map && f.typ.Elem().Kind() == reflect.Struct:
			for _, name := range mapKeys(value) {
				c.collectValues(value.MapIndex(reflect.ValueOf(name)), key+"."+name+".", out)
			}
		case f.typ.Kind() == reflect.Map:
			for _, name := range mapKeys(value) {
				*out = append(*out, c.oneValue(f, key+"."+name, value.MapIndex(reflect.ValueOf(name))))
			}
		default:
			*out = append(*out, c.oneValue(f, key, value))
		}
	}
}

func (c *Config) oneValue(f field, key string, v reflect.Value) Value {
	out := Value{Key: key, Value: renderValue(v), Origin: c.Origin(key), Live: f.isLive()}
	if f.isSecret() && out.Value != "" && out.Value != "[]" {
		out.Value, out.secret = masked, out.Value
	}
	return out
}

func mapKeys(v reflect.Value) []string {
	keys := make([]string, 0, v.Len())
	for _, k := range v.MapKeys() {
		keys = append(keys, k.String())
	}
	sort.Strings(keys)
	return keys
}

// Get returns the settings at or below a dotted key, in any spelling that the file may use.
func (c *Config) Get(key string) ([]Value, error) {
	path, _, ok := resolveKey(configType, key)
	if !ok {
		return nil, unknownKey(key)
	}
	name := strings.Join(path, ".")
	var out []Value
	for _, v := range c.Values() {
		if v.Key == name || strings.HasPrefix(v.Key, name+".") {
			out = append(out, v)
		}
	}
	return out, nil
}

func unknownKey(key string) error {
	return fmt.Errorf("unknown key %q: %s", key, suggestKey(key))
}

// suggestKey says what a dotted key may have meant.
func suggestKey(key string) string {
	var names []string
	for _, k := range Schema() {
		names = append(names, k.Name)
	}
	if near := nearestMeant(key, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return (&decoder{}).hintFor(configType, key[strings.LastIndexByte(key, '.')+1:], "")
}

// Changed compares two configs: dotted keys that differ, those that take effect now and those that
// wait for the next start.
func Changed(from, to *Config) (live, next []string) {
	before := map[string]Value{}
	for _, v := range from.Values() {
		before[v.Key] = v
	}
	note := func(v Value) {
		if v.Live {
			live = append(live, v.Key)
		} else {
			next = append(next, v.Key)
		}
	}
	for _, v := range to.Values() {
		old, was := before[v.Key]
		delete(before, v.Key)
		if !was || old.Value != v.Value || old.secret != v.secret {
			note(v)
		}
	}
	for _, key := range sortedKeys(before) {
		note(before[key])
	}
	return live, next
}
