package ui

import (
	"strings"

	"hermes/ui/style"
	"hermes/ui/text"
)

// helpGroup is the heading of the keys that matter where there is no room for a card.
const helpGroup = "the keys that matter"

// openHelp shows the keys that matter most as a card, then all of them, searchable.
func (f *frame) openHelp() {
	table := f.reachableActions()
	items := f.menuItems(table)
	for i := range items {
		for _, e := range table {
			if e.ID == items[i].ID && e.Help != "" {
				items[i].Detail = strings.TrimSpace(items[i].Detail + " " + e.Help)
				break
			}
		}
	}
	facts, ids := f.helpCard(table)
	o := PickerOptions{
		Title: "Help", Items: items, Placeholder: "search keys and commands", Card: facts, Unchosen: true,
		Hint:   "enter runs it  esc close  shift+drag selects text",
		Choose: f.runListed,
	}
	if !hasCardRoom(o.Card, f.w, f.h) {
		o.Card, o.Items = nil, moveFirst(items, helpGroup, ids, len(ids))
	}
	f.pushOverlay(nil, NewPicker(o))
}

// helpCard is the actions of the card, as facts and by id.
func (f *frame) helpCard(table []entry) (facts []Fact, ids []string) {
	seen := map[string]bool{}
	for _, e := range table {
		keys := f.keys.keysOf(e.Action)
		if !e.Card || seen[e.ID] || len(keys) == 0 {
			continue
		}
		seen[e.ID] = true
		facts, ids = append(facts, Fact{Name: keys[0], Text: e.Title}), append(ids, e.ID)
	}
	return facts, ids
}

const (
	listRoom   = 6  // rows that the list below a card keeps at least
	columnRoom = 34 // cells of a column of the card
)

// cardColumns is how many columns of a card fit into w cells.
func cardColumns(w int) int { return max(1, min(2, w/columnRoom)) }

// hasCardRoom reports that a picker on a screen of w x h cells has room for a card and a list.
func hasCardRoom(facts []Fact, w, h int) bool {
	columns := cardColumns(min(pickerWidth, w-4))
	return columns > 1 && (len(facts)+columns-1)/columns+listRoom <= pickerHeight(h)
}

// drawKeys draws keys and what they do in columns, read downwards, with an empty row below.
func drawKeys(st *style.Styles, facts []Fact, w int) []string {
	columns := cardColumns(w)
	rows, names := (len(facts)+columns-1)/columns, 0
	for _, f := range facts {
		names = max(names, text.Width(f.Name))
	}
	out := make([]string, rows, rows+1)
	for i, f := range facts {
		room := max(1, w/columns-names-4)
		what := text.Fit(text.Truncate(f.Text, room, st.Glyphs.Ellipsis), room)
		out[i%rows] += " " + st.Key.Render(text.Fit(f.Name, names)) + "  " + st.Text.Render(what) + " "
	}
	return append(out, "")
}
