package offline

import "strings"

// verb reads the requests that begin with a word. Such a word is taken only when what follows has
// the right form, so that "read the manual for me" stays a sentence.
func verb(prose string, blocks []block) (request, bool) {
	word, rest := cutWord(prose)
	switch strings.ToLower(word) {
	case "help", "?", "/help":
		return request{kind: kindHelp}, rest == "" && len(blocks) == 0
	case "read":
		path, ok := onePath(rest)
		return request{kind: kindRead, path: path}, ok
	case "find":
		text, path := cutIn(rest)
		return request{kind: kindFind, text: text, path: path}, oneLine(text)
	case "search":
		past, words := cutWord(rest)
		return request{kind: kindPast, text: words}, strings.EqualFold(past, "past") && oneLine(words)
	case "remember":
		return request{kind: kindRemember, text: rest}, rest != ""
	case "write":
		path, ok := onePath(rest)
		if !ok || len(blocks) != 1 {
			return request{}, false
		}
		return request{kind: kindWrite, path: path, text: blocks[0].body}, true
	case "todo:":
		items := list(rest, ";")
		return request{kind: kindTodo, items: items}, len(items) > 0
	case "ask":
		return question(rest)
	default:
		return request{}, false
	}
}

// question splits "Which one? red | green" into the question and its choices.
func question(text string) (request, bool) {
	q, choices := text, ""
	if i := strings.LastIndexAny(text, "?？"); i >= 0 && strings.Contains(text[i:], "|") {
		end := i + len("?")
		if strings.HasPrefix(text[i:], "？") {
			end = i + len("？")
		}
		q, choices = text[:end], text[end:]
	}
	r := request{kind: kindAsk, text: strings.TrimSpace(q), items: list(choices, "|")}
	return r, r.text != ""
}

func cutWord(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t\n")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// onePath is a path without spaces, or one in quotes.
func onePath(s string) (string, bool) {
	if p, ok := unquote(s); ok {
		return p, oneLine(p)
	}
	return s, s != "" && !strings.ContainsAny(s, " \t\n")
}

// cutIn splits "TEXT in PATH". The text may hold "in" itself and may be in quotes.
func cutIn(s string) (text, path string) {
	text = s
	if i := strings.LastIndex(s, " in "); i >= 0 {
		if p, ok := onePath(strings.TrimSpace(s[i+len(" in "):])); ok {
			text, path = strings.TrimSpace(s[:i]), p
		}
	}
	if t, ok := unquote(text); ok {
		text = t
	}
	return text, path
}

func unquote(s string) (string, bool) {
	for _, q := range []string{`"`, "'", "`"} {
		if len(s) > 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) && strings.Count(s, q) == 2 {
			return s[1 : len(s)-1], true
		}
	}
	return "", false
}

func oneLine(s string) bool { return s != "" && !strings.Contains(s, "\n") }

func list(s, sep string) []string {
	var out []string
	for part := range strings.SplitSeq(s, sep) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
