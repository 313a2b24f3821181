package themes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is one thing wrong with a palette file.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 when unknown
	Why          string
}

// Error formats it as "file:line:column: why".
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Why
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Why)
}

type parser struct {
	file     string
	problems []error
}

// parse reads one palette without filling its gaps. file names it in problems. The error joins every Problem.
func parse(file string, data []byte) (Theme, error) {
	var doc yaml.Node
	p := parser{file: file}
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return Theme{}, Problem{File: file, Why: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	var t Theme
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return Theme{}, Problem{File: file, Line: 1, Column: 1, Why: "a theme is a mapping that starts with \"name: something\""}
	}
	p.top(doc.Content[0], &t)
	if t.Name == "" {
		p.problem(doc.Content[0], "name is missing: add \"name: something\"")
	}
	if t.Title == "" {
		t.Title = t.Name
	}
	t.File = file
	return t, errors.Join(p.problems...)
}

func (p *parser) problem(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, Problem{File: p.file, Line: n.Line, Column: n.Column, Why: fmt.Sprintf(format, args...)})
}

// top reads the top level of the file. "colors" is accepted beside "colours".
func (p *parser) top(m *yaml.Node, t *Theme) {
	keys := []string{"name", "title", "about", "dark", "paint", "chroma", "base", "colours"}
	p.each(m, func(k, v *yaml.Node) {
		switch k.Value {
		case "name":
			if p.text(v, &t.Name) && !validName(t.Name) {
				p.problem(v, "name %q: use letters, digits, - and _ only", t.Name)
			}
		case "title":
			p.text(v, &t.Title)
		case "about":
			p.text(v, &t.About)
		case "dark":
			p.truth(v, &t.Dark)
		case "paint":
			p.truth(v, &t.Paint)
		case "chroma":
			p.text(v, &t.Chroma)
		case "base":
			p.text(v, &t.Base)
		case "colours", "colors":
			p.colours(v, &t.Colours)
		default:
			p.problem(k, "unknown key %q%s", k.Value, meant(k.Value, keys))
		}
	})
}

func (p *parser) colours(m *yaml.Node, c *Colours) {
	if m.Kind != yaml.MappingNode {
		p.problem(m, "colours is a mapping of names to \"#rrggbb\"")
		return
	}
	tokens := c.tokens()
	names := make([]string, len(tokens))
	for i, t := range tokens {
		names[i] = t.name
	}
	p.each(m, func(k, v *yaml.Node) {
		i := slices.Index(names, k.Value)
		switch {
		case i < 0:
			p.problem(k, "unknown colour %q%s", k.Value, meant(k.Value, names))
		case v.Kind == yaml.ScalarNode && v.Tag == "!!null":
			p.problem(v, "colour %s is empty: an unquoted # starts a comment, write \"#rrggbb\"", k.Value)
		case v.Kind != yaml.ScalarNode || !validColour(v.Value):
			p.problem(v, "colour %s: %q is not of the form \"#rrggbb\"", k.Value, v.Value)
		default:
			*tokens[i].value = strings.ToLower(v.Value)
		}
	})
}

// each calls f for every pair of m, once a key.
func (p *parser) each(m *yaml.Node, f func(k, v *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		if line, twice := seen[k.Value]; twice {
			p.problem(k, "%q stands in line %d already", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		f(k, v)
	}
}

func (p *parser) text(n *yaml.Node, out *string) bool {
	if n.Kind != yaml.ScalarNode {
		p.problem(n, "a text is wanted here")
		return false
	}
	*out = n.Value
	return true
}

func (p *parser) truth(n *yaml.Node, out *bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		p.problem(n, "true or false is wanted here, not %q", n.Value)
		return
	}
	*out = n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
}

func validColour(s string) bool {
	if len(s) != 7 || s[0] != '#' {
		return false
	}
	for _, c := range s[1:] {
		if !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return false
		}
	}
	return true
}

func validName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

// meant suggests the nearest of names, or nothing when none is near.
func meant(got string, names []string) string {
	best, at := 4, ""
	for _, n := range names {
		if d := distance(got, n); d < best && d < len(n) {
			best, at = d, n
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", at)
}

// distance is the edit distance between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, prev+1)
		}
	}
	return row[len(b)]
}
