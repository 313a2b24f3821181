package rank

import (
	"fmt"
	"testing"
)

func TestWholeWordsComeBeforeLettersWithGapsAndWhatIsOffComesLast(t *testing.T) {
	all := []Entry{
		{Name: "Most old sessions"},
		{Name: "Choose the model", More: "/model"},
		{Name: "Remodel the room"},
		{Name: "Model list", Off: true},
		{Name: "model"},
		{Name: "Models of a server"},
	}
	for pattern, want := range map[string]string{
		"model": "[4 5 1 2 3]", "": "[0 1 2 4 5 3]", "the mod": "[1 2]", "xyz": "[]", "mos": "[0 5]", "ol": "[0]",
	} {
		got := []int{}
		for _, h := range Find(pattern, all) {
			got = append(got, h.Index)
		}
		if pattern == "the mod" || pattern == "mos" || pattern == "ol" {
			if len(got) == 0 || fmt.Sprint(got[:1]) != fmt.Sprint("["+want[1:2]+"]") {
				t.Errorf("%q: %v, want first %s", pattern, got, want)
			}
			continue
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", pattern, got, want)
		}
	}
	if h := Find("mod", all)[0]; fmt.Sprint(h.Runes) != "[0 1 2]" {
		t.Errorf("marked %v", h.Runes)
	}
}

func TestLettersWithGapsBeginAWord(t *testing.T) {
	all := []Entry{{Name: "shrink-repository"}, {Name: "trim-old-images"}, {Name: "容器-cut-logs"}}
	for pattern, want := range map[string]string{"init": "[]", "oims": "[1]", "clg": "[2]"} {
		got := []int{}
		for _, h := range Find(pattern, all) {
			got = append(got, h.Index)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", pattern, got, want)
		}
	}
	if h := Find("clg", all)[0]; fmt.Sprint(h.Runes) != "[3 7 9]" {
		t.Errorf("marked %v", h.Runes)
	}
}

func TestWhatFitsLooselyIsAGuess(t *testing.T) {
	all := []Entry{{Name: "set-up-ci"}, {Name: "connect", More: "Choose a server"}, {Name: "session search"}}
	for pattern, want := range map[string]string{
		"setup": "[{0 [0 1 2 4 5] true}]", "sea": "[{2 [8 9 10] false}]", "server": "[{1 [] true}]", "nect": "[{1 [3 4 5 6] true}]", "conn": "[{1 [0 1 2 3] false}]",
	} {
		if got := fmt.Sprint(Find(pattern, all)); got != want {
			t.Errorf("%q: %s, want %s", pattern, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("mo del", "Model", "x")
	f.Fuzz(func(t *testing.T, pattern, name, more string) {
		for _, h := range Find(pattern, []Entry{{Name: name, More: more}}) {
			for _, r := range h.Runes {
				if r < 0 || r > len(name)*4 {
					t.Errorf("%d in %q", r, name)
				}
			}
		}
	})
}
