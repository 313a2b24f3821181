package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/field"
	"hermes/ui/rank"
	"hermes/ui/style"
	"hermes/ui/text"
)

// Item is a line of a Picker. Plain text.
type Item struct {
	ID     string
	Title  string
	Detail string // dim, behind the title
	Right  string // at the right: keys, a time
	Group  string // a heading stands before the first of a group while nothing is typed
	Why    string // reason why it cannot be chosen; it is shown and stays in the list
	Also   string // more words that find it; they are not shown
}

// PickerOptions say what a Picker shows and does.
type PickerOptions struct {
	Title       string
	Items       []Item
	Selected    string // id of the item to start on
	Placeholder string
	Query       string                  // what stands in the field at first
	Down        string                  // one more key that goes down; empty for none
	Unchosen    bool                    // a list to read: enter runs nothing until somebody moves or types
	Note        string                  // a sentence above the list; empty for none
	Card        []Fact                  // names and texts above the list while nothing is typed
	Hint        string                  // the bottom row; empty means the usual keys
	Preview     func(item Item) tea.Cmd // the selection moved; may be nil
	Choose      func(item Item) tea.Cmd // enter; nil means that the list is for reading
	Cancel      func() tea.Cmd          // esc; may be nil
	// Typed makes an item of what was typed when no other fits; ok is false when it cannot. May be
	// nil.
	Typed func(what string) (it Item, ok bool)
}

// NewPicker returns an overlay that lists items and narrows them while a person types.
func NewPicker(o PickerOptions) Overlay {
	p := &picker{opt: o, field: field.New(o.Query)}
	p.filterItems()
	if o.Query != "" {
		return p
	}
	p.at = max(0, slices.IndexFunc(o.Items, func(it Item) bool { return it.Why == "" }))
	for i, n := range p.shown {
		if o.Items[n].ID == o.Selected {
			p.at = i
		}
	}
	if o.Unchosen {
		p.at = noneChosen
	}
	return p
}

// noneChosen is the place of the selection before somebody has moved it.
const noneChosen = -2 // -1 is a heading

type picker struct {
	opt     PickerOptions
	typed   Item // what PickerOptions.Typed made; its index is the one after the last item's
	styles  *style.Styles
	field   field.Field
	shown   []int         // indexes of items, best first
	matched map[int][]int // index of an item: runes of its title that matched
	at      int           // in shown
	from    int           // first line in sight
	rows    int
	noted   int // rows of the note and the card
	cursorX int
}

func (p *picker) filterItems() {
	p.shown, p.matched, p.at, p.from = p.shown[:0], map[int][]int{}, 0, 0
	if p.field.String() == "" {
		for i := range p.opt.Items {
			p.shown = append(p.shown, i)
		}
		return
	}
	all := make([]rank.Entry, len(p.opt.Items))
	for i, it := range p.opt.Items {
		all[i] = rank.Entry{Name: it.Title, More: it.Detail + " " + it.ID + " " + it.Also, Off: it.Why != ""}
	}
	for _, m := range rank.Find(p.field.String(), all) {
		p.shown = append(p.shown, m.Index)
		p.matched[m.Index] = m.Runes
	}
	if len(p.shown) == 0 && p.opt.Typed != nil {
		if it, ok := p.opt.Typed(p.field.String()); ok {
			p.typed, p.shown = it, append(p.shown, len(p.opt.Items))
		}
	}
}

// itemAt is the item of an index, or the typed one.
func (p *picker) itemAt(i int) Item {
	if i == len(p.opt.Items) {
		return p.typed
	}
	return p.opt.Items[i]
}

func (p *picker) Title() string { return p.opt.Title }

// Place implements Placer: which of how many, where not all are in sight.
func (p *picker) Place() string {
	if _, at := p.drawnLines(); len(p.shown) == 0 || p.rows == 0 || len(at) <= p.rows {
		return ""
	}
	return strconv.Itoa(max(p.at, 0)+1) + " of " + strconv.Itoa(len(p.shown))
}

