package session

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"hermes/core/chat"
)

const (
	titleCells   = 60
	previewRunes = 120
	headBytes    = 4096
)

// previewLine is the beginning of a text on one line.
func previewLine(text string) string {
	r := []rune(oneLine(stripControls(text)))
	return string(r[:min(previewRunes, len(r))])
}

// deriveTitle makes a title from a prompt: its first sentence without Markdown and without the
// command it starts with, cut at a word to 60 cells. It returns "" when nothing readable is left.
func deriveTitle(text string) string {
	for _, line := range strings.Split(stripControls(text), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			continue
		}
		if line = firstSentence(oneLine(stripMarkdown(line))); line != "" {
			return cutToCells(line, titleCells)
		}
	}
	return ""
}

// promptTitle makes a title from a prompt; where it is nothing but a paste, from the paste.
func promptTitle(m *chat.Message) string {
	if title := deriveTitle(m.Text); title != "" {
		return title
	}
	for _, a := range m.Parts {
		if title := deriveTitle(headOf(a)); title != "" {
			return title
		}
	}
	return ""
}

// promptPreview is the beginning of a prompt; where it is nothing but a paste, of the paste.
func promptPreview(m *chat.Message) string {
	p := previewLine(m.Text)
	for _, a := range m.Parts {
		if p == "" {
			p = previewLine(headOf(a))
		}
	}
	return p
}

// headOf is the beginning of what is attached: a title is not looked for in the middle of a long
// paste.
func headOf(a chat.Part) string { return a.Text[:min(len(a.Text), headBytes)] }

// stripControls removes escape sequences and control characters other than line ends and tabs.
func stripControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d') {
			return -1
		}
		return r
	}, ansi.Strip(strings.ToValidUTF8(text, "")))
}

// stripMarkdown strips what Markdown puts before and around words, and a leading slash command or
// shell prompt.
func stripMarkdown(line string) string {
	line = strings.TrimLeft(line, "#>*-+ \t")
	line = strings.TrimPrefix(line, "$ ")
	if rest, ok := strings.CutPrefix(line, "/"); ok {
		if name, args, _ := strings.Cut(rest, " "); args != "" && isName(name) {
			line = args
		}
	}
	line = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "").Replace(line)
	return stripLinks(line)
}

func isName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '_' }) < 0
}

// stripLinks turns [text](target) into text.
func stripLinks(line string) string {
	var b strings.Builder
	for {
		i := strings.Index(line, "[")
		j := strings.Index(line, "](")
		if i < 0 || j < i {
			break
		}
		end := strings.Index(line[j:], ")")
		if end < 0 {
			break
		}
		b.WriteString(line[:i] + line[i+1:j])
		line = line[j+end+1:]
	}
	return b.String() + line
}

// firstSentence ends after a full stop that is followed by a blank, or after a CJK one. A dot
// inside "main.go" or "v1.2" ends nothing, and neither does one after a single letter ("e. g.",
// "e.g.").
func firstSentence(line string) string {
	runes := []rune(line)
	for i, r := range runes {
		switch r {
		case '。', '！', '？':
			return strings.TrimSuffix(string(runes[:i+1]), "。")
		case '.', '!', '?':
			if i < 8 || i+1 < len(runes) && runes[i+1] != ' ' || i+1 == len(runes) || runes[i-2] == ' ' || runes[i-2] == '.' {
				continue
			}
			return strings.TrimSuffix(string(runes[:i+1]), ".")
		}
	}
	return strings.TrimRight(line, ".:,;。，、；：")
}

// cutToCells cuts text to a number of cells, at a blank if there is one in the second half.
func cutToCells(text string, cells int) string {
	if ansi.StringWidth(text) <= cells {
		return text
	}
	cut := ansi.Truncate(text, cells-1, "")
	if !strings.HasPrefix(text[len(cut):], " ") {
		if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
			cut = cut[:i]
		}
	}
	return strings.TrimRight(cut, " ,;:.-") + "…"
}
