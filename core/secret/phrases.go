package secret

import "strings"

// phraseAnchors are words before a value: a name that says secret and a sign, a header.
func phraseAnchors() []anchor {
	out := []anchor{
		{word: "bearer", fold: true, look: findSchemeCredentials},
		{word: "basic", fold: true, look: findSchemeCredentials},
		{word: "authorization", fold: true, look: findAuthorization},
		{word: "cookie", fold: true, look: findCookie},
	}
	for _, w := range []string{"token", "secret", "passw", "credential", "passphrase", "_pwd", "pwd="} {
		out = append(out, anchor{word: w, fold: true, look: findNamedValue})
	}
	out = append(out, anchor{word: "key", fold: true, look: findKeyValue})
	for _, w := range []string{"x-amz-signature", "x-goog-signature", "&sig", "?sig", "sharedaccesssignature"} {
		out = append(out, anchor{word: w, fold: true, look: findNamedValue})
	}
	return out
}

// findKeyValue finds the value behind a name that ends in key, if it is one of a key that opens
// something: a cache has keys too.
func findKeyValue(s string, at, end int) span {
	from := at
	for from > 0 && at-from < 16 && wordly[s[from-1]] {
		from--
	}
	before := strings.TrimRight(strings.ToLower(s[from:at]), "_-")
	for _, w := range []string{
		"api", "access", "private", "secret", "account", "auth", "encryption", "signing", "master", "service", "storage", "shared", "license",
		"subscription", "session", "admin", "webhook", "deploy", "consumer", "host", "fal",
	} {
		if strings.HasSuffix(before, w) {
			return findNamedValue(s, at, end)
		}
	}
	return span{}
}

// findSchemeCredentials finds the credentials behind Bearer and Basic.
func findSchemeCredentials(s string, at, end int) span {
	if !isWordStart(s, at) || end >= len(s) || s[end] != ' ' && s[end] != '\t' && s[end] != '+' && s[end] != '%' {
		return span{}
	}
	from := end + 1
	if strings.HasPrefix(s[end:], "%20") {
		from = end + 3
	}
	for from < len(s) && s[from] == ' ' && from < end+4 {
		from++
	}
	to := base.runEnd(s, from)
	got := span{from: from, open: to == len(s)}
	if v := s[from:to]; len(v) >= 12 && !isPlaceholder(v) && (isMixedCase(v) || strings.ContainsAny(v[:len(v)-1], "=+/") || len(v) >= 16+4*(len("bearer")-(end-at))) { // "basic responsibilities" is no secret
		got.to = to
	}
	return got
}

// findAuthorization finds what is sent as Authorization: whatever its scheme.
func findAuthorization(s string, at, end int) span {
	from, _, ok := skipAssignSign(s, end)
	if !ok || from >= len(s) {
		return span{}
	}
	to := lineRun(s, from, 256)
	value := s[from:to]
	if name, rest, two := strings.Cut(value, " "); two && alnum.runEnd(name, 0) == len(name) && len(name) < 20 {
		from += len(name) + 1
		value = rest
	}
	got := span{from: from, open: to == len(s)}
	if len(strings.TrimSpace(value)) >= 8 && !isPlaceholder(value) && !strings.Contains(value, Hidden) && (isMixedCase(value) || len(value) >= 16 && !strings.Contains(value, " ")) {
		got.to = lineRun(s, to, len(s))
		got.open = got.to == len(s)
	}
	return got
}

// findCookie finds the values of Cookie and Set-Cookie.
func findCookie(s string, at, end int) span {
	set := at >= 4 && strings.EqualFold(s[at-4:at], "set-")
	if !set && !isWordStart(s, at) || end >= len(s) || s[end] != ':' {
		return span{}
	}
	from, _, _ := skipAssignSign(s, end)
	to := lineRun(s, from, 256)
	value := s[from:to]
	eq := strings.IndexByte(value, '=')
	if eq < 0 || eq > 80 || strings.ContainsAny(value[:eq], " ({") {
		return span{from: from, open: to == len(s) && len(value) < 80}
	}
	got := span{from: from + eq + 1, open: to == len(s)}
	if v, _, _ := strings.Cut(value[eq+1:], ";"); set {
		to = got.from + len(v)
		got.open = to == len(s)
	}
	if v := s[got.from:to]; len(v) >= 8 && !isPlaceholder(v) && !strings.HasPrefix(v, Hidden) {
		if to == from+256 {
			to = lineRun(s, to, len(s))
		}
		got.to, got.open = to, to == len(s)
	}
	return got
}

