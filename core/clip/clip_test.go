package clip

import "testing"

func TestRunesAndBytes(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{Runes("日本語", 3, "…"), "日本語"},
		{Runes("日本語", 2, "…"), "日本…"},
		{Runes("", 0, "…"), ""},
		{Bytes("日本語", 9), "日本語"},
		{Bytes("日本語", 7), "日本"},
		{LastLine("a\nb \n\n"), "b"},
		{LastLine(""), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}
