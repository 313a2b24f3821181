package markdown

import (
	"strings"
	"sync"

	"hermes/ui/text"
)

// language is what the highlighter knows of one: enough for calm colours (words, strings, comments, numbers), no grammar.
type language struct {
	comment    []string // to the end of the line
	open, shut string   // block comment
	quotes     string
	long       string // a quote that runs over lines
	words      map[string]bool
	anyCase    bool
}

const maxHighlight = 2000 // bytes of one line that are coloured; machine-made lines are not worth it

var languages = sync.OnceValue(func() map[string]*language {
	set := func(s string) map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(s) {
			m[w] = true
		}
		return m
	}
	c := func(words string) *language {
		return &language{comment: []string{"//"}, open: "/*", shut: "*/", quotes: `"'`, words: set(words)}
	}
	golang := c("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota any error string int bool byte rune")
	golang.long = "`"
	js := c("async await break case catch class const continue debugger default delete do else export extends finally for from function if import in instanceof interface let new of return static super switch this throw try type typeof var void while yield null true false undefined")
	js.long = "`"
	cc := c("auto break case char class const constexpr continue default delete do double else enum explicit extern final float for goto if inline int long namespace new null nullptr operator override private protected public return short signed sizeof static struct switch template this throw try typedef union unsigned using virtual void volatile while true false boolean byte import package extends implements interface fun val var when object data sealed suspend")
	rust := c("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while String Vec Option Result Some None Ok Err")
	python := &language{comment: []string{"#"}, quotes: `"'`, words: set("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False self match case")}
	ruby := &language{comment: []string{"#"}, quotes: `"'`, words: set("begin break case class def do else elsif end ensure false for if in module next nil not or and redo rescue retry return self super then true undef unless until when while yield require")}
	shell := &language{comment: []string{"#"}, quotes: `"'`, words: set("if then else elif fi for in do done while until case esac function return export local sudo cd echo exit set source test read shift trap FROM RUN COPY CMD ENV WORKDIR ENTRYPOINT ARG")}
	data := &language{comment: []string{"#"}, quotes: `"'`, words: set("true false null yes no on off")}
	sql := &language{comment: []string{"--"}, open: "/*", shut: "*/", quotes: `'"`, anyCase: true, words: set("select from where insert into values update set delete create table index view drop alter add primary key foreign references not null unique join left right inner outer on group by order having limit offset as and or in is like between union all distinct case when then else end begin commit rollback with exists text integer")}
	lua := &language{comment: []string{"--"}, quotes: `"'`, words: set("and break do else elseif end false for function goto if in local nil not or repeat return then true until while")}
	m := map[string]*language{}
	for names, l := range map[string]*language{
		"go golang": golang, "js javascript jsx ts typescript tsx mjs": js, "c h cpp c++ cc java cs csharp kotlin kt swift php scala dart proto": cc,
		"rust rs": rust, "python py python3 starlark": python, "ruby rb elixir ex": ruby, "sh bash shell zsh fish console dockerfile docker make makefile": shell,
		"yaml yml toml ini conf json jsonc": data, "sql sqlite postgres mysql": sql, "lua": lua,
	} {
		for _, n := range strings.Fields(names) {
			m[n] = l
		}
	}
	return m
})

func languageOf(name string) *language {
	if name == "" || len(name) > 16 {
		return nil
	}
	return languages()[strings.ToLower(name)]
}

// highlighter colours the lines of one code block, one after the other.
type highlighter struct {
	lang  *language
	pens  *palette
	until string // what ends the comment or string that is open at the line's start
	pen   text.Pen
	out   []run
}

func (h *highlighter) line(s string) []run {
	h.out = h.out[:0]
	if h.lang == nil || len(s) > maxHighlight {
		return append(h.out, run{s, h.pens.codeBlock})
	}
	plain := 0
	for i := 0; i < len(s); {
		n, pen := h.token(s, i)
		if pen != h.pens.codeBlock {
			h.put(s[plain:i], h.pens.codeBlock)
			h.put(s[i:i+n], pen)
			plain = i + n
		}
		i += n
	}
	h.put(s[plain:], h.pens.codeBlock)
	return h.out
}

func (h *highlighter) put(s string, pen text.Pen) {
	if s != "" {
		h.out = append(h.out, run{s, pen})
	}
}

// token returns the length and pen of what begins at i.
func (h *highlighter) token(s string, i int) (int, text.Pen) {
	rest, l := s[i:], h.lang
	if h.until != "" {
		return h.toEnd(rest, 0)
	}
	for _, c := range l.comment {
		if strings.HasPrefix(rest, c) && (c != "#" || i == 0 || s[i-1] == ' ') {
			return len(rest), h.pens.comment
		}
	}
	switch c := rest[0]; {
	case l.open != "" && strings.HasPrefix(rest, l.open):
		h.until, h.pen = l.shut, h.pens.comment
		return h.toEnd(rest, len(l.open))
	case l.long != "" && c == l.long[0]:
		h.until, h.pen = l.long, h.pens.str
		return h.toEnd(rest, 1)
	case strings.IndexByte(l.quotes, c) >= 0:
		return quoted(rest), h.pens.str
	case letter(c):
		return h.word(rest)
	case c >= '0' && c <= '9':
		return span(rest, func(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '.' }), h.pens.number
	default:
		return 1, h.pens.codeBlock
	}
}

func (h *highlighter) toEnd(rest string, from int) (int, text.Pen) {
	if n := strings.Index(rest[from:], h.until); n >= 0 {
		n += from + len(h.until)
		h.until = ""
		return n, h.pen
	}
	return len(rest), h.pen
}

func (h *highlighter) word(rest string) (int, text.Pen) {
	n := span(rest, func(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c >= 0x80 })
	w := rest[:n]
	if h.lang.anyCase {
		w = strings.ToLower(w)
	}
	if h.lang.words[w] {
		return n, h.pens.keyword
	}
	return n, h.pens.codeBlock
}

// quoted returns the length of the string at the start of s; one that does not end is only its quote (an apostrophe).
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 1
}

func span(s string, ok func(byte) bool) int {
	n := 1
	for n < len(s) && ok(s[n]) {
		n++
	}
	return n
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
