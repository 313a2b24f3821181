package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Delta is a change of lines of a text. Lines count from 1 in the text that the model was shown;
// what it says stands there has to stand there.
type Delta struct {
	Op   string `json:"op"`   // "add", "replace", "remove"
	Line int    `json:"line"` // add: behind this one, 0 before the first
	Was  string `json:"was"`  // replace, remove: the line, word for word
	Text string `json:"text"` // add, replace: may have several lines
}

// Answer is what a model says about experiences.
type Answer struct {
	Do          string  `json:"do"` // "nothing", "change", "create"
	Why         string  `json:"why"`
	Name        string  `json:"name"`        // create
	Description string  `json:"description"` // create
	Body        string  `json:"body"`        // create: the text below the front matter
	Deltas      []Delta `json:"deltas"`      // change
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

// ReadAnswer reads what a model said. Prose around the JSON is no answer.
func ReadAnswer(said string) (Answer, error) {
	var a Answer
	if len(said) > maxAnswer {
		return a, fmt.Errorf("the answer has %d bytes, at most %d are read", len(said), maxAnswer)
	}
	said = strings.TrimSpace(said)
	if rest, fenced := strings.CutPrefix(said, "```"); fenced {
		_, said, _ = strings.Cut(rest, "\n")
		said = strings.TrimSuffix(strings.TrimSpace(said), "```")
	}
	d := json.NewDecoder(strings.NewReader(said))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Answer{}, fmt.Errorf("the answer is no JSON of the form that was asked for: %w", err)
	}
	if d.More() {
		return Answer{}, errors.New("something stands behind the JSON of the answer")
	}
	return a, a.checkShape()
}

func (a Answer) checkShape() error {
	switch {
	case a.Do == "nothing":
		return nil
	case strings.TrimSpace(a.Why) == "":
		return errors.New("the answer does not say why")
	case a.Do == "change" && len(a.Deltas) > 0 && a.Body == "" && a.Name == "":
		return nil
	case a.Do == "create" && len(a.Deltas) == 0 && strings.TrimSpace(a.Body) != "" && a.Name != "" && a.Description != "":
		return nil
	default:
		return fmt.Errorf("the answer %q lacks what it needs, or has what it may not", a.Do)
	}
}

// splitLines are the lines of a text, each with its end.
func splitLines(text string) []string {
	return slices.Collect(strings.Lines(text))
}

// Change makes the deltas in a text. Its first lines, as many as locked says, cannot be named, and
// whatever is not named stays.
func Change(text string, locked func(lines []string) int, deltas []Delta) (string, error) {
	lines := splitLines(text)
	head := locked(lines)
	at := map[int]Delta{}      // replace, remove
	behind := map[int]string{} // add
	for _, d := range deltas {
		switch d.Op {
		case "add":
			if d.Line < head || d.Line > len(lines) {
				return "", fmt.Errorf("a line is added behind line %d; the text has the lines %d to %d", d.Line, head+1, len(lines))
			}
			if strings.TrimSpace(d.Text) == "" {
				return "", errors.New("a line is added that says nothing")
			}
			behind[d.Line] += closeText(d.Text)
		case "replace", "remove":
			if d.Line <= head || d.Line > len(lines) {
				return "", fmt.Errorf("line %d is named; the text has the lines %d to %d", d.Line, head+1, len(lines))
			}
			if _, twice := at[d.Line]; twice {
				return "", fmt.Errorf("line %d is named twice", d.Line)
			}
			if stands := strings.TrimRight(lines[d.Line-1], "\r\n"); strings.TrimRight(d.Was, "\r\n") != stands {
				return "", fmt.Errorf("line %d is %q, not %q", d.Line, stands, d.Was)
			}
			if d.Op == "replace" && strings.TrimSpace(d.Text) == "" {
				return "", fmt.Errorf("line %d is replaced by nothing", d.Line)
			}
			at[d.Line] = d
		default:
			return "", fmt.Errorf("there is no change %q of a line", d.Op)
		}
	}
	var b strings.Builder
	b.WriteString(behind[0])
	for i, line := range lines {
		switch d, named := at[i+1]; {
		case !named && behind[i+1] != "":
			b.WriteString(closeText(line))
		case !named:
			b.WriteString(line)
		case d.Op == "replace":
			b.WriteString(closeText(d.Text))
		}
		b.WriteString(behind[i+1])
	}
	return b.String(), keepsOtherLines(text, b.String(), deltas)
}

// closeText ends a text with a line end.
func closeText(s string) string { return strings.TrimRight(s, "\r\n") + "\n" }

// headLines is how many lines the front matter has, its fences included.
func headLines(lines []string) int {
	if len(lines) == 0 || strings.TrimRight(lines[0], " \r\n") != "---" {
		return 0
	}
	for i, l := range lines[1:] {
		if strings.TrimRight(l, " \r\n") == "---" {
			return i + 2
		}
	}
	return len(lines)
}

// keepsOtherLines says whether every line that no delta names is still there, in its order. It
// knows nothing of how the change was made.
func keepsOtherLines(before, after string, deltas []Delta) error {
	named := map[int]bool{}
	for _, d := range deltas {
		if d.Op != "add" {
			named[d.Line] = true
		}
	}
	rest := splitLines(after)
	for i, line := range splitLines(before) {
		if named[i+1] {
			continue
		}
		want := strings.TrimRight(line, "\r\n")
		at := slices.IndexFunc(rest, func(l string) bool { return strings.TrimRight(l, "\r\n") == want })
		if at < 0 {
			return fmt.Errorf("line %d would be lost, which the answer does not name: %q", i+1, want)
		}
		rest = rest[at+1:]
	}
	return nil
}

// Limits of a change: what is larger is no lesson but another skill.
const (
	maxSkill = 15 << 10
	maxGrow  = 5   // one part in so many
	minGrow  = 600 // bytes that are always allowed
	maxNamed = 5   // one line in so many may be replaced or removed
	minNamed = 3
)

// checkSize refuses a change that is too large.
func checkSize(before, after string, deltas []Delta) error {
	named := len(slices.DeleteFunc(slices.Clone(deltas), func(d Delta) bool { return d.Op == "add" }))
	lines := bytes.Count([]byte(before), []byte("\n"))
	switch {
	case len(after) > maxSkill:
		return fmt.Errorf("the text would have %d bytes, at most %d are learned", len(after), maxSkill)
	case len(after)-len(before) > max(len(before)/maxGrow, minGrow):
		return fmt.Errorf("the text would grow from %d to %d bytes at once", len(before), len(after))
	case named > max(lines/maxNamed, minNamed):
		return fmt.Errorf("%d of %d lines would be replaced or removed at once", named, lines)
	default:
		return nil
	}
}