// lineRun is where the value of a header ends: at the line's end, or at the quote around it.
func lineRun(s string, at, most int) int {
	most += at
	for at < len(s) && at < most && strings.IndexByte("\r\n\"'`\\", s[at]) < 0 {
		at++
	}
	return at
}

const reach = 40 // bytes of a name on each side of the word in it

// findNamedValue finds the value in NAME=value, "name": "value", name: value, --name value.
func findNamedValue(s string, at, end int) span {
	begin := at
	for begin > 0 && at-begin < reach && dotted[s[begin-1]] {
		begin--
	}
	stop := end
	for stop < len(s) && stop-end < reach && wordly[s[stop]] {
		stop++
	}
	name := strings.ToLower(s[begin:stop])
	if stop == len(s) || !secretName(name, name[end-begin:]) || strings.HasSuffix(s[:at], Hidden[:len("[hidden ")]) {
		return span{}
	}
	from, tight, ok := skipAssignSign(s, stop)
	if !ok && strings.HasPrefix(name, "--") && s[stop] == ' ' {
		from, tight, ok = stop+1, true, true
	}
	if !ok {
		return span{}
	}
	return judgeValue(s, from, name, tight)
}

// judgeValue decides by the value.
func judgeValue(s string, from int, name string, tight bool) span {
	quote := byte(0)
	if from > 0 && strings.IndexByte("\"'`", s[from-1]) >= 0 {
		quote = s[from-1]
	}
	const look = 256 // bytes that decide
	to := valueRun(s, from, from+look, quote)
	v := s[from:to]
	if v == "" {
		return span{}
	}
	got := span{from: from, open: to == len(s)}
	if isPlaceholder(v) || isProgramCode(s, v, to, quote) || !looksRandom(v, name) && !isWrittenAsSecret(v, name, quote, tight, upperName(s, from)) {
		return got
	}
	if got.to = to; to == from+look {
		got.to = valueRun(s, to, len(s), quote)
		got.open = got.to == len(s)
	}
	return got
}

func isPasswordName(name string) bool {
	return strings.Contains(name, "pass") || strings.Contains(name, "pwd")
}

// looksRandom reports whether a value looks like chance, whatever is around it.
func looksRandom(v, name string) bool {
	dotted := strings.IndexByte(v, '.') >= 0
	switch {
	case len(v) < 6 || len(v) < 8 && !isPasswordName(name):
		return false
	case looksLikeChance(v, 6), isMixedCase(v) && !dotted, len(v) >= 12 && strings.ContainsAny(v, "!@#$%^&*+"):
		return true
	}
	return len(v) >= 20 && !dotted && strings.ContainsAny(v, "0123456789") && v != strings.ToLower(v) && v != strings.ToUpper(v)
}

// isWrittenAsSecret reports whether a value that could be a word is one of a secret by how it is
// written: a password in quotes, NAME=value.
func isWrittenAsSecret(v, name string, quote byte, tight, capitals bool) bool {
	switch {
	case len(v) < 6 || len(v) < 8 && !isPasswordName(name):
		return false
	case isPasswordName(name) && (quote != 0 || tight):
		return strings.IndexByte(v, '.') < 0
	case tight && quote == 0 && capitals:
		return true
	}
	return quote != 0 && len(v) >= 20 && alnum.runEnd(v, 0) == len(v)
}

// upperName reports whether the name before "NAME=" is in capitals, as variables of the environment
// are.
func upperName(s string, from int) bool {
	i := from - 1
	for i > 0 && !dotted[s[i]] {
		i--
	}
	return i >= 0 && (s[i] >= 'A' && s[i] <= 'Z' || s[i] == '_' || s[i] >= '0' && s[i] <= '9')
}

