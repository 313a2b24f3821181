package usermodel

import (
	_ "embed" // the rules
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"hermes/core/cjk"
	"hermes/core/clip"
	"hermes/core/secret"
)

//go:embed rules.yaml
var ruleText []byte

type rules struct {
	TechStack   map[string][]string `yaml:"tech_stack"`
	Tasks       map[string][]string `yaml:"frequent_tasks"`
	Style       map[string][]string `yaml:"communication_style"`
	Levels      map[string][]string `yaml:"levels"`
	Preferences []string            `yaml:"preferences"`
}

var known = sync.OnceValue(func() (r rules) {
	if err := yaml.Unmarshal(ruleText, &r); err != nil {
		panic(err) // the file is part of the program
	}
	return r
})

// sign is one thing that a message tells, with the words that tell it.
type sign struct{ key, text, words string }

const maxMessage = 4000 // characters that are looked at

// signsIn is what a message tells of its author. Of a long text the beginning counts.
func signsIn(message string, now time.Time) (out []sign) {
	message = clip.Runes(message, maxMessage, "")
	if strings.TrimSpace(message) == "" {
		return nil
	}
	flat, words := plain(message), excerpt(message)
	r := known()
	for key, table := range map[string]map[string][]string{TechStack: r.TechStack, Tasks: r.Tasks, Style: r.Style} {
		for text, phrases := range table {
			if slices.ContainsFunc(phrases, func(p string) bool { return says(flat, p) }) {
				out = append(out, sign{key, text, words})
			}
		}
	}
	for level, phrases := range r.Levels {
		for name, of := range r.TechStack {
			if slices.ContainsFunc(phrases, func(p string) bool { return saysOf(flat, p, name, of) }) {
				out = append(out, sign{Expertise, name + ": " + level, words})
			}
		}
	}
	for _, p := range r.Preferences {
		if _, rest, ok := strings.Cut(strings.ToLower(message), p); ok {
			end := strings.IndexAny(rest, ".!?\n;。!?")
			if end < 0 {
				end = len(rest)
			}
			if text := excerpt(p + rest[:end]); len(strings.Fields(text)) > 2 || cjk.IndexText(text) != text {
				out = append(out, sign{Preferences, text, words})
			}
		}
	}
	return append(out, sign{Hours, partOfDay(now), words})
}

// plain is a text as lower-case words between single spaces.
func plain(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("+#.-'_/;", r)
	})
	for i, w := range words {
		words[i] = strings.Trim(w, ".-'/;")
	}
	return " " + strings.Join(words, " ") + " "
}

func says(flat, phrase string) bool {
	switch {
	case strings.HasPrefix(phrase, "*"):
		return strings.Contains(flat, phrase[1:]+" ")
	case cjk.IndexText(phrase) != phrase:
		return strings.Contains(flat, phrase)
	}
	return strings.Contains(flat, " "+phrase+" ")
}

// saysOf reports whether the name of something follows a phrase.
func saysOf(flat, phrase, name string, of []string) bool {
	for _, n := range append([]string{strings.ToLower(name)}, of...) {
		if !strings.HasPrefix(n, "*") && strings.Contains(flat, " "+phrase+" "+n+" ") {
			return true
		}
	}
	return false
}

// excerpt is the beginning of a text on one line, without secrets.
func excerpt(text string) string {
	text = strings.Join(strings.Fields(secret.Redact(text)), " ")
	if r := []rune(text); len(r) > maxWords {
		return string(r[:maxWords-1]) + "…"
	}
	return text
}

func partOfDay(now time.Time) string {
	switch h := now.Hour(); {
	case h < 6:
		return "night (0-6)"
	case h < 12:
		return "morning (6-12)"
	case h < 18:
		return "afternoon (12-18)"
	default:
		return "evening (18-24)"
	}
}
