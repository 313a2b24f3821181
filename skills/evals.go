package skills

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

// EvalsFile is where a skill says how it is tried, in the layout of the public Agent Skills.
const EvalsFile = "evals/evals.json"

// Eval is one entry of evals/evals.json.
type Eval struct {
	ID         int       `json:"id"`
	Prompt     string    `json:"prompt"`
	Expected   string    `json:"expected_output"`
	Assertions []string  `json:"assertions"`
	Check      EvalCheck `json:"check"`
}

// EvalCheck is a check that needs no model, which is ours. Setup makes a small world in an empty
// folder. Without is what one does who has not read the skill, With are commands of the skill, word
// for word. After With the verification passes; after Without it does not. What either prints is in
// out.txt.
type EvalCheck struct {
	Setup, Without, With, Verify []string
}

// Scripted reports whether it can be tried without a model.
func (c EvalCheck) Scripted() bool { return len(c.With) > 0 && len(c.Verify) > 0 }

// Script makes the world, runs lines in it and verifies. It runs by bash in an empty folder, which
// WORLD names; the file made is there once the world is.
func (c EvalCheck) Script(lines []string) string {
	join := func(lines []string) string { return strings.Join(lines, "\n") }
	return "set -e\n" + join(c.Setup) + "\n: > \"$WORLD/made\"\nset +e\n{\n" + join(lines) +
		"\n} > \"$WORLD/out.txt\" 2>&1\ncd \"$WORLD\"\nset -e\n" + join(c.Verify)
}

// Unsaid is the first line of With that a text of the skill does not have, "" when it has all.
func (c EvalCheck) Unsaid(text string) string {
	for _, line := range c.With {
		if line = strings.TrimSpace(line); !strings.Contains(text, line) {
			return line
		}
	}
	return ""
}

// ReadEvals returns how a skill is tried, and whose file that says it is; nothing when it does not
// say.
func (s *Skill) ReadEvals() (of string, list []Eval, err error) {
	data, err := s.readFile(EvalsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	var file struct {
		Skill string `json:"skill_name"`
		Evals []Eval `json:"evals"`
	}
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s of the skill %s: %w", EvalsFile, s.Name, err)
	}
	return file.Skill, file.Evals, nil
}

var (
	blockFence = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?ms)^( *)```[a-z]+ ([A-Za-z0-9_.-]+)\n(.*?)^ *```$")
	})
	blockMargin = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?m)^ +") })
)

// NamedBlocks are the programs of a skill's text: fenced blocks with a file name behind the
// language.
func NamedBlocks(text string) map[string]string {
	blocks := map[string]string{}
	for _, m := range blockFence().FindAllStringSubmatch(text, -1) {
		blocks[m[2]] = blockMargin().ReplaceAllStringFunc(m[3], func(blank string) string { return strings.TrimPrefix(blank, m[1]) })
	}
	return blocks
}
