package chat

import (
	"math"
	"strings"
	"testing"
)

func TestPartInWords(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	for _, c := range []struct {
		part   Part
		tokens int
		words  string
	}{
		{
			Part{Kind: PartImage, Name: "a.png", Media: "image/png", Width: 750, Height: 100, Size: 34_499, Blob: hash},
			101,
			`image "a.png", image/png, 750x100 px, 34 kB, sha256:abababababab`,
		},
		{Part{Kind: PartResource, Name: "r", URI: "db://x", Text: "12345678"}, 2, `resource "r", db://x`},
		{Part{Kind: PartFile, Name: "a\nb", Size: 1_250_000}, 0, `file "a\nb", 1.2 MB`},
		{
			Part{Kind: PartImage, Name: "x", Width: math.MaxInt, Height: math.MaxInt},
			1 + math.MaxInt16*math.MaxInt16/750,
			`image "x", 9223372036854775807x9223372036854775807 px`,
		},
	} {
		if got := c.part.Tokens(); got != c.tokens {
			t.Errorf("%s: %d tokens, want %d", c.words, got, c.tokens)
		}
		if got := c.part.Describe(); got != c.words {
			t.Errorf("got  %s\nwant %s", got, c.words)
		}
	}
}
