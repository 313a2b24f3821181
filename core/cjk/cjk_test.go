package cjk

import "testing"

func TestIndexText(t *testing.T) {
	for in, want := range map[string]string{
		"plain words": "plain words",
		"数据库":         " 数据 据库 库 ",
		"库":           " 库 ",
		"Go语言 ok":     "Go 语言 言  ok",
		"数据,库":        " 数据 据 , 库 ",
		"":            "",
	} {
		if got := IndexText(in); got != want {
			t.Errorf("indexText(%q) = %q, want %q", in, got, want)
		}
	}
}
