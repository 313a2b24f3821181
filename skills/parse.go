package skills

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Parse reads a SKILL.md. file names it in problems. The skill has no place yet, and body is what
// stands below the front matter; both are as good as the problems allow.
func Parse(file string, data []byte) (s Skill, body string) {
	p := parser{file: file, skill: &s}
	head, text, line, err := splitFrontMatter(data)
	s.line = line
	if err != nil {
		p.addError(1, "", err.Error(), "a skill begins with three dashes, name:, description: and three dashes again")
		return s, text
	}
	doc, err := p.parseYAML(head)
	if err != nil {
		p.addError(1+yamlLine(err), "", "the front matter is not valid YAML: "+yamlWhy(err), "mend the line; text with a colon needs quotes")
		return s, text
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		p.addError(2, "", "the front matter is not a list of key: value lines", "write name: and description:")
		return s, text
	}
	p.parseTop(doc.Content[0])
	p.checkRequired()
	if n := utf8.RuneCountInString(text); n > MaxBody {
		p.addError(line, "", fmt.Sprintf("the text has %d characters, at most %d are allowed", n, MaxBody), "move details into files below references/")
	}
	if strings.TrimSpace(text) == "" {
		p.addWarning(line, "", "there is no text below the front matter", "say how the thing is done")
	}
	return s, text
}

// unmarshalYAML is yaml's without its panics: a hostile file must not end the program.
func unmarshalYAML(data []byte, out *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: it cannot be read: %v", r)
		}
	}()
	return yaml.Unmarshal(data, out)
}

// splitFrontMatter cuts a file at its two lines of dashes. line is where the text begins.
func splitFrontMatter(data []byte) (head []byte, text string, line int, err error) {
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	if !utf8.Valid(data) {
		return nil, strings.ToValidUTF8(string(data), "\ufffd"), 1, errors.New("the file is not UTF-8 text")
	}
	rest, ok := cutOpening(data)
	if !ok {
		return nil, string(data), 1, errors.New("there is no front matter")
	}
	for at := 0; at <= len(rest); {
		end := bytes.IndexByte(rest[at:], '\n')
		row := rest[at:]
		if end >= 0 {
			row = rest[at : at+end]
		}
		if string(bytes.TrimRight(row, " \t")) == "---" {
			head = rest[:at]
			line = 3 + bytes.Count(head, []byte("\n"))
			if end >= 0 {
				text = string(rest[at+end+1:])
			}
			if len(head) > maxHead {
				return nil, text, line, fmt.Errorf("the front matter has %d bytes, at most %d are read", len(head), maxHead)
			}
			return head, text, line, nil
		}
		if end < 0 {
			break
		}
		at += end + 1
	}
	return nil, string(rest), 1, errors.New("the front matter does not end: a second line of three dashes is missing")
}

// yamlLine is the line that an error of the YAML library names, 1 when it names none.
func yamlLine(err error) int {
	_, after, ok := strings.Cut(err.Error(), "line ")
	if !ok {
		return 1
	}
	digits, _, _ := strings.Cut(after, ":")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1
	}
	return n
}

func yamlWhy(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if head, after, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(head, "line ") {
		return after
	}
	return text
}

// parser fills a skill from YAML nodes.
type parser struct {
	file  string
	skill *Skill
}

func (p *parser) addError(line int, key, why, fix string) {
	p.skill.Problems = append(p.skill.Problems, Problem{File: p.file, Line: line, Key: key, Why: why, Fix: fix, Fatal: true})
}

func (p *parser) addWarning(line int, key, why, fix string) {
	p.skill.Problems = append(p.skill.Problems, Problem{File: p.file, Line: line, Key: key, Why: why, Fix: fix})
}

// lineOf is the line of a node in the file: the front matter begins in line 2.
func lineOf(n *yaml.Node) int { return n.Line + 1 }

func (p *parser) parseTop(m *yaml.Node) {
	s := p.skill
	p.eachPair(m, "", func(key string, k, v *yaml.Node) {
		switch key {
		case "name":
			p.readName(v)
		case "description":
			p.readDescription(v)
		case "version":
			s.Version = p.readText(key, v)
		case "author":
			s.Author = p.readText(key, v)
		case "license":
			s.License = p.readText(key, v)
		case "category":
			s.Category = p.readCategory(key, v)
		case "platforms", "platform":
			p.readPlatforms(key, v)
		case "tags":
			s.Tags = append(s.Tags, p.readWords(key, v)...)
		case "required_environment_variables", "env", "prerequisites":
			p.readVariables(key, v)
		case "required_credential_files":
			s.Credentials = p.readFiles(key, v)
		case "mcp_servers":
			s.Servers = p.readServers(v)
		case "metadata":
			p.readMetadata(v)
		case "allowed-tools", "compatibility", "hermes", "setup", "dependencies", "model", "argument-hint", "user-invocable", "disable-model-invocation":
		default:
			s.Other = append(s.Other, key)
		}
	})
}

