package list

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hermes/ui/text"
)

type fake struct {
	id, n int
	v     uint64
}

func (f *fake) Lines(int) []string {
	out := make([]string, f.n)
	for i := range out {
		out[i] = fmt.Sprintf("%d.%d v%d", f.id, i, f.v)
	}
	return out
}
func (f *fake) Version() uint64 { return f.v }

// fresh draws the window from nothing, at the same place.
func fresh(l *List) []string {
	n := New()
	n.Resize(l.w, l.h)
	for i := range l.Len() {
		n.Append(l.At(i))
	}
	n.follow, n.top = l.follow, l.top
	return n.View()
}

func TestAnyUseShowsWhatAFreshListShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New()
		id := 0
		make1 := func() Item {
			id++
			return &fake{id: id, n: rapid.IntRange(0, 6).Draw(t, "n")}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 11).Draw(t, "op") {
			case 0:
				l.Resize(rapid.IntRange(0, 30).Draw(t, "w"), rapid.IntRange(0, 12).Draw(t, "h"))
			case 1, 2, 3:
				l.Append(make1(), make1())
			case 4:
				l.Prepend(make1(), make1(), make1())
			case 5:
				if l.Len() > 0 {
					i := rapid.IntRange(0, l.Len()-1).Draw(t, "i")
					n := rapid.IntRange(0, l.Len()-i).Draw(t, "k")
					l.Splice(i, n, make1(), make1())
				}
			case 6:
				if l.Len() > 0 {
					f := l.At(rapid.IntRange(0, l.Len()-1).Draw(t, "i")).(*fake)
					f.n, f.v = rapid.IntRange(0, 6).Draw(t, "n"), f.v+1
				}
			case 7, 8:
				l.Scroll(rapid.IntRange(-9, 9).Draw(t, "by"))
			case 9:
				l.Reveal(rapid.IntRange(-1, 20).Draw(t, "i"))
			case 10:
				l.Home()
			case 11:
				l.Bar()
				l.Invalidate()
			}
			got := l.View()
			if want := fresh(l); !slices.Equal(got, want) {
				t.Fatalf("shows %q, fresh %q", got, want)
			}
			checkFull(t, l, got)
		}
	})
}

// checkFull: the window is full whenever there is enough to fill it.
func checkFull(t *rapid.T, l *List, got []string) {
	total := 0
	for i := range l.Len() {
		total += l.At(i).(*fake).n
	}
	if l.w > 0 && len(got) != min(l.h, total) {
		t.Fatalf("%d lines in a window of %d, there are %d", len(got), l.h, total)
	}
	for _, s := range got {
		if text.Width(s) != l.w {
			t.Fatalf("%q is not %d cells", s, l.w)
		}
	}
}

func numbered(n int) *List {
	l := New()
	l.Resize(20, 10)
	for i := range n {
		l.Append(&fake{id: i, n: 2})
	}
	return l
}

func TestUpLocksAndEndFollows(t *testing.T) {
	l := numbered(20)
	l.View()
	l.Scroll(-1)
	before := l.View()
	l.Append(&fake{id: 99, n: 3})
	if got := l.View(); !slices.Equal(got, before) || l.Follow() {
		t.Fatalf("the view moved: %q, then %q", before, got)
	}
	l.Prepend(&fake{id: 98, n: 3})
	if got := l.View(); !slices.Equal(got, before) {
		t.Fatalf("older items moved the view: %q, then %q", before, got)
	}
	l.Scroll(100)
	if got := l.View(); !l.Follow() || !strings.HasPrefix(got[9], "99.2") {
		t.Fatalf("not at the end: %v %q", l.Follow(), got)
	}
}

func TestOnlyTheWindowIsDrawn(t *testing.T) {
	l := numbered(10_000)
	l.View()
	if n := l.Drawn(); n > 6 {
		t.Errorf("%d items drawn for 10 lines", n)
	}
	l.Page(-1)
	l.View()
	if n := l.Drawn(); n > 12 {
		t.Errorf("%d items drawn after a page", n)
	}
	l.Home()
	l.View()
	if n := l.Drawn(); n > 18 {
		t.Errorf("%d items drawn after home", n)
	}
}

func TestDrawnLinesAreBounded(t *testing.T) {
	l := numbered(3 * Keep)
	for range 3 * Keep / 4 {
		l.Page(-1)
		l.View()
	}
	kept := 0
	for _, e := range l.entries {
		if e.lines != nil {
			kept++
		}
	}
	if kept > Keep {
		t.Fatalf("%d items keep their lines", kept)
	}
}

func TestHitFindsTheLine(t *testing.T) {
	l := numbered(20)
	for y, s := range l.View() {
		p, ok := l.Hit(y)
		if want := fmt.Sprintf("%d.%d ", p.Item, p.Line); !ok || !strings.HasPrefix(s, want) {
			t.Errorf("row %d shows %q, hit says %+v", y, s, p)
		}
	}
}

func BenchmarkViewHit(b *testing.B) {
	l := numbered(10_000)
	for b.Loop() {
		l.View()
	}
}

func BenchmarkPageUp(b *testing.B) {
	l := numbered(10_000)
	for b.Loop() {
		if l.Page(-1); l.top.Item == 0 {
			l.End()
		}
		l.View()
	}
}
