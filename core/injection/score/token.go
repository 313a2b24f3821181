package score

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word of a sentence, a Chinese character, or something that only its kind matters of.
type token struct {
	text string
	hash uint32
	kind kind
}

type kind uint8

const (
	word  kind = iota // letters and digits
	glyph             // one Chinese character
	other             // a word in a script that is neither
	mark              // an address, a path, a number, a sign: text is its name
)

// tokens cuts a sentence in normal form. Each token is also handed to see with the classes that it
// has by itself.
func (s *scorer) tokens(text string) {
	s.toks, s.concepts = s.toks[:0], s.concepts[:0]
	for field := range strings.FieldsSeq(text) {
		s.splitField(field)
		if len(s.toks) > maxTokens {
			return
		}
	}
}

// maxTokens bounds the work for one sentence; sentences are cut long before.
const maxTokens = 4000

func (s *scorer) addMark(name string) {
	s.toks = append(s.toks, token{text: name, hash: hashString(name) ^ 0x5bd1e995, kind: mark})
	if c := words().exact["="+name]; c != nil {
		s.noteClasses(c)
	}
}

// noteClasses notes classes of the token that was added last.
func (s *scorer) noteClasses(classes []class) {
	for _, c := range classes {
		s.concepts = append(s.concepts, concept{c, len(s.toks) - 1})
	}
}

const around = "\"'()[]{}<>,;:!?.…“”，。：；！？、（）「」『』【】《》|"

func (s *scorer) splitField(f string) {
	bare := strings.Trim(f, around)
	switch {
	case bare == "":
		s.keepSigns(f)
		return
	case f != bare && words().exact[f] != nil:
		s.addMark("frame")
		s.noteClasses(words().exact[f])
	}
	if len(f) < 40 && strings.HasSuffix(f, ":") {
		defer s.addMark(":")
	}
	if name := shapeOf(bare); name != "" {
		s.addMark(name)
		if name != "path" && name != "file" {
			return
		}
	}
	if c := words().exact[bare]; c != nil && strings.ContainsAny(bare, ".-/_'") {
		s.addMark("known")
		s.noteClasses(c)
	}
	s.splitWords(bare)
}

// keepSigns keeps the few signs that say something.
func (s *scorer) keepSigns(f string) {
	if c := words().exact[f]; c != nil {
		s.addMark(f)
		s.noteClasses(c)
	}
}

// shapeOf is what kind of a thing a field without blanks is, "" for words.
func shapeOf(f string) string {
	switch {
	case strings.Contains(f, "://"):
		if strings.ContainsAny(f, "{$<") || strings.Contains(f, "=") {
			return "urlvar"
		}
		return "url"
	case strings.HasPrefix(f, "~/"), strings.HasPrefix(f, "/") && len(f) > 1, strings.HasPrefix(f, "./"), strings.HasPrefix(f, "$home"):
		return "path"
	case strings.HasPrefix(f, "--") && len(f) > 3:
		return "flag"
	case strings.IndexByte(f, '@') > 0 && strings.IndexByte(f, '.') > 0:
		return "mail"
	case isNumber(f):
		return "number"
	case len(f) > 24 && isBlob(f):
		return "blob"
	}
	return isDotted(f)
}

func isDotted(f string) string {
	host, _, _ := strings.Cut(f, "/")
	host, _, _ = strings.Cut(host, ":")
	i := strings.LastIndexByte(host, '.')
	if i <= 0 || i == len(host)-1 || !isASCII(host) {
		return ""
	}
	last := host[i+1:]
	switch {
	case strings.Contains(fileEndings, " "+last+" "):
		return "file"
	case isNumber(strings.ReplaceAll(host, ".", "")) && strings.Count(host, ".") == 3:
		return "ip"
	case strings.Contains(hostEndings, " "+last+" "), strings.IndexByte(f, '/') > 0:
		return "host"
	default:
		return ""
	}
}

const (
	fileEndings = " md py go js ts tsx jsx json yaml yml txt sh toml c h cpp rs rb java kt log html css scss sql env csv xml lock pem conf cfg ini tar gz tgz zip db sqlite exe png jpg jpeg svg gif pdf doc docx mod sum rst tmpl mdc proto tf php lua vue service plist key crt pub bak ps1 bat "
	hostEndings = " com net org io xyz ru cn top site dev app me co info example test invalid cc pw biz uk de fr onion link live shop online club tk ml ga ly gg tv us eu jp kr tw hk in internal local cloud space store tech win "
)

