package request

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pairs are the parameters, in order, as words of the line.
func (r Request) pairs() []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(r.Params)) {
		v, isText := r.Params[k].(string)
		if !isText {
			data, err := json.Marshal(r.Params[k])
			if err != nil {
				data = fmt.Append(nil, r.Params[k])
			}
			v = string(data)
		}
		out = append(out, quote(k+"="+v))
	}
	return out
}

// split cuts a line into words; a word, or what stands behind its =, may be in quotes, with
// backslashes in double ones.
func split(line string) (words []string, ok bool) {
	var b strings.Builder
	var in rune
	open, escaped := false, false
	for _, c := range line {
		switch {
		case escaped:
			if c == 'n' {
				c = '\n'
			}
			b.WriteRune(c)
			escaped = false
		case c == '\\' && in == '"':
			escaped = true
		case in != 0 && c == in:
			in = 0
		case in == 0 && strings.ContainsRune(`"'`, c) && (b.Len() == 0 || strings.HasSuffix(b.String(), "=")):
			in, open = c, true
		case in == 0 && strings.ContainsRune(" \t", c):
			if open || b.Len() > 0 {
				words = append(words, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteRune(c)
		}
	}
	if open || b.Len() > 0 {
		words = append(words, b.String())
	}
	return words, in == 0 && !escaped
}
