package command

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// This file judges Python that stands in a command (python3 -c). It knows a part of the language:
// expressions, assignments to plain names, loops, conditions, comprehensions, and imports of
// modules that only compute. Everything that is reached by it only computes, reads what comes in or
// a file that the text names, and prints. What is not known here asks.
//
// The rule is by names, not by types: a name is one that the text itself sets, a builtin of
// pureBuiltins, or a module of pureModules; an attribute is one of pureAttributes, or stands in the
// list of its module. So no value is reached that could do more, however it is called.

// pureModules are modules that only compute, with what may be used of them.
var pureModules = map[string]string{
	"json": "load loads dumps JSONDecodeError", "math": "*", "cmath": "*", "statistics": "mean fmean median mode stdev pstdev variance pvariance quantiles", "string": "ascii_letters ascii_lowercase ascii_uppercase digits punctuation printable capwords",
	"sys": "stdin stdout stderr argv version version_info maxsize byteorder platform exit getrecursionlimit getsizeof executable prefix path", "re": "match search findall finditer fullmatch sub split compile escape I M S X IGNORECASE MULTILINE DOTALL VERBOSE",
	"datetime": "datetime date timedelta timezone time", "time": "time sleep strftime gmtime localtime perf_counter monotonic", "random": "random randint choice choices sample shuffle uniform seed", "itertools": "*", "fractions": "Fraction",
	"decimal": "Decimal", "collections": "Counter defaultdict OrderedDict deque", "hashlib": "md5 sha1 sha224 sha256 sha384 sha512 blake2b", "base64": "b64encode b64decode b32encode b32decode urlsafe_b64encode urlsafe_b64decode",
	"uuid": "uuid4 UUID", "platform": "python_version machine system release", "textwrap": "dedent indent fill wrap shorten", "functools": "reduce", "csv": "reader DictReader", "bisect": "bisect bisect_left bisect_right insort", "heapq": "heapify heappush heappop nlargest nsmallest merge", "calendar": "monthrange isleap month calendar day_name month_name weekday leapdays",
	"unicodedata": "name normalize category", "html": "escape unescape", "binascii": "hexlify unhexlify crc32", "secrets": "token_hex token_urlsafe token_bytes", "zlib": "crc32 adler32", "colorsys": "rgb_to_hsv hsv_to_rgb rgb_to_hls hls_to_rgb", "operator": "itemgetter mul add sub",
	"keyword": "kwlist iskeyword", "struct": "pack unpack calcsize",
}

// readPython reports whether Python code is understood and only computes, reads and prints; and
// which files and whether what comes in it reads.
func readPython(code string) (files []string, stdin, ok bool) {
	p := pythonReader{own: map[string]bool{}, modules: map[string]string{}}
	if len(code) > 4000 || !utf8.ValidString(code) || strings.ContainsAny(code, unknown+"\f\r") || !p.scanTokens(code) {
		return nil, false, false
	}
	p.collectBindings()
	for name := range p.own {
		if isOneOf(wordList("python.reaching-builtins"), name) {
			return nil, false, false
		}
	}
	for p.at = 0; p.at < len(p.tokens); {
		if !p.judgeToken() {
			return nil, false, false
		}
	}
	return p.files, p.stdin, true
}

// pythonToken is a word, a number, a text or a sign.
type pythonToken struct {
	kind byte // 'w', 'n', 's', or the sign itself; '\n' ends a line
	text string
}

type pythonReader struct {
	tokens  []pythonToken
	at      int
	own     map[string]bool   // names that the text sets
	modules map[string]string // what the names of modules mean
	files   []string
	stdin   bool
}

