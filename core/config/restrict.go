package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
)

// Area is what is refused while a setting that restricts it cannot be read. The tag refuses of a
// setting names one; the tag strict names a value instead, which holds then, and everything goes
// on.
type Area string

// The areas that settings restrict.
const (
	Commands Area = "commands" // every command, wherever it would run
	Local    Area = "local"    // commands on this machine
	InPlace  Area = "place"    // commands of the back end that the setting is about
	Scripts  Area = "scripts"  // execute_code
	Writes   Area = "writes"   // the tools that write files
	Reach    Area = "web"      // the tools that read the web
	Known    Area = "skills"   // skills
	AllTools Area = "tools"    // every tool
	Hooked   Area = "hooks"    // what a hook may refuse: every tool
)

var areaTexts = map[Area]string{
	Commands: "no command runs", Local: "no command runs on this machine", InPlace: "no command runs in that back end",
	Scripts: "no script runs", Writes: "the file tools write nothing", Reach: "the web tools read nothing",
	Known: "no skill is used", AllTools: "no tool of the agent runs", Hooked: "no tool of the agent runs",
}

// Restriction is a setting that must not be lost without a word.
type Restriction struct {
	Key     string // dotted, <name> stands for a name of the person's choice
	Refuses Area   // "" when Strict holds instead
	Strict  string // the value that holds while the setting cannot be read
	Type    string // as in Key.Type
}

// Restrictions lists every setting that restricts something, in declaration order.
func Restrictions() []Restriction { return slices.Clone(allRestrictions()) }

// known is what the settings and the kinds that are registered restrict; a kind that comes or goes
// empties it.
var known atomic.Pointer[[]Restriction]

func allRestrictions() []Restriction {
	if list := known.Load(); list != nil {
		return *list
	}
	var out []Restriction
	collectRestrictions(configType, "", &out)
	known.Store(&out)
	return out
}

func collectRestrictions(t reflect.Type, prefix string, out *[]Restriction) {
	for _, f := range fieldsOf(t) {
		key := prefix + f.name
		if f.isRestricting() {
			r := Restriction{Key: key, Refuses: Area(f.tag.Get("refuses")), Strict: f.tag.Get("strict"), Type: typeName(f.typ)}
			*out = append(*out, r)
		}
		switch {
		case f.typ.Kind() == reflect.Struct:
			collectRestrictions(f.typ, key+".", out)
		case f.typ.Kind() == reflect.Map && f.typ.Elem().Kind() == reflect.Struct:
			collectRestrictions(f.typ.Elem(), key+".<name>.", out)
		}
	}
}

func (f field) isRestricting() bool {
	_, strict := f.tag.Lookup("strict")
	return strict || f.tag.Get("refuses") != ""
}

// markUnread notes that what stands at path, a dotted key or a section ("" for all), could not be
// read: every setting there that restricts something is in doubt.
func (c *Config) markUnread(path string, p Problem) {
	if c.doubts == nil {
		c.doubts = map[string]Problem{}
	}
	for _, key := range doubtedSettings(path) {
		if _, known := c.doubts[key]; !known {
			c.doubts[key] = p
		}
	}
}

const ofBackends = "terminal.backends."

// doubtedSettings lists the settings that restrict something at path, above and below it.
func doubtedSettings(path string) []string {
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, ofBackends), ".")
	named := strings.HasPrefix(path, ofBackends)
	if named && rest == "" {
		return []string{path}
	}
	var out []string
	for _, r := range allRestrictions() {
		key := r.Key
		if below, of := strings.CutPrefix(key, ofBackends+"<name>."); of {
			if key = ofBackends + name + "." + below; !named {
				continue // the map as a whole is in doubt, or nothing
			}
		} else if named {
			continue
		}
		if path == "" || path == key || strings.HasPrefix(key, path+".") || strings.HasPrefix(path, key+".") {
			out = append(out, key)
		}
	}
	return out
}

// meantSettings lists the settings that a person may have meant by an unknown key of a section.
func meantSettings(t reflect.Type, name, prefix string) []string {
	if strings.Contains(name, ".") {
		return meantByDots(prefix + name)
	}
	var names []string
	for _, f := range fieldsOf(t) {
		names = append(append(names, f.name), f.also...)
	}
	if near := nearestMeant(name, names); near != "" {
		f, _ := fieldOf(t, near)
		return []string{prefix + f.name}
	}
	var out []string
	for _, r := range allRestrictions() {
		leaf := r.Key[strings.LastIndexByte(r.Key, '.')+1:]
		switch {
		case !strings.Contains(r.Key, "<"):
			if leaf == name || len(name) > 4 && nearestMeant(name, []string{leaf}) != "" {
				out = append(out, r.Key)
			}
		case leaf == name && prefix == "terminal.": // one level too high: nobody knows whose it is
			out = append(out, strings.TrimSuffix(ofBackends, "."))
		}
	}
	return out
}

