package approvals

import (
	"slices"
	"strings"
	"testing"
)

func TestCommandsOfAFileOfWindows(t *testing.T) {
	for in, want := range map[string][]string{
		"ls\r\n\r\na\rb\r\nlast": {"ls", "", "a\rb", "last"},
		"ls\nlast\n":             {"ls", "last"},
	} {
		var got []string
		if err := eachCommand(strings.NewReader(in), false, func(s string) error { got = append(got, s); return nil }); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q; %v", in, got, want, err)
		}
	}
	var got []string
	if err := eachCommand(strings.NewReader("a\r\x00b\n"), true, func(s string) error { got = append(got, s); return nil }); err != nil || !slices.Equal(got, []string{"a\r", "b\n"}) {
		t.Errorf("%q, %v", got, err)
	}
}