func (p *picker) Restyle(s *style.Styles) { p.styles = s }
func (p *picker) Size(w, h int) (int, int) {
	wide := min(pickerWidth, w-4)
	return wide, min(max(len(p.opt.Items)+p.countGroups()+2, 6)+len(p.noteLines(wide)), pickerHeight(h))
}

// leastChoices are the rows that a list keeps below its note and card on a small screen.
const leastChoices = 2

// pickerWidth is as wide as a picker gets; pickerHeight as high on a screen of h rows.
const pickerWidth = 76

func pickerHeight(h int) int { return min(h-6, 24) }

// noteLines are what stands above the list: the note, wrapped, and the card, with an empty row
// below each.
func (p *picker) noteLines(w int) []string {
	p.noted = 0
	if p.styles == nil {
		return nil
	}
	var out []string
	if p.opt.Note != "" {
		for _, l := range text.Wrap(p.opt.Note, max(w-2, 1)) {
			out = append(out, " "+p.styles.Warn.Render(l))
		}
		out = append(out, "")
	}
	if len(p.opt.Card) > 0 && p.field.String() == "" {
		out = append(out, drawKeys(p.styles, p.opt.Card, w)...)
	}
	p.noted = len(out)
	return out
}

func (p *picker) Cursor() (int, int, bool) { return p.cursorX, 0, true }

func (p *picker) Hint() string {
	switch {
	case p.opt.Hint != "":
		return p.opt.Hint
	case p.opt.Choose == nil:
		return "type to search  esc close"
	default:
		return "type to search  enter choose  esc close"
	}
}

func (p *picker) countGroups() int {
	n, last := 0, ""
	for _, it := range p.opt.Items {
		if it.Group != last {
			n, last = n+1, it.Group
		}
	}
	return n
}

func (p *picker) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return p.handleKey(msg)
	case tea.MouseMsg:
		return p.handleMouse(msg)
	}
	return nil, false
}

func (p *picker) handleKey(msg tea.KeyMsg) (tea.Cmd, bool) {
	switch msg.String() {
	case "esc":
		return p.dismissCommand(), true
	case "enter":
		if p.at == noneChosen {
			return p.dismissCommand(), true
		}
		return p.chooseCurrent()
	case "up", "ctrl+p", "shift+tab":
		return p.moveSelection(-1), false
	case "down", "ctrl+n", "tab", p.opt.Down:
		return p.moveSelection(1), false
	case "pgup":
		return p.moveSelection(-max(p.rows-1, 1)), false
	case "pgdown":
		return p.moveSelection(max(p.rows-1, 1)), false
	case "home":
		return p.moveSelection(-len(p.shown)), false
	case "end":
		return p.moveSelection(len(p.shown)), false
	}
	if p.field.Update(msg) {
		p.filterItems()
		return p.previewCommand(), false
	}
	return nil, false
}

func (p *picker) dismissCommand() tea.Cmd {
	if p.opt.Cancel == nil {
		return nil
	}
	return p.opt.Cancel()
}

func (p *picker) handleMouse(msg tea.MouseMsg) (tea.Cmd, bool) {
	if msg.Action != tea.MouseActionPress {
		return nil, false
	}
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		return p.moveSelection(-3), false
	case tea.MouseButtonWheelDown:
		return p.moveSelection(3), false
	case tea.MouseButtonLeft:
		lines, at := p.drawnLines()
		above := 1 + p.noted
		row := p.from + msg.Y - above
		if msg.Y < above || row >= len(lines) || at[row] < 0 {
			return nil, false
		}
		p.at = at[row]
		return p.chooseCurrent()
	default:
		return nil, false
	}
}

func (p *picker) moveSelection(step int) tea.Cmd {
	before := p.at
	p.at = max(min(max(p.at, -1)+step, len(p.shown)-1), 0)
	if p.at == before {
		return nil
	}
	return p.previewCommand()
}

