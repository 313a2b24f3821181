package base

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func FuzzJSONHasNoControls(f *testing.F) {
	f.Add("a\u009b31m\x7f\x1b日本")
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		if err := WriteJSON(&out, map[string]string{"x": s}, false); err != nil {
			t.Fatal(err)
		}
		for _, r := range strings.TrimSuffix(out.String(), "\n") {
			if unicode.IsControl(r) {
				t.Fatalf("%q has a control character", out.String())
			}
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["x"] != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Fatalf("%q came back as %q: %v", s, back["x"], err)
		}
	})
}
