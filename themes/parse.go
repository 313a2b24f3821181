package themes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hermes/core/nearest"
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

// parsePalette reads one palette without filling its gaps. file names it in problems. The error
// joins every Problem.
func parsePalette(file string, data []byte) (Theme, error) {
	var doc yaml.Node
	p := parser{file: file}
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return Theme{}, Problem{File: file, Why: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	var t Theme
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return Theme{}, Problem{File: file, Line: 1, Column: 1, Why: "a theme is a mapping that starts with \"name: something\""}
	}
	p.parseTop(doc.Content[0], &t)
	if t.Name == "" {
		p.addProblem(doc.Content[0], "name is missing: add \"name: something\"")
	}
	if t.Title == "" {
		t.Title = t.Name
	}
	t.File = file
	return t, errors.Join(p.problems...)
}

func (p *parser) addProblem(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, Problem{File: p.file, Line: n.Line, Column: n.Column, Why: fmt.Sprintf(format, args...)})
}

// parseTop reads the top level of the file. "colors" is accepted beside "colours".
func (p *parser) parseTop(m *yaml.Node, t *Theme) {
	keys := []string{"name", "title", "about", "dark", "paint", "chroma", "base", "colours"}
	p.eachPair(m, func(k, v *yaml.Node) {
		switch k.Value {
		case "name":
			if p.parseText(v, &t.Name) && !validName(t.Name) {
				p.addProblem(v, "name %q: use letters, digits, - and _ only", t.Name)
			}
		case "title":
			p.parseText(v, &t.Title)
		case "about":
			p.parseText(v, &t.About)
		case "dark":
			p.parseBool(v, &t.Dark)
		case "paint":
			p.parseBool(v, &t.Paint)
		case "chroma":
			p.parseText(v, &t.Chroma)
		case "base":
			p.parseText(v, &t.Base)
		case "colours", "colors":
			p.parseColours(v, &t.Colours)
		default:
			p.addProblem(k, "unknown key %q%s", k.Value, meant(k.Value, keys))
		}
	})
}

func (p *parser) parseColours(m *yaml.Node, c *Colours) {
	if m.Kind != yaml.MappingNode {
		p.addProblem(m, "colours is a mapping of names to \"#rrggbb\"")
		return
	}
	tokens := c.listTokens()
	names := make([]string, len(tokens))
	for i, t := range tokens {
		names[i] = t.name
	}
	p.eachPair(m, func(k, v *yaml.Node) {
		i := slices.Index(names, k.Value)
		switch {
		case i < 0:
			p.addProblem(k, "unknown colour %q%s", k.Value, meant(k.Value, names))
		case v.Kind == yaml.ScalarNode && v.Tag == "!!null":
			p.addProblem(v, "colour %s is empty: an unquoted # starts a comment, write \"#rrggbb\"", k.Value)
		case v.Kind != yaml.ScalarNode || !validColour(v.Value):
			p.addProblem(v, "colour %s: %q is not of the form \"#rrggbb\"", k.Value, v.Value)
		default:
			*tokens[i].value = strings.ToLower(v.Value)
		}
	})
}

// eachPair calls f for every pair of m, once a key.
func (p *parser) eachPair(m *yaml.Node, f func(k, v *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		if line, twice := seen[k.Value]; twice {
			p.addProblem(k, "%q stands in line %d already", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		f(k, v)
	}
}

func (p *parser) parseText(n *yaml.Node, out *string) bool {
	if n.Kind != yaml.ScalarNode {
		p.addProblem(n, "a text is wanted here")
		return false
	}
	*out = n.Value
	return true
}

func (p *parser) parseBool(n *yaml.Node, out *bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		p.addProblem(n, "true or false is wanted here, not %q", n.Value)
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
	name, ok := nearest.Name(got, names)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", name)
}