// meantByDots lists the settings that a key means which is a path of its own: terminal.sandbox.
func meantByDots(path string) (out []string) {
	for _, r := range allRestrictions() {
		switch stem, _, named := strings.Cut(r.Key, ".<"); {
		case named && strings.HasPrefix(path, stem+"."):
			out = append(out, stem)
		case !named && (r.Key == path || strings.HasPrefix(r.Key, path+".") || nearestMeant(path, []string{r.Key}) != ""):
			out = append(out, r.Key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// restrictDoubted puts the strictest value in place of settings that are in doubt, and says in each
// problem what it leads to.
func (c *Config) restrictDoubted(problems []Problem) {
	restrictions := map[string]Restriction{}
	for _, r := range allRestrictions() {
		restrictions[r.Key] = r
	}
	refused, tightened := map[Problem][]string{}, map[Problem][]string{}
	for _, key := range c.inDoubt() {
		p := c.doubts[key]
		if area := c.refusedArea(key); area != "" {
			refused[p] = append(refused[p], areaTexts[area])
			continue
		}
		strict := restrictions[key].Strict
		c.setStrictest(key, strict, p)
		tightened[p] = append(tightened[p], key+" is "+cmp.Or(strict, "empty"))
	}
	for i, p := range problems {
		problems[i].Until = describeConsequences(refused[p], tightened[p])
	}
}

// describeConsequences says in one line what is refused and which values hold.
func describeConsequences(refused, values []string) string {
	slices.Sort(refused)
	refused = slices.Compact(refused)
	if slices.Contains(refused, areaTexts[Commands]) {
		refused = slices.DeleteFunc(refused, func(s string) bool { return s == areaTexts[Local] || s == areaTexts[InPlace] })
	}
	if len(values) > 3 {
		values = []string{fmt.Sprintf("%d settings have their strictest value", len(values))}
	}
	return strings.Join(append(refused, values...), ", ")
}

// refusedArea is what the setting at a key in doubt refuses.
func (c *Config) refusedArea(key string) Area {
	if strings.HasPrefix(key, ofBackends) {
		return InPlace
	}
	_, f, _ := resolveKey(configType, key)
	return Area(f.tag.Get("refuses"))
}

// setStrictest gives a setting its strictest value.
func (c *Config) setStrictest(key, value string, p Problem) {
	path, f, _ := resolveKey(configType, key)
	v := (&decoder{root: reflect.ValueOf(c).Elem()}).findField(path)
	if f.typ.Kind() == reflect.Slice {
		v.SetZero()
	} else {
		_ = setScalar(v, f, value) // the tests see to it that it is a value
	}
	c.places[key] = place{file: fmt.Sprintf("the strictest value, since %s cannot be read", place{file: p.File, line: p.Line})}
}

// inDoubt lists the keys that could not be read, in the order of the file.
func (c *Config) inDoubt() []string {
	keys := sortedKeys(c.doubts)
	sort.SliceStable(keys, func(i, j int) bool { return c.doubts[keys[i]].Line < c.doubts[keys[j]].Line })
	return keys
}

// Refused says why something must not be done: a setting that restricts it cannot be read. Nil:
// nothing stands against it.
func (c *Config) Refused(areas ...Area) error {
	for _, key := range c.inDoubt() {
		if area := c.refusedArea(key); area != InPlace && slices.Contains(areas, area) {
			return errors.New(c.refusalText(key))
		}
	}
	return nil
}

// refusedPlace is why the back end of a name and a kind runs nothing, "" when it may.
func (c *Config) refusedPlace(name, kind string, isDefault bool) string {
	k, _ := KindNamed(kind)
	for _, key := range c.inDoubt() {
		of := ofBackends + name
		switch area := c.refusedArea(key); {
		case area == Commands, area == Local && k.Traits.Local, key == of, strings.HasPrefix(key, of+"."),
			area == InPlace && !strings.HasPrefix(key, ofBackends) && isDefault && !k.Traits.Local:
			return c.refusalText(key)
		}
	}
	return ""
}

// refusalText names the place, the key, what is refused and what to do.
func (c *Config) refusalText(key string) string {
	p := c.doubts[key]
	p.Until = ""
	return fmt.Sprintf("%s [%s cannot be read; until it is mended %s: `hermes config edit` opens the file, `hermes config check` says what is still wrong]",
		p, key, areaTexts[c.refusedArea(key)])
}
