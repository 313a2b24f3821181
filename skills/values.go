package skills

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"go.yaml.in/yaml/v3"
)

// eachPair calls f for every pair of a mapping, once a key. Merge keys and aliases are not
// followed: a skill needs none, and a hostile one could make much of little.
func (p *parser) eachPair(m *yaml.Node, prefix string, f func(key string, k, v *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		name := prefix + k.Value
		switch line, twice := seen[k.Value]; {
		case k.Kind != yaml.ScalarNode || k.Tag == "!!merge" || v.Kind == yaml.AliasNode:
			p.addWarning(lineOf(k), name, "aliases and merged keys are not read", "write the value out")
			continue
		case twice:
			p.addWarning(lineOf(k), name, fmt.Sprintf("it stands in line %d already, which counts", line), "remove one of them")
			continue
		}
		seen[k.Value] = lineOf(k)
		f(k.Value, k, v)
	}
}

func (p *parser) eachOfMapping(key string, v *yaml.Node, f func(key string, k, v *yaml.Node)) {
	if v.Kind != yaml.MappingNode {
		if v.Tag != "!!null" {
			p.addWarning(lineOf(v), key, "a list of key: value lines is wanted here", "")
		}
		return
	}
	p.eachPair(v, key+".", f)
}

// readText reads a scalar on its own.
func (p *parser) readText(key string, v *yaml.Node) string {
	if v.Kind != yaml.ScalarNode {
		p.addError(lineOf(v), key, "a text is wanted here", "write it on one line, in quotes when it holds a colon")
		return ""
	}
	if v.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(v.Value)
}

// readWords reads a list of texts; one text alone is a list of one, with commas between several.
func (p *parser) readWords(key string, v *yaml.Node) []string {
	var out []string
	switch v.Kind {
	case yaml.ScalarNode:
		for _, w := range strings.Split(v.Value, ",") {
			if w = strings.TrimSpace(w); w != "" && v.Tag != "!!null" {
				out = append(out, w)
			}
		}
	case yaml.SequenceNode:
		for _, item := range v.Content {
			if item.Kind != yaml.ScalarNode {
				p.addWarning(lineOf(item), key, "a list of words is wanted here", "")
				continue
			}
			out = append(out, strings.TrimSpace(item.Value))
		}
	default:
		p.addWarning(lineOf(v), key, "a list of words is wanted here", "write [one, two]")
	}
	return out
}

// readVariables reads variables: names, or mappings with a name. prerequisites.env_vars is an older
// spelling.
func (p *parser) readVariables(key string, v *yaml.Node) {
	if key == "prerequisites" {
		if v.Kind == yaml.MappingNode {
			p.eachPair(v, key+".", func(k string, _, v *yaml.Node) {
				if k == "env_vars" {
					p.readVariables(key+"."+k, v)
				}
			})
		}
		return
	}
	items := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		items = v.Content
	}
	for _, item := range items {
		var x Variable
		switch item.Kind { //nolint:exhaustive // the rest is the default
		case yaml.ScalarNode:
			x.Name = item.Value
		case yaml.MappingNode:
			p.eachPair(item, key+".", func(k string, _, v *yaml.Node) {
				switch k {
				case "name":
					x.Name = p.readText(key+".name", v)
				case "prompt":
					x.Prompt = p.readText(key+".prompt", v)
				case "help":
					x.Help = p.readText(key+".help", v)
				}
			})
		}
		switch {
		case item.Tag == "!!null":
		case !syntax.ValidName(x.Name):
			p.addWarning(lineOf(item), key, fmt.Sprintf("%q is no name of a variable", x.Name), "write - name: MY_SERVICE_KEY")
		default:
			p.skill.Env = append(p.skill.Env, x)
		}
	}
}

// readFiles reads a list of paths, or of mappings with a path.
func (p *parser) readFiles(key string, v *yaml.Node) []string {
	if v.Kind != yaml.SequenceNode {
		return p.readWords(key, v)
	}
	var out []string
	for _, item := range v.Content {
		if item.Kind == yaml.ScalarNode {
			out = append(out, item.Value)
			continue
		}
		p.eachOfMapping(key, item, func(k string, _, v *yaml.Node) {
			if k == "path" {
				out = append(out, p.readText(key+".path", v))
			}
		})
	}
	return out
}