func isNumber(f string) bool {
	for i := range len(f) {
		if c := f[i]; (c < '0' || c > '9') && c != '.' && c != ',' && c != '%' && c != ':' && c != '-' {
			return false
		}
	}
	return f != ""
}

// isBlob is what may be an encoded text.
func isBlob(f string) bool {
	digits := 0
	for i := range len(f) {
		c := f[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c == '+', c == '/', c == '=', c == '_':
		default:
			return false
		}
	}
	return digits > 0
}

func isASCII(f string) bool {
	for i := range len(f) {
		if f[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// splitWords adds the words of a field.
func (s *scorer) splitWords(f string) {
	for i := 0; i < len(f); {
		r, size := utf8.DecodeRuneInString(f[i:])
		switch {
		case isHanRune(r):
			i += s.addChinese(f[i:])
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			n := wordLength(f[i:])
			s.addWord(f[i : i+n])
			i += n
		default:
			i += size
		}
	}
}

// wordLength is the length of the word that f begins with.
func wordLength(f string) int {
	for i, r := range f {
		inside := unicode.IsLetter(r) && !isHanRune(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' && i > 0
		if !inside {
			return i
		}
	}
	return len(f)
}

func (s *scorer) addWord(w string) {
	w = strings.TrimRight(w, "'")
	if w == "" {
		return
	}
	if !isASCII(w) {
		s.toks = append(s.toks, token{w, hashString(w), other})
		s.noteClasses(words().classesOf(w))
		return
	}
	if isNumber(w) {
		s.addMark("number")
		return
	}
	st := stemWord(w)
	s.toks = append(s.toks, token{w, hashString(st), word})
	s.noteClasses(words().classesOf(w))
	s.addPhraseClasses()
}

// addPhraseClasses adds the classes of the phrases of two and three words that end with the last
// token.
func (s *scorer) addPhraseClasses() {
	l := words()
	for n := 2; n <= 3 && n <= len(s.toks); n++ {
		head := s.toks[len(s.toks)-n]
		if head.kind != word || !l.first[head.text] {
			continue
		}
		s.phrase = append(s.phrase[:0], head.text...)
		for _, t := range s.toks[len(s.toks)-n+1:] {
			s.phrase = append(append(s.phrase, '_'), t.text...)
		}
		if c := l.exact[string(s.phrase)]; c != nil {
			s.noteClasses(c)
		}
	}
}

// addChinese adds one character, or the characters of the longest known word, and says how many
// bytes that were.
func (s *scorer) addChinese(f string) int {
	l := words()
	n, best, bestChars := 0, []class(nil), 0
	var ends [16]int
	chars := 0
	for chars < min(l.longest, len(ends)) && n < len(f) {
		r, size := utf8.DecodeRuneInString(f[n:])
		if !isHanRune(r) {
			break
		}
		n += size
		ends[chars] = n
		chars++
		if c := l.exact[f[:n]]; c != nil {
			best, bestChars = c, chars
		}
	}
	take := max(1, bestChars)
	for i, from := 0, 0; i < take; i++ {
		s.toks = append(s.toks, token{f[from:ends[i]], hashString(f[from:ends[i]]), glyph})
		from = ends[i]
	}
	s.noteClasses(best)
	return ends[take-1]
}

// stemWord takes the commonest English endings off: words of one kind are one feature.
func stemWord(w string) string {
	if i := strings.IndexByte(w, '\''); i > 0 && w[i:] == "'s" {
		w = w[:i]
	}
	n := len(w)
	switch {
	case n > 5 && strings.HasSuffix(w, "ing"):
		w = dropDoubled(w[:n-3])
	case n > 4 && strings.HasSuffix(w, "ied"), n > 4 && strings.HasSuffix(w, "ies"):
		return w[:n-3] + "y"
	case n > 4 && strings.HasSuffix(w, "ed"):
		w = dropDoubled(w[:n-2])
	case n > 4 && strings.HasSuffix(w, "ly"):
		w = w[:n-2]
	case n > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		w = w[:n-1]
	}
	if len(w) > 4 && strings.HasSuffix(w, "e") {
		w = w[:len(w)-1]
	}
	return w
}

func dropDoubled(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

// hashString is FNV-1a.
func hashString(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