func (p *picker) currentItem() (Item, bool) {
	if p.at < 0 || p.at >= len(p.shown) {
		return Item{}, false
	}
	return p.itemAt(p.shown[p.at]), true
}

func (p *picker) previewCommand() tea.Cmd {
	if it, ok := p.currentItem(); ok && p.opt.Preview != nil {
		return p.opt.Preview(it)
	}
	return nil
}

func (p *picker) chooseCurrent() (tea.Cmd, bool) {
	it, ok := p.currentItem()
	if !ok || it.Why != "" || p.opt.Choose == nil {
		return nil, false
	}
	return p.opt.Choose(it), true
}

// drawnLines lists what is drawn: for each line the index in shown, or -1 for a heading.
func (p *picker) drawnLines() (kinds []string, at []int) {
	last := ""
	for i, n := range p.shown {
		if g := p.itemAt(n).Group; p.field.String() == "" && g != last {
			kinds, at, last = append(kinds, g), append(at, -1), g
		}
		kinds, at = append(kinds, ""), append(at, i)
	}
	return kinds, at
}

func (p *picker) View(w, h int) string {
	head, x := p.field.View(p.styles, p.styles.Glyphs.Prompt, p.opt.Placeholder, w)
	p.cursorX = x
	kinds, at := p.drawnLines()
	above := p.noteLines(w)
	if most := max(h-1-min(len(at), leastChoices), 0); len(above) > most { // what can be chosen goes before what is told
		above, p.noted = above[:most], most
	}
	out := append([]string{head}, above...)
	p.rows = max(1, h-len(out))
	p.scrollToSelected(at)
	for i := p.from; i < len(at) && len(out) < h; i++ {
		if at[i] < 0 {
			out = append(out, p.styles.Dim.Render(kinds[i]))
			continue
		}
		out = append(out, p.drawLine(at[i], w))
	}
	if len(at) == 0 {
		out = append(out, p.styles.Dim.Render("  nothing matches"))
	}
	return text.Block(out, w, h)
}

// scrollToSelected keeps the selected line in sight, with its heading when it is the first.
func (p *picker) scrollToSelected(at []int) {
	row := max(slices.Index(at, p.at), 0)
	p.from = max(min(p.from, row), row-p.rows+1, 0)
	if row == 1 && at[0] < 0 {
		p.from = 0
	}
}

func (p *picker) drawLine(i, w int) string {
	n := p.shown[i]
	it := p.itemAt(n)
	title, rest, mark := p.styles.Text, p.styles.Dim, "  "
	if it.Why != "" {
		title = p.styles.Dim
	}
	if i == p.at {
		title, rest, mark = p.styles.Selection, p.styles.Selection, p.styles.Glyphs.Closed+" "
	}
	detail := it.Detail
	if it.Why != "" {
		detail = "(" + it.Why + ")"
	}
	right := it.Right
	room := w - text.Width(right) - 3
	name := text.Truncate(oneLine(text.Sanitize(it.Title)), max(room-2, 4), p.styles.Glyphs.Ellipsis)
	detail = text.Truncate(oneLine(text.Sanitize(detail)), max(room-4-text.Width(name), 0), p.styles.Glyphs.Ellipsis)
	left := title.Render(mark) + p.markRunes(name, p.matched[n], title)
	if detail != "" {
		left += rest.Render("  " + detail)
	}
	pad := max(w-text.Width(left)-text.Width(right)-1, 0)
	return left + rest.Render(text.Blank(pad)) + rest.Render(right+" ")
}

// markRunes renders name with the runes at the given places marked.
func (p *picker) markRunes(name string, places []int, st styled) string {
	if len(places) == 0 {
		return st.Render(name)
	}
	out, from, i := "", 0, 0
	for at, r := range name {
		if slices.Contains(places, i) {
			if at > from {
				out += st.Render(name[from:at])
			}
			from = at + len(string(r))
			out += p.styles.Match.Render(name[at:from])
		}
		i++
	}
	if from < len(name) {
		out += st.Render(name[from:])
	}
	return out
}
