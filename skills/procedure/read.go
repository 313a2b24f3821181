package procedure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"hermes/core/clip"
	"hermes/core/nearest"
	"hermes/skills"
)

// reader reads YAML nodes and notes what is wrong with them.
type reader struct {
	p    *Procedure
	seen int
}

const maxProblems = 100

func (r *reader) addFault(line int, key, why,
	fix string,
) {
	r.addProblem(line, key, why, fix, true)
}

func (r *reader) addWarning(line int, key, why, fix string) { r.addProblem(line, key, why, fix, false) }

func (r *reader) addProblem(line int, key, why, fix string, fatal bool) {
	if len(r.p.Problems) < maxProblems {
		r.p.Problems = append(r.p.Problems, skills.Problem{File: r.p.File, Line: line, Key: key, Why: why, Fix: fix, Fatal: fatal})
	}
}

// table says how each key of a mapping is read.
type table map[string]func(key string, v *yaml.Node)

// readKeys reads a mapping by a table and returns the keys that stand in it.
func (r *reader) readKeys(key string, n *yaml.Node, t table) map[string]bool {
	given := map[string]bool{}
	r.eachPair(key, n, func(full string, k, v *yaml.Node) {
		read, ok := t[k.Value]
		if !ok {
			r.addFault(k.Line, full, "there is no such key", r.meantKey(k.Value, t))
			return
		}
		given[k.Value] = true
		read(full, v)
	})
	return given
}

// meantKey is what somebody may have meant by a key.
func (r *reader) meantKey(got string, t table) string {
	names := slices.Sorted(maps.Keys(t))
	if near, ok := nearest.Name(got, names); ok {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "the keys here are " + strings.Join(names, ", ")
}

// eachPair calls f for each pair of a mapping whose keys are plain.
func (r *reader) eachPair(key string, n *yaml.Node, f func(full string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.addFault(n.Line, key, "a list of key: value lines is wanted here, and this is "+kindOf(n), "")
		return
	}
	before := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		full := strings.TrimPrefix(key+"."+k.Value, ".")
		switch {
		case !r.countNodes(k):
			return
		case k.Kind != yaml.ScalarNode || k.Tag == "!!merge" || v.Kind == yaml.AliasNode || v.Anchor != "":
			r.addFault(k.Line, full, "anchors, aliases and merged keys are not read", "write the value out")
		case before[k.Value] > 0:
			r.addFault(k.Line, full, fmt.Sprintf("it stands in line %d already", before[k.Value]), "remove one of them")
		default:
			before[k.Value] = k.Line
			f(full, k, v)
		}
	}
}

// countNodes reports whether more may be looked at.
func (r *reader) countNodes(n *yaml.Node) bool {
	if r.seen++; r.seen == maxNodes {
		r.addFault(n.Line, "", fmt.Sprintf("it holds more than %d values", maxNodes), "split it")
	}
	return r.seen < maxNodes
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a list of key: value lines"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Tag == "!!null":
		return "empty"
	default:
		return fmt.Sprintf("%q", clip.Runes(n.Value, 60, "…"))
	}
}

// scalarText returns the text of a value that stands alone.
func (r *reader) scalarText(key string, v *yaml.Node) (string, bool) {
	switch {
	case v.Kind != yaml.ScalarNode || v.Tag == "!!null" || strings.TrimSpace(v.Value) == "":
		r.addFault(v.Line, key, "a text is wanted here, and this is "+kindOf(v), "")
		return "", false
	case len(v.Value) > maxText:
		r.addFault(v.Line, key, fmt.Sprintf("the text has %d bytes, at most %d are read", len(v.Value), maxText), "shorten it")
		return "", false
	}
	return v.Value, true
}

func (r *reader) readText(dst *string) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		if s, ok := r.scalarText(key, v); ok {
			*dst = strings.TrimSpace(s)
		}
	}
}

// readWord reads one of some words.
func (r *reader) readWord(dst *string, allowed ...string) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		s, ok := r.scalarText(key, v)
		if !ok {
			return
		}
		if *dst = strings.TrimSpace(s); !slices.Contains(allowed, *dst) {
			fix := "write " + strings.Join(allowed, ", or ")
			if near, ok := nearest.Name(*dst, allowed); ok {
				fix = "did you mean " + near + "?"
			}
			r.addFault(v.Line, key, fmt.Sprintf("%q is none of the words that can stand here", clip.Runes(*dst, 60, "…")), fix)
		}
	}
}

// coreBooleans are those of YAML 1.2.
var coreBooleans = map[string]bool{
	"true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false,
}

func (r *reader) readBool(dst *bool) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		is, word := coreBooleans[v.Value] // a tag makes none of another word: !!bool yes
		if v.Kind != yaml.ScalarNode || v.Tag != "!!bool" || !word {
			what := kindOf(v)
			if v.Kind == yaml.ScalarNode && v.Tag == "!!bool" {
				what = fmt.Sprintf("%q", clip.Runes(v.Value, 60, "…"))
			}
			r.addFault(v.Line, key, "true or false is wanted here, and this is "+what,
				"write true or false")
			return
		}
		*dst = is
	}
}

