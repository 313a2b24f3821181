package shell

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Readable makes terminal output text for a model: no control sequences, and of a line that was
// drawn over with carriage returns (progress bars) what was visible at the end.
func Readable(data []byte) string {
	s := ansi.Strip(strings.ToValidUTF8(string(data), "\uFFFD"))
	if strings.ContainsRune(s, '\r') {
		lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
		for i, l := range lines {
			lines[i] = applyCarriageReturns(l)
		}
		s = strings.Join(lines, "\n")
	}
	return strings.Map(printableRune, s)
}

func applyCarriageReturns(line string) string {
	line = strings.TrimRight(line, "\r")
	return line[strings.LastIndexByte(line, '\r')+1:]
}

func printableRune(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}
