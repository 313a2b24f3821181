package text

import (
	"fmt"
	"strconv"
	"strings"
)

// Colour is a colour of a cell: 0 is the terminal's default, else its kind in the top byte and its
// value below.
type Colour uint32

const (
	kindIndex Colour = 1 << 24 // 0 to 15 are the basic colours, up to 255 the palette
	kindRGB   Colour = 2 << 24
)

// Indexed is a colour of the palette: 0 to 15 are the basic ones.
func Indexed(n uint8) Colour { return kindIndex | Colour(n) }

// RGB is a colour by its parts.
func RGB(r, g, b uint8) Colour { return kindRGB | Colour(r)<<16 | Colour(g)<<8 | Colour(b) }

// String is the colour as styles write it: "#rrggbb", or the number of a palette colour; "" is the
// default.
func (c Colour) String() string {
	switch c &^ 0xffffff {
	case kindRGB:
		return fmt.Sprintf("#%06x", uint32(c&0xffffff))
	case kindIndex:
		return strconv.Itoa(int(c & 0xff))
	default:
		return ""
	}
}

// Attr is a set of text attributes.
type Attr uint16

// Attributes.
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Underline
	Reverse
	Strike
)

var attrCodes = [...]struct {
	attr Attr
	code string
}{{Bold, "1"}, {Faint, "2"}, {Italic, "3"}, {Underline, "4"}, {Reverse, "7"}, {Strike, "9"}}

// Pen is the style that SGR sequences have set up at some place. The zero Pen is the terminal's
// default. Pens compare with ==.
type Pen struct {
	Fg, Bg Colour
	Attr   Attr
}

// SGR returns the sequence that sets exactly this style, whatever was set before.
func (p Pen) SGR() string { return string(p.Append(nil)) }

// Append appends what SGR returns to b.
func (p Pen) Append(b []byte) []byte {
	if p == (Pen{}) {
		return append(b, reset...)
	}
	b = append(b, "\x1b[0"...)
	for _, a := range attrCodes {
		if p.Attr&a.attr != 0 {
			b = append(append(b, ';'), a.code...)
		}
	}
	b = p.Fg.appendCode(b, 30)
	b = p.Bg.appendCode(b, 40)
	return append(b, 'm')
}

func (c Colour) appendCode(b []byte, base int64) []byte {
	v := int64(c & 0xffffff)
	switch c &^ 0xffffff {
	case kindIndex:
		if v < 8 {
			return strconv.AppendInt(append(b, ';'), base+v, 10)
		}
		if v < 16 {
			return strconv.AppendInt(append(b, ';'), base+60+v-8, 10)
		}
		b = strconv.AppendInt(append(b, ';'), base+8, 10)
		return strconv.AppendInt(append(b, ";5;"...), v, 10)
	case kindRGB:
		b = strconv.AppendInt(append(b, ';'), base+8, 10)
		b = strconv.AppendInt(append(b, ";2;"...), v>>16, 10)
		b = strconv.AppendInt(append(b, ';'), v>>8&0xff, 10)
		return strconv.AppendInt(append(b, ';'), v&0xff, 10)
	default:
		return b
	}
}

// Scan applies every SGR sequence in s.
func (p *Pen) Scan(s string) {
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			return
		}
		n := Sequence(s[i:])
		if seq := s[i : i+n]; isSGR(seq) {
			p.Set(seq[2 : n-1])
		}
		s = s[i+n:]
	}
}

// isSGR reports whether seq is a whole CSI sequence that ends in m and holds parameters only.
func isSGR(seq string) bool {
	if len(seq) < 3 || seq[1] != '[' || seq[len(seq)-1] != 'm' {
		return false
	}
	for i := 2; i < len(seq)-1; i++ {
		if c := seq[i]; (c < '0' || c > '9') && c != ';' && c != ':' {
			return false
		}
	}
	return true
}

// Set applies the parameters of one SGR sequence, "1;38;5;208" for example. What it does not know
// changes nothing.
func (p *Pen) Set(params string) {
	var buf [24]int
	list := buf[:0]
	for params != "" || len(list) == 0 {
		part := params
		if i := strings.IndexByte(params, ';'); i >= 0 {
			part, params = params[:i], params[i+1:]
			if params == "" {
				params = "0" // "1;" means "1;0"
			}
		} else {
			params = ""
		}
		list = appendParam(list, part)
		if len(list) > 64 {
			break // no honest sequence is that long
		}
	}
	for i := 0; i < len(list); {
		i += p.applyParameters(list[i:])
	}
}

// appendParam appends one parameter, taking colon-separated colours ("38:2::1:2:3") apart into the
// semicolon form.
func appendParam(list []int, part string) []int {
	if strings.IndexByte(part, ':') < 0 {
		return append(list, parseNumber(part))
	}
	sub := strings.Split(part, ":")
	switch {
	case sub[0] == "4": // underline styles: 4:0 is none, the rest we draw alike
		if parseNumber(sub[1]) == 0 {
			return append(list, 24)
		}
		return append(list, 4)
	case len(sub) == 6 && sub[1] == "2": // with a colour space
		sub = append(sub[:2], sub[3:]...)
	}
	for _, s := range sub {
		list = append(list, parseNumber(s))
	}
	return list
}

func parseNumber(s string) int {
	n := 0
	for i := 0; i < len(s) && n < 10_000; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// applyParameters takes the first parameter of list, with what belongs to it, and returns how many
// it took.
func (p *Pen) applyParameters(list []int) int {
	switch n := list[0]; {
	case n == 0:
		*p = Pen{}
	case n < 30:
		p.applyAttribute(n)
	case n == 38 || n == 48 || n == 58:
		c, took := extendedColour(list)
		switch n {
		case 38:
			p.Fg = c
		case 48:
			p.Bg = c
		}
		return took
	case n < 38:
		p.Fg = kindIndex | Colour(n-30)
	case n == 39:
		p.Fg = 0
	case n >= 40 && n < 48:
		p.Bg = kindIndex | Colour(n-40)
	case n == 49:
		p.Bg = 0
	case n >= 90 && n < 98:
		p.Fg = kindIndex | Colour(n-90+8)
	case n >= 100 && n < 108:
		p.Bg = kindIndex | Colour(n-100+8)
	}
	return 1
}

func (p *Pen) applyAttribute(n int) {
	switch n {
	case 1:
		p.Attr |= Bold
	case 2:
		p.Attr |= Faint
	case 3:
		p.Attr |= Italic
	case 4, 21:
		p.Attr |= Underline
	case 7:
		p.Attr |= Reverse
	case 9:
		p.Attr |= Strike
	case 22:
		p.Attr &^= Bold | Faint
	case 23:
		p.Attr &^= Italic
	case 24:
		p.Attr &^= Underline
	case 27:
		p.Attr &^= Reverse
	case 29:
		p.Attr &^= Strike
	}
}

// extendedColour reads 38;5;n and 38;2;r;g;b.
func extendedColour(list []int) (c Colour, took int) {
	switch {
	case len(list) >= 3 && list[1] == 5:
		return kindIndex | Colour(list[2]&0xff), 3
	case len(list) >= 5 && list[1] == 2:
		return kindRGB | Colour(list[2]&0xff)<<16 | Colour(list[3]&0xff)<<8 | Colour(list[4]&0xff), 5
	default:
		return 0, len(list)
	}
}
