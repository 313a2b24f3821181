package secret

import (
	"bytes"
	"encoding/json"
)

// JSON is Redact for the strings in a JSON text, which stays JSON: keys, order and numbers are as
// they were. What is no JSON is taken as plain text.
func JSON(raw []byte) []byte {
	if len(raw) == 0 || Redact(string(raw)) == string(raw) && !hasEscapes(raw) {
		return raw
	}
	if !json.Valid(raw) {
		return Bytes(raw)
	}
	var out bytes.Buffer
	changed := false
	name := ""
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out.WriteByte(raw[i])
			i++
			continue
		}
		end := literalEnd(raw, i)
		var text string
		_ = json.Unmarshal(raw[i:end], &text) // it is valid
		clean := Redact(text)
		if isName(raw, end) {
			name = text
		} else if clean == text && name != "" {
			if got := Redact(name + "=" + text); got == name+"="+Hidden { // {"password": "..."}
				clean = Hidden
			}
		}
		if clean == text {
			out.Write(raw[i:end])
		} else {
			quoted, _ := json.Marshal(clean)
			out.Write(quoted)
			changed = true
		}
		i = end
	}
	if !changed {
		return raw
	}
	return out.Bytes()
}

// hasEscapes reports whether there are escapes that could hide something from a look at the text as
// it is.
func hasEscapes(raw []byte) bool { return bytes.IndexByte(raw, '\\') >= 0 }

// literalEnd returns where the string that begins at i ends.
func literalEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func isName(raw []byte, end int) bool {
	rest := bytes.TrimLeft(raw[end:], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}
