// Package layout is the arithmetic of the screen: given its size and what a person chose, which
// rectangle belongs to whom. It is pure: no styles, no panes, no state.
package layout

// Slot names a place on the screen.
type Slot int

// Slots. There may be several conversations; the others exist once.
const (
	Sessions Slot = iota
	Conversation
	Output
	Backends
)

// Preset is a named arrangement.
type Preset string

// Presets.
const (
	Work  Preset = "work"  // sessions, conversation, output over back ends
	Focus Preset = "focus" // conversations only; the others appear while they have the focus
	Wide  Preset = "wide"  // output and back ends under the conversations
)

// Presets lists them in the order in which a key goes through them.
func Presets() []Preset { return []Preset{Work, Focus, Wide} }

// Sizes are what a person resized, in cells or per mille. Zero means the preset's own.
type Sizes struct {
	Left  int `json:"left,omitempty"`  // width of the sessions
	Right int `json:"right,omitempty"` // width of the right column, or height of the lower row in Wide
	Lower int `json:"lower,omitempty"` // share of the back ends in their column, per mille
}

// Request is everything that decides.
type Request struct {
	W, H    int
	Preset  Preset
	Sizes   Sizes
	Columns []int // conversations, column by column: how many stand in each; at least {1}
	Focus   Slot
	Index   int // which conversation has the focus, counted down the columns
	Zoom    bool
}

// Box is the rectangle of a pane, its border included.
type Box struct {
	Slot       Slot
	Index      int // of a conversation
	X, Y, W, H int
}

// Edge is a border between panes that can be dragged.
type Edge struct {
	Which      Which
	X, Y, W, H int
}

// Which says what dragging an edge changes.
type Which int

// Edges.
const (
	LeftEdge Which = iota
	RightEdge
	LowerEdge
)

// Plan is the answer. The status row is always the last one.
type Plan struct {
	W, H     int
	TooSmall bool  // nothing fits but a sentence
	Tabs     bool  // the first row is a row of tabs
	Boxes    []Box // they do not overlap, and cover all rows but tabs and status
	Edges    []Edge
}

// The least size that shows anything, and where the arrangement changes.
const (
	MinW  = 40
	MinH  = 12
	oneW  = 100 // below: one pane and tabs
	oneH  = 20
	fullW = 140 // below: sessions fold away
	strip = 5   // rows that keep the composer in sight under another tab
)

// Arrange makes the plan.
func Arrange(r Request) Plan {
	p := Plan{W: r.W, H: r.H}
	if len(r.Columns) == 0 {
		r.Columns = []int{1}
	}
	switch {
	case r.W < MinW || r.H < MinH:
		p.TooSmall = true
	case r.W < oneW || r.H < oneH:
		p.planTabbed(r)
	case r.Zoom:
		p.planSingle(r, Box{W: r.W, H: r.H - 1})
	case r.Preset == Wide:
		p.planWide(r)
	default:
		p.planWork(r)
	}
	return p
}

// planTabbed shows the pane that has the focus, and the composer under it where there is room.
func (p *Plan) planTabbed(r Request) {
	p.Tabs = true
	area := Box{Y: 1, W: r.W, H: r.H - 2}
	if r.Focus != Conversation && r.H >= oneH && !r.Zoom {
		low := area
		area.H -= strip
		low.Y, low.H, low.Slot, low.Index = area.Y+area.H, strip, Conversation, r.Index
		p.Boxes = append(p.Boxes, low)
	}
	p.planSingle(r, area)
}

func (p *Plan) planSingle(r Request, b Box) {
	b.Slot = r.Focus
	if r.Focus == Conversation {
		b.Index = r.Index
	}
	p.Boxes = append(p.Boxes, b)
}

// planWork has sessions at the left, conversations, and output over back ends at the right.
func (p *Plan) planWork(r Request) {
	area := Box{W: r.W, H: r.H - 1}
	if r.Focus == Sessions || r.Preset != Focus && r.W >= fullW {
		area = p.planLeft(r, area)
	}
	if r.Preset != Focus || r.Focus == Output || r.Focus == Backends {
		def := r.W * 3 / 10
		if r.W < fullW {
			def = r.W * 38 / 100
		}
		w := clamp(orDefault(r.Sizes.Right, def), 24, area.W-40)
		if w >= 24 {
			x := area.X + area.W - w
			p.planStack(r, Box{X: x, Y: area.Y, W: w, H: area.H})
			p.Edges = append(p.Edges, Edge{RightEdge, x - 1, area.Y, 2, area.H})
			area.W -= w
		}
	}
	p.planConversations(r, area)
}

