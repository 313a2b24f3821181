package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// hiddenForms are the ways in which a value is hidden: as it is, and as programs write it. None is
// shorter than shortest.
func hiddenForms(value string) []string {
	if len(value) < shortest || len(value) > 64<<10 {
		return nil
	}
	out := escapedForms(value)
	for _, line := range strings.Split(value, "\n") {
		if line = strings.TrimSpace(line); len(line) >= 2*shortest && line != value && !strings.HasPrefix(line, "-----") {
			out = append(out, escapedForms(line)...)
		}
	}
	return out
}

func escapedForms(value string) []string {
	query, hexed := url.QueryEscape(value), hex.EncodeToString([]byte(value))
	all := []string{value, query, strings.ReplaceAll(query, "+", "%20"), lowerPercent(query), url.PathEscape(value), hexed, strings.ToUpper(hexed)}
	if quoted, err := json.Marshal(value); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) == nil {
		text := strings.TrimSuffix(plain.String(), "\n")
		all = append(all, text[1:len(text)-1])
	}
	all = append(all, base64Forms(value)...)
	out := all[:0]
	for _, f := range all {
		if f = dropLineEnds(f); len(f) >= shortest {
			out = append(out, f)
		}
	}
	return out
}

// dropLineEnds takes line ends out, as the view does in which known values are looked for.
func dropLineEnds(s string) string { return strings.NewReplacer("\n", "", "\r", "").Replace(s) }

func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// base64Forms are what a value becomes inside of a longer text that is encoded, for each of the
// three places where it can begin. The characters at both ends that depend on its neighbours are
// left out.
func base64Forms(value string) []string {
	var out []string
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
			from := []int{0, 2, 3}[shift]
			to := (shift + len(value)) * 8 / 6
			out = append(out, text[from:to])
		}
	}
	return out
}
