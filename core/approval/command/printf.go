package command

import (
	"strconv"
	"strings"
)

// printfOutput is what printf puts out of a format and its arguments.
func printfOutput(args []field) string {
	var out strings.Builder
	rest := args[1:]
	for range maxWords {
		before := len(rest)
		rest = writeFormat(&out, args[0].text, rest)
		if len(rest) == 0 || len(rest) == before {
			break // a format that takes nothing is printed once
		}
	}
	return unescapeText(out.String())
}

// writeFormat writes a format once and returns the arguments that it left over.
func writeFormat(out *strings.Builder, f string, args []field) []field {
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			out.WriteByte(f[i])
			continue
		}
		for i++; i < len(f) && strings.IndexByte("-+ #0123456789.*", f[i]) >= 0; {
			i++
		}
		switch {
		case i >= len(f):
		case f[i] == '%':
			out.WriteByte('%')
		case len(args) > 0:
			out.WriteString(args[0].text)
			args = args[1:]
		}
	}
	return args
}

// unescapeText takes \n, \x41 and \101 for what printf, and the echo of some shells, make of them.
func unescapeText(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		switch at := strings.IndexByte("abefnrtv", s[i]); {
		case at >= 0:
			out.WriteByte("\a\b\x1b\f\n\r\t\v"[at])
		case s[i] == 'x':
			i += writeDigits(&out, s[i+1:], 2, 16)
		case s[i] >= '0' && s[i] <= '7':
			i += writeDigits(&out, s[i:], 3+len(s[i:])-len(strings.TrimPrefix(s[i:], "0")), 8) - 1
		default:
			out.WriteByte('\\')
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

// writeDigits writes the byte that up to most digits stand for, and returns how many they were.
func writeDigits(out *strings.Builder, s string, most, base int) int {
	n := 0
	for n < min(len(s), most) {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	if v, err := strconv.ParseUint(s[:n], base, 16); err == nil {
		out.WriteByte(byte(v)) //nolint:gosec // as printf does
	}
	return n
}

// xargsWords are the words of xargs' command, with what it reads when that is known.
func xargsWords(words []field, in traits, replace string, zero bool) []field {
	given := strings.Fields(strings.NewReplacer(`"`, "", "'", "", `\`,
		"").Replace(unescapeText(in.text)))
	if zero {
		given = strings.FieldsFunc(in.text, func(r rune) bool { return r == 0 })
	}
	if in.names && len(words) > 0 && isOneOf("sed gsed perl", words[0].text) {
		given, in.plain = []string{"./found"}, true
	}
	if !in.plain || len(given) == 0 || len(given) > maxWords {
		for i, f := range words {
			if replace != "" && strings.Contains(f.text, "://") && strings.Contains(f.text, replace) {
				words[i].text, words[i].dyn, words[i].from = strings.ReplaceAll(f.text, replace, unknown), true, f.from.mergedWith(in)
			}
		}
		return append(words, field{text: unknown, dyn: true, sub: true, from: in})
	}
	if replace == "" {
		for _, g := range given {
			words = append(words, field{text: g, from: in})
		}
		return words
	}
	var out []field
	for _, f := range words { // one command for each; the words of all are looked at as those of one
		if !strings.Contains(f.text, replace) {
			out = append(out, f)
			continue
		}
		for _, g := range given {
			f := f
			f.text, f.from = strings.ReplaceAll(f.text, replace, g), f.from.mergedWith(in)
			out = append(out, f)
		}
	}
	return out
}

// noteRun notes a program and its words, for rules about programs.
func (w *walker) noteRun(args []field) {
	if len(w.runs) >= maxCommands {
		return
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a.text
	}
	w.runs = append(w.runs, words)
}