// planWide has output and back ends side by side under the conversations.
func (p *Plan) planWide(r Request) {
	area := Box{W: r.W, H: r.H - 1}
	if r.Focus == Sessions || r.W >= fullW {
		area = p.planLeft(r, area)
	}
	h := clamp(orDefault(r.Sizes.Right, area.H*3/10), 5, area.H-10)
	low := Box{X: area.X, Y: area.Y + area.H - h, W: area.W, H: h}
	area.H -= h
	w := clamp(low.W*orDefault(r.Sizes.Lower, 400)/1000, 24, low.W-24)
	p.Boxes = append(p.Boxes,
		Box{Slot: Output, X: low.X, Y: low.Y, W: low.W - w, H: h},
		Box{Slot: Backends, X: low.X + low.W - w, Y: low.Y, W: w, H: h})
	p.Edges = append(p.Edges, Edge{RightEdge, low.X, low.Y - 1, low.W, 2})
	p.planConversations(r, area)
}

func (p *Plan) planLeft(r Request, area Box) Box {
	w := clamp(orDefault(r.Sizes.Left, clamp(r.W/6, 26, 36)), 20, area.W-64)
	p.Boxes = append(p.Boxes, Box{Slot: Sessions, X: area.X, Y: area.Y, W: w, H: area.H})
	p.Edges = append(p.Edges, Edge{LeftEdge, area.X + w - 1, area.Y, 2, area.H})
	area.X, area.W = area.X+w, area.W-w
	return area
}

// planStack puts output over back ends.
func (p *Plan) planStack(r Request, area Box) {
	h := clamp(area.H*orDefault(r.Sizes.Lower, 350)/1000, 5, area.H-5)
	top, low := area, area
	top.Slot, top.H = Output, area.H-h
	low.Slot, low.Y, low.H = Backends, area.Y+top.H, h
	p.Boxes = append(p.Boxes, top, low)
	p.Edges = append(p.Edges, Edge{LowerEdge, low.X, low.Y - 1, low.W, 2})
}

// planConversations shares area evenly. Where columns get too narrow or rows too low, only the
// column, or the row, with the focus is shown.
func (p *Plan) planConversations(r Request, area Box) {
	columns, first := r.Columns, 0
	if area.W/len(columns) < 30 {
		at := 0
		for i, n := range columns {
			if r.Index < first+n || i == len(columns)-1 {
				at = i
				break
			}
			first += n
		}
		columns = columns[at : at+1]
	}
	index := first
	for i, n := range columns {
		x0, x1 := area.W*i/len(columns), area.W*(i+1)/len(columns)
		col := Box{Slot: Conversation, X: area.X + x0, Y: area.Y, W: x1 - x0, H: area.H}
		if area.H/n < 7 {
			col.Index = clamp(r.Index, index, index+n-1)
			p.Boxes = append(p.Boxes, col)
		} else {
			p.planRows(col, index, n)
		}
		index += n
	}
}

func (p *Plan) planRows(col Box, index, n int) {
	for j := range n {
		b := col
		y0, y1 := col.H*j/n, col.H*(j+1)/n
		b.Y, b.H, b.Index = col.Y+y0, y1-y0, index+j
		p.Boxes = append(p.Boxes, b)
	}
}

// At returns the box that holds the cell x, y.
func (p Plan) At(x, y int) (Box, bool) {
	for _, b := range p.Boxes {
		if x >= b.X && x < b.X+b.W && y >= b.Y && y < b.Y+b.H {
			return b, true
		}
	}
	return Box{}, false
}

// EdgeAt returns the edge at the cell x, y.
func (p Plan) EdgeAt(x, y int) (Edge, bool) {
	for _, e := range p.Edges {
		if x >= e.X && x < e.X+e.W && y >= e.Y && y < e.Y+e.H {
			return e, true
		}
	}
	return Edge{}, false
}

// Drag returns the sizes after edge w was dragged to the cell x, y.
func (p Plan) Drag(s Sizes, preset Preset, w Which, x, y int) Sizes {
	switch {
	case w == LeftEdge:
		s.Left = clamp(x+1, 20, p.W/2)
	case w == RightEdge && preset == Wide:
		s.Right = clamp(p.H-1-y, 5, p.H-11)
	case w == RightEdge:
		s.Right = clamp(p.W-x, 24, p.W-40)
	case w == LowerEdge:
		s.Lower = clamp((p.H-1-y)*1000/max(p.H-1, 1), 100, 900)
	}
	return s
}

// Find returns the box of a slot.
func (p Plan) Find(s Slot) (Box, bool) {
	for _, b := range p.Boxes {
		if b.Slot == s {
			return b, true
		}
	}
	return Box{}, false
}

func clamp(v, low, high int) int { return max(min(v, high), low) }

func orDefault(v, def int) int {
	if v > 0 {
		return v
	}
	return def
}
