package tool

import (
	"regexp"
	"strings"
	"sync"
)

// Advice names the tools that it takes in back quotes. What its reader cannot call is no advice.

var quotedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`([a-z_]+)`") })

// Advise returns an advice, or "" when whoever called lacks one of the tools that it names.
func (c Call) Advise(text string) string {
	if c.Has != nil && namesMissing(text, func(name string) bool { return !c.Has(name) }) {
		return ""
	}
	return text
}

// withoutMissing leaves out the sentences of a description that name a missing tool.
func withoutMissing(text string, missing func(name string) bool) string {
	var out []byte
	for text != "" {
		end := endOfSentence(text)
		sentence := text[:end]
		text = text[end:]
		if !namesMissing(sentence, missing) {
			out = append(out, sentence...)
			continue
		}
		out = []byte(strings.TrimRight(string(out), " "))
		if strings.HasSuffix(sentence, "\n") {
			out = append(out, '\n')
		} else if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, ' ')
		}
	}
	return strings.TrimRight(string(out), " \n")
}

// endOfSentence is where the first sentence or line of text ends, what separates it included.
func endOfSentence(text string) int {
	stop, line := strings.Index(text, ". "), strings.IndexByte(text, '\n')
	switch {
	case stop >= 0 && (line < 0 || stop < line):
		return stop + 2
	case line >= 0:
		return line + 1
	}
	return len(text)
}

func namesMissing(text string, missing func(name string) bool) bool {
	for _, m := range quotedName().FindAllStringSubmatch(text, -1) {
		if missing(m[1]) {
			return true
		}
	}
	return false
}
