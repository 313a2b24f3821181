package offline

import (
	"strings"

	procedure "hermes/skills/procedure/request"
)

// kind is what a request asks for.
type kind int

const (
	kindFree kind = iota // nothing that can be run
	kindHelp
	kindRun
	kindPython
	kindRead
	kindFind
	kindPast
	kindRemember
	kindWrite
	kindTodo
	kindAsk
	kindProcedure
)

// request is one thing that the text asks for.
type request struct {
	kind    kind
	text    string // the command, the code, the words, the question
	path    string
	backend string
	items   []string // of a todo list; choices of a question
	run     procedure.Request
}

// parse finds the requests in a message. It never fails: what is not a request is one of kindFree.
// It is deterministic and takes only what is meant beyond doubt, because what it finds is run.
func parse(text string) []request {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if run, ok := procedure.Parse(text); ok {
		return []request{{kind: kindProcedure, text: text, run: run}}
	}
	backend, rest := cutBackend(text)
	prose, blocks := fences(rest)
	if r, ok := verb(strings.TrimSpace(prose), blocks); ok && backend == "" {
		return []request{r}
	}
	out := commands(prose)
	for _, b := range blocks {
		if r, ok := b.request(); ok {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return []request{{kind: kindFree, text: text}}
	}
	for i := range out {
		out[i].backend = backend
	}
	return out
}

// cutBackend takes a leading "@name" off. The name is that of a back end only if a command follows,
// which parse sees to:
// without one the whole text is free.
func cutBackend(text string) (name, rest string) {
	after, ok := strings.CutPrefix(text, "@")
	if !ok {
		return "", text
	}
	end := strings.IndexAny(after, " \t\n")
	if end <= 0 || strings.Trim(after[:end], nameRunes) != "" {
		return "", text
	}
	return after[:end], strings.TrimSpace(after[end:])
}

const nameRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// commands are the lines that begin with "$ ". A line that ends with a backslash goes on in the
// next one.
func commands(prose string) []request {
	var out []request
	lines := strings.Split(prose, "\n")
	for i := 0; i < len(lines); i++ {
		cmd, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "$ ")
		if !ok {
			continue
		}
		for strings.HasSuffix(cmd, "\\") && i+1 < len(lines) {
			i++
			cmd += "\n" + lines[i]
		}
		if cmd = strings.TrimSpace(cmd); cmd != "" {
			out = append(out, request{kind: kindRun, text: cmd})
		}
	}
	return out
}

// block is a fenced block.
type block struct{ lang, body string }

func (b block) request() (request, bool) {
	if strings.TrimSpace(b.body) == "" {
		return request{}, false
	}
	switch b.lang {
	case "sh", "bash", "shell", "zsh":
		return request{kind: kindRun, text: strings.TrimRight(b.body, "\n")}, true
	case "console":
		var lines []string
		for _, r := range commands(b.body) {
			lines = append(lines, r.text)
		}
		return request{kind: kindRun, text: strings.Join(lines, "\n")}, len(lines) > 0
	case "python", "py", "python3":
		return request{kind: kindPython, text: b.body}, true
	default:
		return request{}, false
	}
}

// fences splits a text into what is outside and what is inside of fenced blocks. A block that is
// not closed is prose: it may be half of a paste.
func fences(text string) (prose string, blocks []block) {
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		mark, lang := fence(lines[i])
		end := -1
		if mark != "" {
			end = closing(lines[i+1:], mark)
		}
		if end < 0 {
			out = append(out, lines[i])
			continue
		}
		body := strings.Join(lines[i+1:i+1+end], "\n")
		if end > 0 {
			body += "\n"
		}
		blocks = append(blocks, block{lang: lang, body: body})
		i += end + 1
	}
	return strings.Join(out, "\n"), blocks
}

// fence reads the first line of a block: three or more backticks or tildes and a language.
func fence(line string) (mark, lang string) {
	line = strings.TrimSpace(line)
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && !strings.Contains(rest, "`") {
			lang, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
			return line[:n], strings.ToLower(lang)
		}
	}
	return "", ""
}

func closing(lines []string, mark string) int {
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, mark) && strings.Trim(l, mark[:1]) == "" {
			return i
		}
	}
	return -1
}
