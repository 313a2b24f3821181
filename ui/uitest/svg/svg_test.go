package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"hermes/ui/uitest/vt"
)

// The picture is well-formed, says what the screen says, and has its colours.
func TestAPictureOfAScreen(t *testing.T) {
	term := vt.New(30, 3)
	_, _ = io.WriteString(term, "\x1b[1;38;2;1;2;3mbold <&> \x1b[0m容器\r\n\x1b[48;5;196;7m x \x1b[0m\x1b[31mred")
	got := string(Picture(term.Rows(), `a "screen"`))
	for _, want := range []string{"#010203", `font-weight="bold"`, "&lt;&amp;&gt;", "容器", basic[1], "<title>a &#34;screen&#34;</title>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
