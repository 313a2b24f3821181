package layout

import (
	"testing"

	"pgregory.net/rapid"
)

func request() *rapid.Generator[Request] {
	return rapid.Custom(func(t *rapid.T) Request {
		r := Request{
			W: rapid.IntRange(20, 300).Draw(t, "w"), H: rapid.IntRange(5, 100).Draw(t, "h"),
			Preset:  rapid.SampledFrom(Presets()).Draw(t, "preset"),
			Columns: rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "columns"),
			Focus:   Slot(rapid.IntRange(0, 3).Draw(t, "focus")),
			Zoom:    rapid.Bool().Draw(t, "zoom"),
			Sizes: Sizes{
				Left: rapid.IntRange(0, 400).Draw(t, "left"), Right: rapid.IntRange(0, 400).Draw(t, "right"),
				Lower: rapid.IntRange(0, 1000).Draw(t, "lower"),
			},
		}
		n := 0
		for _, c := range r.Columns {
			n += c
		}
		r.Index = rapid.IntRange(0, n-1).Draw(t, "index")
		return r
	})
}

func TestBoxesCoverTheScreenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request().Draw(t, "request")
		p := Arrange(r)
		if p.TooSmall {
			if r.W >= MinW && r.H >= MinH {
				t.Fatalf("%dx%d is not too small", r.W, r.H)
			}
			return
		}
		owner := make([]int, r.W*r.H)
		focused := false
		for i, b := range p.Boxes {
			if b.W < 10 || b.H < 3 {
				t.Fatalf("box %+v is too small to draw", b)
			}
			focused = focused || b.Slot == r.Focus && (b.Slot != Conversation || b.Index == r.Index)
			for y := b.Y; y < b.Y+b.H; y++ {
				for x := b.X; x < b.X+b.W; x++ {
					if x >= r.W || y >= r.H-1 || owner[y*r.W+x] != 0 {
						t.Fatalf("cell %d,%d of %+v is outside or taken: %+v", x, y, b, p)
					}
					owner[y*r.W+x] = i + 1
				}
			}
		}
		for i, o := range owner[:r.W*(r.H-1)] {
			if o == 0 && (!p.Tabs || i >= r.W) {
				t.Fatalf("cell %d,%d belongs to nobody: %+v", i%r.W, i/r.W, p)
			}
		}
		if !focused {
			t.Fatalf("the pane with the focus is not shown: %+v", p)
		}
	})
}

func TestShrinking(t *testing.T) {
	for _, tt := range []struct {
		w, h, boxes int
		tabs        bool
	}{{160, 44, 4, false}, {120, 40, 3, false}, {80, 24, 1, true}, {40, 12, 1, true}, {39, 12, 0, false}, {40, 11, 0, false}} {
		p := Arrange(Request{W: tt.w, H: tt.h, Preset: Work, Focus: Conversation, Columns: []int{1}})
		if len(p.Boxes) != tt.boxes || p.Tabs != tt.tabs {
			t.Errorf("%dx%d: %+v", tt.w, tt.h, p)
		}
	}
	p := Arrange(Request{W: 80, H: 24, Focus: Output, Columns: []int{1}})
	if b, ok := p.Find(Conversation); !ok || b.H != strip {
		t.Errorf("no composer under another tab: %+v", p)
	}
}

func TestDraggingMovesTheEdgeUnderThePointer(t *testing.T) {
	r := Request{W: 160, H: 44, Preset: Work, Focus: Conversation, Columns: []int{1}}
	p := Arrange(r)
	for _, x := range []int{100, 110, 90} {
		r.Sizes = p.Drag(r.Sizes, r.Preset, RightEdge, x, 10)
		if b, _ := Arrange(r).Find(Output); b.X != x {
			t.Errorf("dragged to %d, the column starts at %d", x, b.X)
		}
	}
	if e, ok := p.EdgeAt(p.Boxes[0].W-1, 5); !ok || e.Which != LeftEdge {
		t.Errorf("no edge at the border of the sessions: %+v", p.Edges)
	}
}
