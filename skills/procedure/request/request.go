// Package request is how a person asks for a procedure in words that no model need read:
// "run procedure code_review target=main". It imports nothing of the program.
package request

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Request is a run that a person asks for.
type Request struct {
	Name   string
	Params map[string]any
	DryRun bool
	Resume string
}

const opening = "run procedure "

var pair = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\p{L}_][\p{L}\p{N}_-]*)=(.*)$`) })

// Parse reads a line that asks for a procedure and for nothing else.
func Parse(text string) (r Request, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), opening)
	if !ok || strings.Contains(rest, "\n") {
		return r, false
	}
	words, ok := split(rest)
	if !ok || len(words) == 0 {
		return r, false
	}
	if !strings.HasPrefix(words[0], "--") && !pair().MatchString(words[0]) {
		r.Name, words = words[0], words[1:]
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		m := pair().FindStringSubmatch(word)
		switch {
		case word == "--dry-run":
			r.DryRun = true
		case word == "--resume" && len(words) > 0:
			r.Resume, words = words[0], words[1:]
		case m != nil:
			if r.Params == nil {
				r.Params = map[string]any{}
			}
			r.Params[m[1]] = Value(m[2])
		default:
			return r, false
		}
	}
	return r, r.Name != "" || r.Resume != ""
}

// Value is what a text means: a list, a mapping, a number or yes or no in JSON, else the text.
func Value(text string) any {
	var v any
	if text == "" || json.Unmarshal([]byte(text), &v) != nil || v == nil {
		return text
	}
	if _, isNumber := v.(float64); isNumber {
		return json.Number(text)
	}
	return v
}

// Args are the arguments of skill_run.
func (r Request) Args() map[string]any {
	out := map[string]any{}
	for key, v := range map[string]string{"name": r.Name, "resume": r.Resume} {
		if v != "" {
			out[key] = v
		}
	}
	if len(r.Params) > 0 {
		out["parameters"] = r.Params
	}
	if r.DryRun {
		out["dry_run"] = true
	}
	return out
}

// String is the line that Parse reads.
func (r Request) String() string {
	out := strings.TrimSpace(opening + quote(r.Name))
	for _, p := range r.pairs() {
		out += " " + p
	}
	if r.DryRun {
		out += " --dry-run"
	}
	if r.Resume != "" {
		out += " --resume " + quote(r.Resume)
	}
	return out
}

func quote(s string) string {
	if s == "" || !strings.ContainsAny(s, " \t\n\"'\\") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