// valueRun is where a value ends.
func valueRun(s string, at, most int, quote byte) int {
	for at < len(s) && at < most {
		c := s[at]
		if c <= ' ' || c == '\\' || c == quote || strings.IndexByte("\"'`,;<>|", c) >= 0 || quote == 0 && strings.IndexByte(")}]", c) >= 0 || c == '&' && startsParameter(s[at+1:]) {
			break
		}
		at++
	}
	return at
}

// startsParameter reports whether s goes on like an address or a shell: name=value, &.
func startsParameter(s string) bool {
	n := wordly.runEnd(s[:min(len(s), reach)], 0)
	return s == "" || s[0] == '&' || n < len(s) && s[n] == '='
}

// isProgramCode reports whether an unquoted value is an expression of a program: a call, an index,
// a dotted name, a type.
func isProgramCode(s, v string, to int, quote byte) bool {
	if quote != 0 {
		return to < len(s) && s[to] == ' ' // a sentence in quotes
	}
	if strings.ContainsAny(v, "([{") {
		return true
	}
	if to < len(s) && (s[to] == '(' || s[to] == '[') {
		return true
	}
	dots := strings.Count(v, ".")
	return dots > 0 && dots <= 4 && !strings.ContainsAny(v, "0123456789/+=")
}

// skipAssignSign skips from the end of a name over closing quotes, blanks, one of = : := =>, blanks
// and an opening quote. Tight says that nothing but the sign was there.
func skipAssignSign(s string, at int) (from int, tight, ok bool) {
	begin := at
	skip := func(set string, most int) {
		for n := 0; n < most && at < len(s) && strings.IndexByte(set, s[at]) >= 0; n++ {
			at++
		}
	}
	skip("\\\"']", 3)
	skip(" \t", 2)
	signs := at
	switch {
	case strings.HasPrefix(s[at:], ":="), strings.HasPrefix(s[at:], "=>"):
		at += 2
	case strings.HasPrefix(s[at:], "=="), strings.HasPrefix(s[at:], "::"):
		return 0, false, false
	case at < len(s) && (s[at] == '=' || s[at] == ':'):
		at++
	case len(s) >= at+3 && strings.EqualFold(s[at:at+3], "%3d"):
		at += 3
	default:
		return 0, false, false
	}
	tight = signs == begin && s[signs] == '='
	after := at
	skip(" \t", 3)
	tight = tight && after == at
	skip("\\\"'`", 2)
	return at, tight, true
}

// secretName reports whether a name is one of a secret: its last word says so, not one before it
// ("token_count", "secret_name"), and what it is of is not how people page through lists.
func secretName(name, rest string) bool {
	switch rest {
	case "", "s", "ord", "ords", "wd", "phrase", "_value", "_base64", "_b64", "_hex", "_base", "_1", "_2", "_prod", "_dev", "_test", "_staging":
	default:
		return false
	}
	for _, w := range []string{"page", "next", "continu", "cursor", "sync", "max_token", "num_", "total", "prompt_token", "stop_token", "pad_token", "eos_token", "bos_token", "public"} {
		if strings.Contains(name, w) {
			return false
		}
	}
	return !strings.HasSuffix(name, "tokens")
}

// isPlaceholder reports what stands where a secret would: a variable, a word in brackets, stars.
func isPlaceholder(v string) bool {
	if v == "" || strings.HasPrefix(v, Hidden[:7]) {
		return true
	}
	if strings.IndexByte("$<{%[(", v[0]) >= 0 || strings.HasPrefix(v, "\\$") {
		return v[0] != '$' || len(v) < 2 || alnum[v[1]] && v[1] > '9' || strings.IndexByte("{(_", v[1]) >= 0
	}
	low := strings.ToLower(v)
	switch low {
	case "null", "none", "true", "false", "undefined", "password", "secret", "token", "optional", "required", "string", "changeme", "redacted":
		return true
	}
	for _, w := range []string{"your_", "your-", "yourt", "yourk", "yours", "yourp", "<your", "example", "placeholder", "xxxx", "****", "....", "change_me", "changeme", "replace", "insert", "dummy", "process.env", "os.environ", "os.getenv", "env.", "secrets.", "vars."} {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return strings.Count(v, v[:1]) == len(v)
}
