package injection

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// otherReadings are other readings of a text: what a model decodes without being asked.
func otherReadings(s string, plain folded) []folded {
	var out []folded
	for _, read := range []func(string, folded) (folded, bool){readSimplified, readUnspacedChinese, readHyphened, readSpaced, readDigits, readEntities, readEscapes, readPercent, readReversed} {
		if v, ok := read(s, plain); ok {
			out = append(out, v)
		}
	}
	return append(out, decodeBlobs(s)...)
}

// readSpaced joins words whose letters stand apart: i g n o r e, i-g-n-o-r-e, i.g.n.o.r.e.
func readSpaced(_ string, t folded) (folded, bool) {
	hits := spelled().FindAllStringIndex(t.text, maxFindings)
	if hits == nil {
		return folded{}, false
	}
	joined := t.rewriteBytes(hits, func(b *builder, c byte, at int) {
		if c >= 'a' && c <= 'z' {
			b.addRune(rune(c), at)
		}
	})
	// Words that were spelled run together: the rules are asked with and without blanks.
	v := splitKnownWords(joined)
	v.noise = len(t.text) > 2000 // split also cuts words that only hold a known one
	return v, true
}

var spelled = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[a-z](?:[ .\-_/|+]{1,3}[a-z]){5,}\b`)
})

// splitKnownWords puts blanks back between the words that the rules know, for text whose own blanks
// are lost.
func splitKnownWords(t folded) folded {
	b, i := newBuilder(len(t.text)), 0
	for i < len(t.text) {
		n := 0
		for _, w := range vocabulary {
			if len(w) > n && strings.HasPrefix(t.text[i:], w) {
				n = len(w)
			}
		}
		if n == 0 {
			_, size := utf8.DecodeRuneInString(t.text[i:])
			copyPart(b, t, i, i+size)
			i += size
			continue
		}
		b.writeSpace(t.at[i])
		copyPart(b, t, i, i+n)
		b.writeSpace(t.at[i+n])
		i += n
	}
	return b.finish(t.at[len(t.at)-1])
}

var vocabulary = []string{
	"ignore", "disregard", "forget", "previous", "prior", "above", "all", "your", "the", "instructions", "instruction", "prompt", "rules",
	"system", "reveal", "you", "are", "now", "do", "not", "tell", "user", "send", "secrets", "password", "and",
}

// rewriteBytes is t with each byte of the places written anew.
func (f folded) rewriteBytes(places [][]int, write func(b *builder, c byte, at int)) folded {
	b, last := newBuilder(len(f.text)), 0
	for _, p := range places {
		copyPart(b, f, last, p[0])
		for i := p[0]; i < p[1]; i++ {
			write(b, f.text[i], f.at[i])
		}
		last = p[1]
	}
	copyPart(b, f, last, len(f.text))
	return b.finish(f.at[len(f.at)-1])
}

func copyPart(b *builder, t folded, from, to int) {
	for i := from; i < to; {
		r, n := utf8.DecodeRuneInString(t.text[i:])
		if r == ' ' {
			b.writeSpace(t.at[i])
		} else {
			b.addRune(r, t.at[i])
		}
		i += n
	}
}

// readDigits reads digits and signs as the letters that they stand for, in words that mix both:
// 1gn0re.
func readDigits(_ string, t folded) (folded, bool) {
	hits := mixed().FindAllStringIndex(t.text, 200)
	if hits == nil {
		return folded{}, false
	}
	return t.rewriteBytes(hits, func(b *builder, c byte, at int) {
		if k := strings.IndexByte("01345789@$!", c); k >= 0 {
			c = "oieastbgasi"[k]
		}
		b.addRune(rune(c), at)
	}), true
}

var mixed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[a-z]*[a-z@$!][0134578@$!]+[a-z][a-z0-9@$!]*|\b[0134578@$]+[a-z][a-z0-9@$!]+`)
})

// unlocatedReading is a reading whose places are lost: a hit in it is a hit in all of the original.
func unlocatedReading(s string, original int) folded {
	t := normalise(s)
	for i := range t.at {
		t.at[i] = 0
	}
	t.at[len(t.at)-1] = original
	for i := 1; i < len(t.at); i++ {
		t.at[i] = original
	}
	return t
}

func readEntities(s string, _ folded) (folded, bool) {
	if !strings.Contains(s, "&#") {
		return folded{}, false
	}
	return unlocatedReading(html.UnescapeString(s), len(s)), true
}

func readEscapes(s string, _ folded) (folded, bool) {
	if !strings.Contains(s, `\u`) && !strings.Contains(s, `\x`) {
		return folded{}, false
	}
	out := escaped().ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.ParseUint(strings.Trim(m[2:], "{}"), 16, 32)
		if err != nil || !utf8.ValidRune(rune(n)) {
			return m
		}
		return string(rune(n))
	})
	return unlocatedReading(out, len(s)), out != s
}

var escaped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\}|\\x[0-9a-fA-F]{2}`)
})

func readPercent(s string, _ folded) (folded, bool) {
	if strings.Count(s, "%20") < 2 {
		return folded{}, false
	}
	out, err := url.PathUnescape(s)
	return unlocatedReading(out, len(s)), err == nil
}

// readReversed reads from the end, when the text speaks of it.
func readReversed(s string, t folded) (folded, bool) {
	if !strings.Contains(t.text, "revers") && !strings.Contains(t.text, "backward") && !strings.Contains(t.text, "snoitcurtsni") {
		return folded{}, false
	}
	runes := []rune(t.text)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	v := unlocatedReading(string(runes), len(s))
	v.noise = true
	return v, true
}

// decodeBlobs decodes what looks like base64 or hexadecimal and turns out to be text. ROT13 is read
// where it is named.
func decodeBlobs(s string) []folded {
	var out []folded
	for _, at := range blob().FindAllStringIndex(s, maxFindings) {
		text, ok := decodeBlob(s[at[0]:at[1]])
		if !ok {
			continue
		}
		t := unlocatedReading(text, 0)
		for i := range t.at {
			t.at[i] = at[0]
		}
		for i := 1; i < len(t.at); i++ {
			t.at[i] = at[1]
		}
		out = append(out, t)
	}
	if strings.Contains(strings.ToLower(s), "rot13") {
		v := unlocatedReading(strings.Map(rot13, s), len(s))
		v.noise = true
		out = append(out, v)
	}
	return out
}

var blob = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[A-Za-z0-9+/_-]{20,}={0,2}`)
})

func decodeBlob(s string) (string, bool) {
	if raw, err := hex.DecodeString(s); err == nil && isReadable(raw) {
		return string(raw), true
	}
	bare := strings.TrimRight(s, "=")
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if raw, err := enc.DecodeString(bare); err == nil && isReadable(raw) {
			return string(raw), true
		}
	}
	return "", false
}

// isReadable is text, not noise that happens to decode.
func isReadable(raw []byte) bool {
	if !utf8.Valid(raw) {
		return false
	}
	letters := 0
	for _, r := range string(raw) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
	}
	return letters*10 > utf8.RuneCount(raw)*7
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	default:
		return r
	}
}