// maxServers bounds the servers of one skill.
const maxServers = 20

// readServers reads names, or maps with a name as procedures have them.
func (p *parser) readServers(v *yaml.Node) []string {
	if v.Kind != yaml.SequenceNode {
		return p.readWords("mcp_servers", v)
	}
	var out []string
	for _, one := range v.Content {
		name := one
		if one.Kind == yaml.MappingNode {
			name = &yaml.Node{}
			p.eachPair(one, "mcp_servers", func(key string, _, v *yaml.Node) {
				if key == "name" {
					name = v
				}
			})
		}
		if name.Kind != yaml.ScalarNode || name.Value == "" || len(out) == maxServers {
			p.addWarning(lineOf(one), "mcp_servers", "this is no list of up to 20 names of servers", "write [{name: github}]")
			return out
		}
		out = append(out, name.Value)
	}
	return out
}

func (p *parser) readName(v *yaml.Node) {
	name := p.readText("name", v)
	if err := CheckName(name); err != nil && name != "" {
		p.addError(lineOf(v), "name", err.Error(), "")
		return
	}
	p.skill.Name = name
}

func (p *parser) readDescription(v *yaml.Node) {
	text := strings.Join(strings.Fields(p.readText("description", v)), " ")
	if n := utf8.RuneCountInString(text); n > MaxDescription {
		p.addError(lineOf(v), "description", fmt.Sprintf("the description has %d characters, at most %d are allowed", n, MaxDescription), "say in one sentence when the skill is of use")
	}
	p.skill.Description = text
}

func (p *parser) checkRequired() {
	missing := func(key, fix string) {
		if !slices.ContainsFunc(p.skill.Problems, func(x Problem) bool { return x.Key == key }) {
			p.addError(1, key, "it is missing or empty", fix)
		}
	}
	if p.skill.Name == "" {
		missing("name", "write name: and the name of the skill's folder")
	}
	if p.skill.Description == "" {
		missing("description", "say in one sentence when the skill is of use")
	}
}

func (p *parser) readPlatforms(key string, v *yaml.Node) {
	known := map[string]string{"linux": "linux", "macos": "macos", "darwin": "macos", "mac": "macos", "osx": "macos", "windows": "windows", "win32": "windows", "win": "windows"}
	for _, w := range p.readWords(key, v) {
		name, ok := known[strings.ToLower(w)]
		if !ok {
			p.addWarning(lineOf(v), key, fmt.Sprintf("%q is no system", w), "write linux, macos or windows")
			name = w
		}
		p.skill.Platforms = append(p.skill.Platforms, name)
	}
}

func (p *parser) readMetadata(m *yaml.Node) {
	p.eachOfMapping("metadata", m, func(key string, _, v *yaml.Node) {
		if key == "hermes" {
			p.eachOfMapping("metadata.hermes", v, p.readHermesKey)
		}
	})
}

func (p *parser) readHermesKey(key string, _, v *yaml.Node) {
	s, full := p.skill, "metadata.hermes."+key
	switch key {
	case "tags":
		s.Tags = append(s.Tags, p.readWords(full, v)...)
	case "category":
		s.Category = p.readCategory(full, v)
	case "starter":
		s.Starter = v.Value == "true"
	case "requires_toolsets":
		s.Requires.Toolsets = p.readWords(full, v)
	case "requires_tools":
		s.Requires.Tools = p.readWords(full, v)
	case "fallback_for_toolsets":
		s.Fallback.Toolsets = p.readWords(full, v)
	case "fallback_for_tools":
		s.Fallback.Tools = p.readWords(full, v)
	}
}

func (p *parser) readCategory(key string, v *yaml.Node) string {
	c := p.readText(key, v)
	if c != "" && CheckCategory(c) != nil {
		p.addWarning(lineOf(v), key, CheckCategory(c).Error(), "")
		return ""
	}
	return c
}

// CheckCategory returns what is wrong with a category, or nil: one to three names of folders.
func CheckCategory(c string) error {
	parts := strings.Split(c, "/")
	if len(parts) > 3 {
		return fmt.Errorf("the category %q has more than three parts", c)
	}
	for _, part := range parts {
		if CheckName(part) != nil {
			return fmt.Errorf("the category %q is not a name in lower case, such as data-science", c)
		}
	}
	return nil
}
