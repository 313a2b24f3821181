package ui

import tea "github.com/charmbracelet/bubbletea"

// Lister is an overlay or a pane with rows to choose from. The frame chooses the row that is
// clicked on; on the one that is chosen a click does what enter does.
type Lister interface {
	// RowAt is the row that is drawn at a place of the inner rectangle.
	RowAt(x, y int) (row int, chosen, ok bool)
	ChooseRow(row int) tea.Cmd
}

// Scroller is an overlay or a pane with text, or a choice, that the wheel moves by lines, down when
// positive.
type Scroller interface{ ScrollLines(lines int) }

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// DrawnRows are the rows of a list as they were drawn last, so that a Lister knows what is where.
// The zero value has none.
type DrawnRows struct {
	x, y, w int
	rows    []int // of each line
}

// Place notes that lines from y on, w cells wide from x on, show these rows; a row below zero is
// none.
func (d *DrawnRows) Place(x, y, w int, rows ...int) { *d = DrawnRows{x, y, w, rows} }

// PlaceFrom is Place for rows of one line each, the first of which is from.
func (d *DrawnRows) PlaceFrom(x, y, w, from, count int) {
	rows := make([]int, max(count, 0))
	for i := range rows {
		rows[i] = from + i
	}
	d.Place(x, y, w, rows...)
}

// At is the row at a place.
func (d *DrawnRows) At(x, y int) (row int, ok bool) {
	if x < d.x || x >= d.x+d.w || y < d.y || y >= d.y+len(d.rows) {
		return 0, false
	}
	row = d.rows[y-d.y]
	return row, row >= 0
}

// PointAt does what the mouse means to a Lister and a Scroller. What it does not mean to them, and
// the key that it stands for, is left.
func PointAt(to any, msg tea.MouseMsg) (cmd tea.Cmd, left tea.Msg) {
	if s, ok := to.(Scroller); ok && msg.Action == tea.MouseActionPress {
		if lines := map[tea.MouseButton]int{tea.MouseButtonWheelUp: -wheelLines, tea.MouseButtonWheelDown: wheelLines}[msg.Button]; lines != 0 {
			s.ScrollLines(lines)
			return nil, nil
		}
	}
	if l, ok := to.(Lister); ok && msg.Action == tea.MouseActionPress && msg.Button == tea.MouseButtonLeft {
		row, chosen, hit := l.RowAt(msg.X, msg.Y)
		switch {
		case hit && chosen:
			return nil, tea.KeyMsg{Type: tea.KeyEnter}
		case hit:
			return l.ChooseRow(row), nil
		}
	}
	return nil, msg
}

// RowsAround are the rows of a list that are drawn in so much room: those around the chosen one.
func RowsAround(chosen, count, room int) (from, to int) {
	from = max(min(chosen-room/2, count-room), 0)
	return from, min(from+max(room, 0), count)
}

// ScrolledText is a text of which the lines from From on are in sight. Embedded it makes an overlay
// a Scroller.
type ScrolledText struct{ From, page, total int }

// ScrollLines implements Scroller.
func (s *ScrolledText) ScrollLines(lines int) { s.From = max(min(s.From+lines, s.total-s.page), 0) }

// TakePageKey scrolls by a page when the key means that, and reports whether it did.
func (s *ScrolledText) TakePageKey(key string) bool {
	switch key {
	case "pgup", "ctrl+u":
		s.ScrollLines(-max(s.page-1, 1))
	case "pgdown", "ctrl+d":
		s.ScrollLines(max(s.page-1, 1))
	default:
		return false
	}
	return true
}

// TakeScrollKey scrolls when the key means that, and reports whether it did.
func (s *ScrolledText) TakeScrollKey(key string) bool {
	switch key {
	case "up", "k":
		s.ScrollLines(-1)
	case "down", "j":
		s.ScrollLines(1)
	case " ":
		s.TakePageKey("pgdown")
	case "home":
		s.From = 0
	case "end":
		s.ScrollLines(s.total)
	default:
		return s.TakePageKey(key)
	}
	return true
}

// InSight are the lines in sight of a text in h rows.
func (s *ScrolledText) InSight(lines []string, h int) []string {
	s.total, s.page = len(lines), max(h, 0)
	s.ScrollLines(0)
	return lines[s.From:min(s.From+s.page, s.total)]
}
