// Package highlight colours code: one highlighter for answers, diffs, approvals and commands. The
// code is hostile: what it costs is bounded, and what comes out is the code, byte for byte.
package highlight

import (
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"

	"hermes/core/crash"
	"hermes/ui/style"
	"hermes/ui/text"
)

// Bounds of what is coloured. Lexers are tables of backtracking patterns: what a hostile text makes
// one of them do is cut off, and the code is shown without colours.
const (
	maxHighlight     = 16 << 10 // bytes of a block
	maxHighlightLine = 2000     // bytes of its longest line: machine-made lines are not worth it
	maxLanguage      = 24       // bytes of a language's name
)

// Budget is how long a block may take. Tests raise it: the load of a machine must not decide what
// they see.
var Budget = 150 * time.Millisecond

// Run is text of one look.
type Run struct {
	Text string
	Pen  text.Pen
}

// Highlighter colours code with chroma, in the style that the theme names. It is for one goroutine.
type Highlighter struct {
	styles *style.Styles
	base   text.Pen
	style  *chroma.Style
	lexers map[string]chroma.Lexer // by name; nil for a language that chroma does not know
	pens   map[chroma.TokenType]text.Pen
}

// New returns a highlighter that draws what has no colour of its own with base.
func New(s *style.Styles, base text.Pen) *Highlighter {
	return &Highlighter{
		styles: s, base: base, lexers: map[string]chroma.Lexer{}, pens: map[chroma.TokenType]text.Pen{},
	}
}

// Lines returns the runs of each line of src. Language is a name as people write it behind a fence,
// or a file's: see Language. "" and one that nobody knows colour nothing.
func (h *Highlighter) Lines(src, language string) [][]Run {
	rows := strings.Split(src, "\n")
	tokens := h.tokensOf(rows, src, language)
	if tokens == nil {
		out := make([][]Run, len(rows))
		for i, row := range rows {
			out[i] = []Run{{row, h.base}}
		}
		return out
	}
	out := make([][]Run, 1, len(rows))
	for _, token := range tokens {
		pen := h.penFor(token.Type)
		for i, part := range strings.Split(token.Value, "\n") {
			if i > 0 {
				out = append(out, nil)
			}
			if part != "" {
				last := len(out) - 1
				out[last] = append(out[last], Run{part, pen})
			}
		}
	}
	return out[:len(rows)]
}

// tokensOf asks chroma; nil when the code is to be shown without colours.
func (h *Highlighter) tokensOf(rows []string, src, language string) []chroma.Token {
	if len(src) > maxHighlight {
		return nil
	}
	for _, row := range rows {
		if len(row) > maxHighlightLine {
			return nil
		}
	}
	lexer := h.lexerFor(language)
	if lexer == nil {
		return nil
	}
	done := make(chan []chroma.Token, 1)
	deadline := time.Now().Add(Budget)
	crash.Go("highlight code", func() { done <- tokenise(lexer, src+"\n", deadline) })
	late := time.NewTimer(Budget)
	defer late.Stop()
	select {
	case tokens := <-done:
		return tokens
	case <-late.C:
		return nil
	}
}

// tokenise takes whole lines, for some lexers end a last one themselves. It returns nil when the
// deadline has passed or the tokens are not exactly the text.
func tokenise(lexer chroma.Lexer, src string, deadline time.Time) []chroma.Token {
	defer func() { _ = recover() }() // a lexer that cannot read a hostile text leaves it without colours
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, src)
	if err != nil {
		return nil
	}
	var out []chroma.Token
	size := 0
	for token := next(); token != chroma.EOF; token = next() {
		if time.Now().After(deadline) || !strings.HasPrefix(src[size:], token.Value) {
			return nil
		}
		size += len(token.Value)
		out = append(out, token)
	}
	if size != len(src) {
		return nil
	}
	return out
}

func (h *Highlighter) lexerFor(language string) chroma.Lexer {
	name := strings.ToLower(language)
	if name == "" || len(name) > maxLanguage {
		return nil
	}
	lexer, known := h.lexers[name]
	if !known {
		if lexer = lexers.Get(name); lexer != nil {
			lexer = chroma.Coalesce(lexer)
		}
		h.lexers[name] = lexer
	}
	return lexer
}

// penFor is how a kind of token is drawn: as the chroma style says, where it says more than of
// plain text.
func (h *Highlighter) penFor(kind chroma.TokenType) text.Pen {
	if kind.InCategory(chroma.Text) { // blanks, too
		return h.base
	}
	pen, known := h.pens[kind]
	if known {
		return pen
	}
	if h.style == nil {
		h.style = styles.Get(h.styles.Chroma)
		if h.styles.Plain {
			h.style = styles.Get("bw") // attributes in place of colours
		}
	}
	pen = h.base
	entry, plain := h.style.Get(kind), h.style.Get(chroma.Text)
	if entry.Colour.IsSet() && entry.Colour != plain.Colour {
		pen.Fg = style.PenOf(h.styles.Coloured(entry.Colour.String())).Fg
	}
	if entry.Bold == chroma.Yes {
		pen.Attr |= text.Bold
	}
	if entry.Italic == chroma.Yes {
		pen.Attr |= text.Italic
	}
	h.pens[kind] = pen
	return pen
}

// Language is the language of a file by its name, for Lines; "" when it is not known.
func Language(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if len(name) > maxName {
		return ""
	}
	known.Lock()
	defer known.Unlock()
	ext := name
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		ext = "*" + name[i:]
	}
	if language, ok := known.byEnding[ext]; ok {
		return language
	}
	language := ""
	if lexer := lexers.Match(name); lexer != nil {
		language = strings.ToLower(lexer.Config().Name)
	}
	if len(known.byEnding) < maxEndings {
		known.byEnding[ext] = language
	}
	return language
}

// Bounds of the names of files.
const (
	maxName    = 255
	maxEndings = 1000
)

// known are languages of names that were asked about: to look through all patterns is slow.
var known = struct {
	sync.Mutex
	byEnding map[string]string
}{byEnding: map[string]string{}}
