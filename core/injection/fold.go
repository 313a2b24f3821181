package injection

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a normal form of a text that knows where each byte came from.
type folded struct {
	text string
	at   []int // at[i] is where the i-th byte of text began in the original; the last entry is the end
	// noise says that the reading of an honest text makes no sense: only rules are asked.
	noise bool
}

// originalSpan is where a match in the normal form lies in the original.
func (f folded) originalSpan(start, end int) (from, to int) {
	if len(f.at) == 0 {
		return 0, 0
	}
	from = f.at[min(start, len(f.at)-1)]
	return from, max(from, f.at[min(end, len(f.at)-1)])
}

// builder makes a folded.
type builder struct {
	b     strings.Builder
	at    []int
	blank bool // the last byte is a blank
	word  bool // the last character can be inside of a name
	under int  // where an underscore waits to see whether a name goes on; -1 when none does
}

func newBuilder(size int) *builder {
	b := &builder{under: -1}
	b.b.Grow(size)
	return b
}

func (b *builder) addRune(r rune, at int) {
	inName := unicode.IsLetter(r) || unicode.IsDigit(r)
	if b.under >= 0 && inName {
		b.writeRune('_', b.under)
	}
	b.under = -1
	if r == '_' {
		if b.word {
			b.under = at
		}
		return
	}
	b.writeRune(r, at)
	b.blank, b.word = false, inName
}

func (b *builder) writeRune(r rune, at int) {
	n := b.b.Len()
	b.b.WriteRune(r)
	for range b.b.Len() - n {
		b.at = append(b.at, at)
	}
}

// writeSpace writes one blank for any number of them.
func (b *builder) writeSpace(at int) {
	b.under = -1
	if b.blank || b.b.Len() == 0 {
		return
	}
	b.writeRune(' ', at)
	b.blank, b.word = true, false
}

func (b *builder) finish(end int) folded {
	return folded{text: b.b.String(), at: append(b.at, end)}
}

// normalise makes the normal form: NFKC, look-alikes in Latin words as ASCII, lower case, no
// invisible characters, accents or emphasis, single blanks. A line end is a blank like any other:
// orders are wrapped as all text is.
func normalise(s string) folded {
	b := newBuilder(len(s))
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			i += foldASCII(b, s, i)
			continue
		}
		n := norm.NFKC.NextBoundaryInString(s[i:], true)
		if n <= 0 {
			n = 1
		}
		foldPart(b, s[i:i+n], i)
		i += n
	}
	return replaceLookAlikes(b.finish(len(s)))
}

// foldASCII writes the byte at i, behind which no accent can stand, and says how many bytes it
// took: a line end that is written as an escape, as in a quoted text, is one too.
func foldASCII(b *builder, s string, i int) int {
	c := s[i]
	switch {
	case c == ' ' || c >= '\t' && c <= '\r':
		b.writeSpace(i)
	case c < ' ' || c == 0x7f || c == '*' || c == '`':
	case c == '\\' && i+1 < len(s) && s[i+1] == 'n' && (i == 0 || s[i-1] != '\\' && !isDrivePath(s[:i])):
		b.writeSpace(i)
		return 2
	case c >= 'A' && c <= 'Z':
		b.addRune(rune(c+'a'-'A'), i)
	default:
		b.addRune(rune(c), i)
	}
	return 1
}

// isDrivePath tells C:\new from a line end.
func isDrivePath(before string) bool {
	n := len(before)
	return n >= 2 && before[n-1] == ':' && (n == 2 || before[n-3] == ' ')
}

func foldPart(b *builder, part string, at int) {
	if len(part) > 1 || part[0] >= utf8.RuneSelf {
		part = norm.NFKC.String(part)
	}
	for _, r := range part {
		switch {
		case unicode.IsSpace(r):
			b.writeSpace(at)
		case isHidden(r) || r == '*' || r == '`':
			// emphasis inside words and around them hides nothing from a model
		default:
			b.addRune(unicode.ToLower(bareRune(r)), at)
		}
	}
}

// bareRune is a Latin letter without its accents, a plain quote, a plain dash.
func bareRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case strings.ContainsRune("“”„«»", r):
		return '"'
	case strings.ContainsRune("‘’‚", r):
		return '\''
	case strings.ContainsRune("‐‑–—−", r):
		return '-'
	case unicode.Is(unicode.Latin, r):
		base, _ := utf8.DecodeRuneInString(norm.NFKD.String(string(r)))
		return base
	default:
		return r
	}
}

// replaceLookAlikes writes words that mix ASCII letters with look-alikes of other scripts in ASCII.
// Words of one script stay as they are.
func replaceLookAlikes(t folded) folded {
	table := lookalikes()
	if !strings.ContainsFunc(t.text, func(r rune) bool { _, ok := table[r]; return ok }) {
		return t
	}
	b := newBuilder(len(t.text))
	for i := 0; i < len(t.text); {
		n, mask := wordAt(t.text[i:])
		for k, r := range t.text[i : i+n] {
			if l, ok := table[r]; ok && mask {
				r = l
			}
			b.writeRune(r, t.at[i+k])
		}
		i += n
	}
	return b.finish(t.at[len(t.at)-1])
}

// wordAt is the length of the word, or of the one other character, that s begins with, and whether
// the word mixes scripts.
func wordAt(s string) (n int, mixed bool) {
	var ascii, other bool
	for i, r := range s {
		if !unicode.IsLetter(r) {
			if i == 0 {
				return utf8.RuneLen(r), false
			}
			return i, ascii && other
		}
		if r < utf8.RuneSelf {
			ascii = true
		} else {
			other = true
		}
	}
	return len(s), ascii && other
}

// lookalikes is built once: the letters of the first list look like those of the second, in this
// order.
var lookalikes = sync.OnceValue(func() map[rune]rune {
	from := []rune("аеорсухіјѕһԁԛԝвкмнтгпѵαεικνορτυχωβıɡɑ")
	to := []rune("aeopcyxijshdqwbkmhtrnvaeikvoptuxwbiga")
	table := make(map[rune]rune, len(from))
	for i, r := range from {
		table[r] = to[i]
	}
	return table
})
