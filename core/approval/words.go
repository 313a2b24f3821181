package approval

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNesting bounds sh -c inside sh -c when patterns are matched.
const maxNesting = 5

// word returns the text of a shell word without quotes. A home is "~"; what is only known when it runs is "\x00".
func word(w *syntax.Word) string {
	var b strings.Builder
	parts(&b, w.Parts)
	return b.String()
}

func parts(b *strings.Builder, ps []syntax.WordPart) {
	for _, p := range ps {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			parts(b, p.Parts)
		case *syntax.ParamExp:
			if p.Param != nil && p.Param.Value == "HOME" {
				b.WriteByte('~')
				continue
			}
			b.WriteByte(0)
		default:
			b.WriteByte(0)
		}
	}
}

// unescape takes the backslashes out of an unquoted word: \rm is rm.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unwrap drops what only runs another command: sudo -u root, env A=b, nohup, time ...
func unwrap(words []string) []string {
	for len(words) > 0 {
		takesValue, ok := wrappers()[path.Base(words[0])]
		if !ok {
			return words
		}
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			skip := 1
			if slices.Contains(takesValue, words[0]) {
				skip = min(2, len(words))
			}
			words = words[skip:]
		}
	}
	return words
}

// wrappers are commands that run their arguments, with the options of theirs that take a separate value.
func wrappers() map[string][]string {
	return map[string][]string{
		"sudo": {"-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"}, "doas": {"-u", "-C"}, "env": {"-u", "-C", "-S"},
		"nohup": nil, "nice": {"-n"}, "ionice": {"-c", "-n"}, "time": nil, "exec": {"-a"}, "command": nil,
		"builtin": nil, "setsid": nil, "busybox": nil, "xargs": {"-n", "-I", "-P", "-L", "-d"},
	}
}

// script returns the text of sh -c.
func script(args []string) (text string, ok bool) {
	for i, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}
