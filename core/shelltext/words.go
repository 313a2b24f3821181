// Package shelltext reads shell text without running it: which commands stand in it, what their
// words are, and what a command such as sudo, env, xargs or "sh -c" starts. Everybody who judges
// commands asks here, so that \rm, $HOME and sudo mean the same to all of them.
package shelltext

import (
	"bytes"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Runes in words that stand for something else. No command can hold the first one, and nobody
// writes the second.
const (
	Unknown = '\x00' // any text: an expansion, a wildcard
	Home    = '\x02' // the home folder: ~ or $HOME
)

// Word is one word of a command as the program gets it, as far as that is known.
type Word struct {
	Text   string
	Source string // as it was written
}

// Known reports whether nothing of w is known only when it runs; whose home it is does not count.
func (w Word) Known() bool { return !strings.ContainsRune(w.Text, Unknown) }

// Words are those of a command that no shell reads.
func Words(argv []string) []Word {
	out := make([]Word, len(argv))
	for i, a := range argv {
		out[i] = Word{Text: plainText(a), Source: a}
	}
	return out
}

func plainText(s string) string {
	return strings.NewReplacer(string(Unknown), "", string(Home), "").Replace(s)
}

// Parse reads a text as bash does.
func Parse(text string) (file *syntax.File, err error) {
	defer func() {
		if recover() != nil { // the text is hostile
			file, err = nil, fmt.Errorf("the parser failed")
		}
	}()
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// maxWords bounds brace expansion.
const maxWords = 256

// Read is what a word becomes. Braces make several of it.
func Read(w *syntax.Word) []Word {
	var source bytes.Buffer
	_ = syntax.NewPrinter().Print(&source, w) // into memory
	var out []Word
	split := syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(&split)
	for one, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(out) >= maxWords {
			return []Word{{Text: string(Unknown), Source: source.String()}}
		}
		out = append(out, Word{Text: partsText(one.Parts, false), Source: source.String()})
	}
	return out
}

// partsText is what parts of a word become.
func partsText(parts []syntax.WordPart, quoted bool) string {
	var b strings.Builder
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if quoted {
				b.WriteString(inQuotes(p.Value))
			} else {
				b.WriteString(readUnquoted(p.Value, i == 0))
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				b.WriteString(plainText(ANSIC(p.Value)))
			} else {
				b.WriteString(plainText(p.Value))
			}
		case *syntax.DblQuoted:
			b.WriteString(partsText(p.Parts, true))
		case *syntax.ParamExp:
			if p.Param != nil && p.Param.Value == "HOME" && p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil && !p.Length && !p.Excl && !p.IsSet && p.NestedParam == nil {
				b.WriteRune(Home)
				continue
			}
			b.WriteRune(Unknown)
		default:
			b.WriteRune(Unknown)
		}
	}
	return b.String()
}

// readUnquoted reads a part outside of quotes: a backslash takes the next character as it is,
// wildcards are unknown.
func readUnquoted(s string, first bool) string {
	var b strings.Builder
	if first && strings.HasPrefix(s, "~") {
		user, _, _ := strings.Cut(s[1:], "/")
		if s = s[1+len(user):]; user == "" {
			b.WriteRune(Home)
		} else {
			b.WriteRune(Unknown)
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case c == '*' || c == '?' || c == '[' && len(s) > 1:
			b.WriteRune(Unknown)
		case c == Unknown || c == Home:
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// inQuotes reads text inside of double quotes.
func inQuotes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		if s[i] != Unknown && s[i] != Home {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// Join are words as one text, with ~ for a home.
func Join(words []Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = strings.ReplaceAll(w.Text, string(Home), "~")
	}
	return strings.Join(texts, " ")
}