// scanTokens takes code apart. It fails where that is not clear.
func (p *pythonReader) scanTokens(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t':
			i++
		case c == '#':
			i += len(s[i:]) - len(strings.TrimLeftFunc(s[i:], func(r rune) bool { return r != '\n' }))
		case c == '\n' || c == ';':
			p.tokens = append(p.tokens, pythonToken{'\n', ""})
			i++
		case c == '"' || c == '\'':
			n := p.scanQuoted(s[i:], "")
			if n < 0 {
				return false
			}
			i += n
		case isNameByte(c):
			n := p.scanWord(s[i:])
			if n < 0 {
				return false
			}
			i += n
		case c >= '0' && c <= '9':
			n := len(pythonNumber().FindString(s[i:]))
			if n == 0 || i+n < len(s) && (isNameByte(s[i+n]) || s[i+n] == '.') { // 1.0.__class__
				return false
			}
			p.tokens = append(p.tokens, pythonToken{'n', s[i : i+n]})
			i += n
		case strings.IndexByte("+-*/%()[]{},.:=<>!&|^~", c) >= 0:
			p.tokens = append(p.tokens, pythonToken{c, ""})
			i++
		default: // a backslash, @, a letter that is not ASCII
			return false
		}
	}
	return true
}

// scanWord takes a word, or a text with letters before its quote, and returns its length; -1 when
// it is not understood.
func (p *pythonReader) scanWord(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII || !isNameByte(byte(r)) && (r < '0' || r > '9') })
	if n < 0 {
		n = len(s)
	}
	if n < len(s) && (s[n] == '"' || s[n] == '\'') {
		m := p.scanQuoted(s[n:], strings.ToLower(s[:n]))
		if m < 0 {
			return -1
		}
		return n + m
	}
	p.tokens = append(p.tokens, pythonToken{'w', s[:n]})
	return n
}

var pythonNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:0[xX][0-9a-fA-F_]+|0[bBoO][0-7_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9]+)?)`)
})

func isNameByte(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// scanQuoted takes a text and returns its length; -1 when it is not understood. What stands in
// braces of an f-string is code.
func (p *pythonReader) scanQuoted(s, prefix string) int {
	if !isOneOf("r b rb br f u", prefix) && prefix != "" || strings.HasPrefix(s, `"""`) || strings.HasPrefix(s, "'''") {
		return -1
	}
	i := 1
	for ; i < len(s) && s[i] != s[0]; i++ {
		if s[i] == '\n' {
			return -1
		}
		if s[i] == '\\' {
			i++
		}
	}
	if i >= len(s) {
		return -1
	}
	text := s[1:i]
	p.tokens = append(p.tokens, pythonToken{'s', text})
	if prefix == "f" && !p.readFormatted(text) {
		return -1
	}
	return i + 1
}

// readFormatted reads the code in an f-string as an expression of its own.
func (p *pythonReader) readFormatted(text string) bool {
	text = strings.NewReplacer("{{", "", "}}", "").Replace(text)
	for {
		_, after, ok := strings.Cut(text, "{")
		if !ok {
			return true
		}
		code, rest, closed := strings.Cut(after, "}")
		if !closed || strings.ContainsAny(code, `{\`) {
			return false
		}
		if at := strings.LastIndexAny(code, ":!"); at >= 0 && !strings.ContainsAny(code[at:], `'")]=`) { // {x:.2f}, {x!r}
			code = code[:at]
		}
		p.tokens = append(p.tokens, pythonToken{'+', ""}, pythonToken{'(', ""})
		if !p.scanTokens(code) {
			return false
		}
		p.tokens = append(p.tokens, pythonToken{')', ""})
		text = rest
	}
}

// collectBindings collects the names that the text sets: by =, for, as, with and :=.
func (p *pythonReader) collectBindings() {
	depth := 0 // brackets around: there, name=value is an argument
	for i, t := range p.tokens {
		switch t.kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if t.kind != 'w' {
			continue
		}
		p.bindWord(i, depth)
	}
}

// bindWord notes what the word i sets.
func (p *pythonReader) bindWord(i, depth int) {
	t, next, after := p.tokens[i], p.kindAt(i+1), p.kindAt(i+2)
	switch {
	case t.text == "lambda":
		p.bindUntil(i+1, func(t pythonToken) bool { return t.kind == ':' })
	case t.text == "for":
		p.bindUntil(i+1, func(t pythonToken) bool { return t.text == "in" && t.kind == 'w' || t.kind == '\n' })
	case t.text == "as" && next == 'w' && p.inStatement(i, "import") == "":
		p.own[p.tokens[i+1].text] = true
	case p.kindAt(i-1) == '.':
	case next == ':' && after == '=', depth == 0 && (next == '=' && after != '=' || next == ',' && p.isUnpacking(i)):
		p.own[t.text] = true
	}
}

// bindUntil takes all names up to a token for names that the text sets.
func (p *pythonReader) bindUntil(i int, end func(t pythonToken) bool) {
	for ; i < len(p.tokens) && !end(p.tokens[i]); i++ {
		if t := p.tokens[i]; t.kind == 'w' && !isOneOf(wordList("python.pure-builtins"), t.text) && !isOneOf(wordList("python.words"), t.text) {
			p.own[t.text] = true
		}
	}
}

// isUnpacking reports whether the names from i on are set together: a, b = ...
func (p *pythonReader) isUnpacking(i int) bool {
	for ; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; {
		case t.kind == 'w' && !isOneOf(wordList("python.words"), t.text), t.kind == ',':
		case t.kind == '=':
			return p.kindAt(i+1) != '='
		default:
			return false
		}
	}
	return false
}

func (p *pythonReader) kindAt(i int) byte {
	if i < 0 || i >= len(p.tokens) {
		return 0
	}
	return p.tokens[i].kind
}

// inStatement returns a word when it stands before token i in its statement.
func (p *pythonReader) inStatement(i int, word string) string {
	for i--; i >= 0 && p.tokens[i].kind != '\n'; i-- {
		if p.tokens[i].kind == 'w' && p.tokens[i].text == word {
			return word
		}
	}
	return ""
}

// judgeToken judges the token at p.at, with what belongs to it, and goes on.
func (p *pythonReader) judgeToken() bool {
	t := p.tokens[p.at]
	if t.kind != 'w' {
		p.at++
		return true
	}
	if p.kindAt(p.at-1) == '.' {
		return p.judgeAttribute(t.text)
	}
	switch {
	case t.text == "import":
		return p.judgeImport()
	case t.text == "from":
		return p.importedFrom()
	case t.text == "open":
		return p.isPlainOpen()
	case strings.HasPrefix(t.text, "__"):
		return false
	case p.modules[t.text] != "" && !p.own[t.text]:
		return p.judgeModule(p.modules[t.text])
	case p.own[t.text] && p.modules[t.text] == "", isOneOf(wordList("python.words"), t.text), isOneOf(wordList("python.pure-builtins"), t.text):
		p.at++
		return true
	case p.isArgumentName(): // print(x, end='')
		p.at++
		return true
	}
	return false
}

// isArgumentName reports whether a word is the name of an argument.
func (p *pythonReader) isArgumentName() bool {
	return p.kindAt(p.at+1) == '=' && p.kindAt(p.at+2) != '=' && (p.kindAt(p.at-1) == '(' || p.kindAt(p.at-1) == ',')
}

func (p *pythonReader) judgeAttribute(name string) bool {
	p.at++
	return isOneOf(wordList("python.pure-attributes"), name) || isOneOf(wordList("python.class-methods"), name) || name == "format" && p.at >= 3 && p.plainFormat(p.at-3)
}

// plainFormat reports whether token i is a text whose fields name no attributes.
func (p *pythonReader) plainFormat(i int) bool {
	t := p.tokens[i]
	if t.kind != 's' || p.kindAt(i-1) == 's' {
		return false
	}
	for part := range strings.SplitSeq(t.text, "{") {
		field, _, _ := strings.Cut(part, "}")
		if name, _, _ := strings.Cut(field, ":"); part != t.text && strings.ContainsAny(name, ".[_") {
			return false
		}
	}
	return true
}

// judgeImport judges import a, b as c.
func (p *pythonReader) judgeImport() bool {
	for {
		p.at++
		if p.kindAt(p.at) != 'w' || pureModules[p.tokens[p.at].text] == "" {
			return false
		}
		name := p.tokens[p.at].text
		as := name
		p.at++
		if p.atWord("as") && p.kindAt(p.at+1) == 'w' {
			as = p.tokens[p.at+1].text
			p.at += 2
		}
		if p.own[as] { // it may be either
			return false
		}
		p.modules[as] = name
		if p.kindAt(p.at) != ',' {
			return p.kindAt(p.at) == '\n' || p.at == len(p.tokens)
		}
	}
}

// importedFrom is from a import b.
func (p *pythonReader) importedFrom() bool {
	if p.kindAt(p.at+1) != 'w' || pureModules[p.tokens[p.at+1].text] == "" || p.kindAt(p.at+2) != 'w' || p.tokens[p.at+2].text != "import" {
		return false
	}
	module := p.tokens[p.at+1].text
	p.at += 2
	for {
		p.at++
		if p.kindAt(p.at) != 'w' || !p.isPureName(module, p.tokens[p.at].text) {
			return false
		}
		name := p.tokens[p.at].text
		p.at++
		if p.atWord("as") && p.kindAt(p.at+1) == 'w' {
			name = p.tokens[p.at+1].text
			p.at += 2
		}
		if isOneOf(wordList("python.reaching-builtins"), name) {
			return false
		}
		p.own[name] = true
		if p.kindAt(p.at) != ',' {
			return p.kindAt(p.at) == '\n' || p.at == len(p.tokens)
		}
	}
}

func (p *pythonReader) atWord(text string) bool {
	return p.kindAt(p.at) == 'w' && p.tokens[p.at].text == text
}

func (p *pythonReader) isPureName(module, name string) bool {
	p.stdin = p.stdin || name == "stdin"
	list := pureModules[module]
	return (list == "*" || isOneOf(list, name)) && !strings.HasPrefix(name, "_")
}

// judgeModule judges the name of a module: what follows is taken from it.
func (p *pythonReader) judgeModule(module string) bool {
	if p.kindAt(p.at+1) != '.' || p.kindAt(p.at+2) != 'w' ||
		!p.isPureName(module, p.tokens[p.at+2].text) {
		return false
	}
	if module == "sys" && p.tokens[p.at+2].text == "path" && !p.isOnlyShown() {
		return false
	}
	p.at += 3
	return true
}

// isOnlyShown reports whether sys.path is only printed or gone through: whoever changes it has
// Python import other code.
func (p *pythonReader) isOnlyShown() bool {
	before, after := p.kindAt(p.at-1), p.kindAt(p.at+3)
	switch {
	case before == '(' && after == ')' && p.kindAt(p.at-2) == 'w':
		return isOneOf("print join len", p.tokens[p.at-2].text)
	case before == 'w' && after == ':':
		return p.tokens[p.at-1].text == "in"
	}
	return false
}

// isPlainOpen is open('file'), and nothing but that: reading a file that the text names.
func (p *pythonReader) isPlainOpen() bool {
	if p.kindAt(p.at-1) == 'w' && p.tokens[p.at-1].text == "as" || p.own["open"] || p.kindAt(p.at+1) != '(' || p.kindAt(p.at+2) != 's' {
		return false
	}
	name := p.tokens[p.at+2].text
	if strings.ContainsAny(name, `\{`) {
		return false
	}
	p.at += 3
	if p.kindAt(p.at) == ',' && p.kindAt(p.at+1) == 's' {
		if !isOneOf("r rb rt", p.tokens[p.at+1].text) {
			return false
		}
		p.at += 2
	}
	if p.kindAt(p.at) == ',' && p.kindAt(p.at+1) == 'w' && p.tokens[p.at+1].text == "encoding" && p.kindAt(p.at+2) == '=' && p.kindAt(p.at+3) == 's' {
		p.at += 4
	}
	if p.kindAt(p.at) != ')' {
		return false
	}
	p.at++
	p.files = append(p.files, name)
	return true
}

// readsPython reports whether Python code only computes, reads and prints. The files that it reads
// are judged as those of any command.
func (w *walker) readsPython(code string) bool {
	files, _, ok := readPython(code)
	if !ok {
		return false
	}
	for _, f := range files {
		if k := w.placeOf(field{text: f}).kind; k != placeProject && k != placeTemp && k != placeCredential {
			return false
		}
		w.addRead(field{text: f}, true)
	}
	if w.in.any {
		w.passOnFiltered()
	}
	return true
}
