package skills

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Skills that were written for more forgiving readers are read where it is clear what is meant,
// with a warning that says what to mend.

// nameFromFolder gives a skill the name of its folder when its own is missing or is a title ("PDF
// Processing").
func (s *Skill) nameFromFolder(folder string) {
	if s.Name != "" || CheckName(folder) != nil {
		return
	}
	for i, p := range s.Problems {
		if p.Key == "name" && p.Fatal {
			s.Name = folder
			s.Problems[i].Fatal, s.Problems[i].Fix = false, "its folder's name, "+folder+", counts"
		}
	}
}

// cutDescription shortens a description that is too long: what a new skill is refused for,
// published ones have.
func (s *Skill) cutDescription() {
	r := []rune(s.Description)
	if len(r) <= MaxDescription {
		return
	}
	s.Description = string(r[:MaxDescription-1]) + "…"
	for i, p := range s.Problems {
		if p.Key == "description" && p.Fatal {
			s.Problems[i].Fatal, s.Problems[i].Fix = false, "it was cut; say in one sentence when the skill is of use"
		}
	}
}

// cutOpening is the first line of front matter.
func cutOpening(data []byte) (rest []byte, ok bool) {
	row, rest, ok := bytes.Cut(data, []byte("\n"))
	return rest, ok && string(bytes.TrimRight(row, " \t")) == "---"
}

var topLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):[ \t]+([^'"|>\s].*)$`) })

// quoted is a text that stood without the quotes that YAML wants.
type quoted struct {
	line int // in the file
	key  string
}

// quoteBareTexts puts quotes around texts at the top that are no YAML without them, such as
// "description: Use it: when asked". Lines keep their numbers.
func quoteBareTexts(head []byte) (out []byte, changed []quoted) {
	rows := strings.Split(string(head), "\n")
	for i := 0; i < len(rows); i++ {
		m := topLine().FindStringSubmatch(rows[i])
		if m == nil {
			continue
		}
		first := i
		for i+1 < len(rows) && strings.HasPrefix(rows[i+1], " ") { // the text goes on
			i++
		}
		if unmarshalYAML([]byte(strings.Join(rows[first:i+1], "\n")), &yaml.Node{}) == nil {
			continue
		}
		rows[first] = m[1] + ": " + m[2]
		for j := first; j <= i; j++ {
			rows[j] = strings.ReplaceAll(rows[j], "'", "''")
		}
		rows[first] = m[1] + ": '" + strings.TrimPrefix(rows[first], m[1]+": ")
		rows[i] += "'"
		changed = append(changed, quoted{first + 2, m[1]})
	}
	return []byte(strings.Join(rows, "\n")), changed
}

// parseYAML reads front matter; the error is that of the text as it stands.
func (p *parser) parseYAML(head []byte) (doc yaml.Node, err error) {
	if err = unmarshalYAML(head, &doc); err == nil {
		return doc, nil
	}
	again, changed := quoteBareTexts(head)
	var second yaml.Node
	if len(changed) == 0 || unmarshalYAML(again, &second) != nil {
		return doc, err
	}
	for _, q := range changed {
		p.addWarning(q.line, q.key, "this text is no YAML without quotes; it was read as if it had them", "write "+q.key+": \"...\"")
	}
	return second, nil
}