func (r *reader) readInt(dst *int, least, most int) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		n, err := strconv.Atoi(v.Value)
		switch {
		case v.Kind != yaml.ScalarNode || v.Tag != "!!int" || err != nil:
			r.addFault(v.Line, key, "a whole number is wanted here, and this is "+kindOf(v), "")
		case n < least || n > most:
			r.addFault(v.Line, key, fmt.Sprintf("%d is out of bounds", n), fmt.Sprintf("write %d to %d", least, most))
		default:
			*dst = n
		}
	}
}

const longest = 24 * time.Hour

// readDuration reads a length of time: seconds, or 90s, 5m.
func (r *reader) readDuration(dst *time.Duration) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		d, err := time.ParseDuration(v.Value)
		if n, bad := strconv.ParseFloat(v.Value, 64); bad == nil {
			d, err = time.Duration(min(n, 1e6)*float64(time.Second)), nil
		}
		switch {
		case v.Kind != yaml.ScalarNode || err != nil:
			r.addFault(v.Line, key, "a length of time is wanted here, and this is "+kindOf(v), "write seconds, or 90s, or 5m")
		case d < time.Second || d > longest:
			r.addFault(v.Line, key, fmt.Sprintf("%s is out of bounds", v.Value), "write 1s to 24h")
		default:
			*dst = d
		}
	}
}

// readWords is a list of texts.
func (r *reader) readWords(dst *[]string) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		r.eachItem(key, v, func(key string, item *yaml.Node) {
			if s, ok := r.scalarText(key, item); ok {
				*dst = append(*dst, strings.TrimSpace(s))
			}
		})
	}
}

// eachItem calls f for each item of a list.
func (r *reader) eachItem(key string, v *yaml.Node, f func(key string, item *yaml.Node)) {
	if v.Kind != yaml.SequenceNode {
		r.addFault(v.Line, key, "a list is wanted here, and this is "+kindOf(v), "write [one, two], or a line with - for each")
		return
	}
	for i, item := range v.Content {
		if !r.countNodes(item) {
			return
		}
		f(fmt.Sprintf("%s[%d]", key, i+1), item)
	}
}

// maxName is how many characters a name has at most.
const maxName = 64

// isKeyName says whether s is a name: a letter or _, then letters, digits, _ and -. As a regular
// expression this is 64 copies of the tables of all letters: two megabytes at every start.
func isKeyName(s string) bool {
	n := 0
	for _, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (n == 0 || c != '-' && !unicode.IsNumber(c)) {
			return false
		}
		n++
	}
	return n > 0 && n <= maxName
}

// readName reads a name that others refer to by ${name}.
func (r *reader) readName(dst *string) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		s, ok := r.scalarText(key, v)
		switch {
		case !ok:
		case !isKeyName(s):
			r.addFault(v.Line, key, fmt.Sprintf("%q cannot be a name", clip.Runes(s, 60, "…")), "write letters, digits and _, a letter first")
		case s == "memory" || s == "error" || s == "this":
			r.addFault(v.Line, key, s+" means something else already", "choose another name")
		default:
			*dst = s
		}
	}
}

// readValue reads anything: what ${...} and {{...}} in it mean is known when it is used.
func (r *reader) readValue(key string, v *yaml.Node, depth int) any {
	switch {
	case !r.countNodes(v):
		return nil
	case depth > maxDepth:
		r.addFault(v.Line, key, "it is nested too deeply", "")
		return nil
	case v.Kind == yaml.MappingNode:
		out := map[string]any{}
		r.eachPair(key, v, func(full string, k,
			v *yaml.Node,
		) {
			out[k.Value] = r.readValue(full, v, depth+1)
		})
		return out
	case v.Kind == yaml.SequenceNode:
		out := []any{}
		r.eachItem(key, v, func(key string, item *yaml.Node) { out = append(out, r.readValue(key, item, depth+1)) })
		return out
	case v.Kind == yaml.ScalarNode && v.Tag == "!!str":
		return r.parseTemplate(key, v, inValue)
	case v.Kind == yaml.ScalarNode:
		var out any
		if err := v.Decode(&out); err != nil {
			r.addFault(v.Line, key, "it cannot be read: "+err.Error(), "put it in quotes")
		}
		if t, ok := out.(time.Time); ok {
			return cmp.Or(v.Value, t.String())
		}
		return out
	default:
		r.addFault(v.Line, key, "aliases are not read", "write the value out")
		return nil
	}
}

// firstLine is the line of the file in which the text of a scalar begins.
func firstLine(v *yaml.Node) int {
	if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return v.Line + 1
	}
	return v.Line
}
