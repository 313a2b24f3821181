package ui

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/themes"
)

// menuItems lists a table for the palette and the help.
func (f *frame) menuItems(table []entry) []Item {
	var out []Item
	seen := map[string]bool{}
	for _, e := range table {
		if e.Hidden || seen[e.ID] || e.Slash != "" && seen["/"+e.Slash] { // a command is one entry, whoever has it
			continue
		}
		seen[e.ID] = true
		if e.Slash != "" {
			seen["/"+e.Slash] = true
		}
		it := Item{ID: e.ID, Title: e.Title, Group: e.Group, Why: e.disabledReason(), Right: strings.Join(f.keys.keysOf(e.Action), " ")}
		if e.Slash != "" {
			it.Detail, it.Also = "/"+e.Slash, strings.Join(e.Also, " ")
		}
		out = append(out, it)
	}
	return groupItems(out)
}

// groupItems puts the items of a group together, in the order in which the groups first come.
func groupItems(items []Item) []Item {
	place := map[string]int{}
	for _, it := range items {
		if _, known := place[it.Group]; !known {
			place[it.Group] = len(place)
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return place[a.Group] - place[b.Group] })
	return items
}

// possibleFirst moves what cannot be done now behind what can: in its group, and groups that can do
// nothing behind the others.
func possibleFirst(items []Item) []Item {
	able := map[string]bool{}
	for _, it := range items {
		able[it.Group] = able[it.Group] || it.Why == ""
	}
	rank := func(it Item) int {
		switch {
		case it.Why == "":
			return 0
		case able[it.Group]:
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return rank(a)/2 - rank(b)/2 })
	place := map[string]int{}
	for _, it := range items {
		if _, known := place[it.Group]; !known {
			place[it.Group] = len(place)
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Or(place[a.Group]-place[b.Group], rank(a)-rank(b)) })
	return items
}

func (f *frame) openPalette() {
	table := f.reachableActions()
	items := moveFirst(possibleFirst(f.menuItems(table)), "suggested", f.suggestedIDs(table), maxSuggested)
	f.pushOverlay(nil, NewPicker(PickerOptions{
		Title: "Commands", Items: items, Placeholder: "what do you want to do?",
		Choose: f.runListed,
	}))
}

// maxSuggested is how many suggestions stand above all commands.
const maxSuggested = 8

// suggestedIDs are what the person ran last, what the focused pane offers first, and what is used
// most.
func (f *frame) suggestedIDs(table []entry) []string {
	able, wanted := map[string]bool{}, slices.Clone(f.recent)
	for _, e := range table {
		able[e.ID] = able[e.ID] || e.disabledReason() == ""
	}
	for _, e := range table {
		if e.InBar && e.owner != nil && e.owner == f.focusedPane() {
			wanted = append(wanted, e.ID)
		}
	}
	for _, e := range table {
		if e.First {
			wanted = append(wanted, e.ID)
		}
	}
	return slices.DeleteFunc(wanted, func(id string) bool { return !able[id] })
}

// runListed runs what a person chose in a list of all that can be done.
func (f *frame) runListed(it Item) tea.Cmd {
	f.rememberRun(it.ID)
	return func() tea.Msg { return RunAction{ID: it.ID} }
}

// moveFirst moves up to most of the items with these ids into a group at the beginning, in the
// order of the ids.
func moveFirst(items []Item, group string, ids []string, most int) []Item {
	items = slices.Clone(items)
	at := 0
	for _, id := range ids {
		i := slices.IndexFunc(items, func(it Item) bool { return it.ID == id })
		if i < at || at == most {
			continue
		}
		it := items[i]
		it.Group = group
		items = slices.Insert(slices.Delete(items, i, i+1), at, it)
		at++
	}
	return items
}

// openSearch asks for what to look for in the focused pane and shows the count while typing.
func (f *frame) openSearch() {
	s, ok := f.focusedPane().(Searcher)
	if !ok {
		return
	}
	const none = "no hit in this pane; / among the sessions looks through all of them"
	hits, looked := 0, ""
	look := func(line string) { hits, looked = s.Search(line), line }
	said := func() string {
		switch {
		case looked == "":
			return ""
		case hits == 0:
			return none
		case hits == 1:
			return "1 hit"
		}
		return strconv.Itoa(hits) + " hits"
	}
	f.pushOverlay(nil, NewPrompt(PromptOptions{
		Title: "Search in this pane", Placeholder: "alt+n and alt+p move between hits", Changed: look, Note: said,
		Done: func(line string) (tea.Cmd, string) {
			look(line)
			switch {
			case line == "":
				return nil, ""
			case hits == 0:
				return nil, none
			}
			return func() tea.Msg { return ShowToast{Level: event.Info, Text: said()} }, ""
		},
	}))
}

func (f *frame) themeDirs() []string {
	if f.opt.ThemeDir == "" {
		return nil
	}
	return []string{f.opt.ThemeDir}
}

func (f *frame) themeNames(context.Context) []string {
	return append([]string{DefaultTheme}, themes.Names(f.themeDirs()...)...)
}

// pickTheme shows each theme while the selection moves, and the old one again after esc. With a
// name it needs no list.
func (f *frame) pickTheme(name string) tea.Cmd {
	if name != "" {
		if f.setTheme(name) {
			return f.keepTheme(name)
		}
		return nil
	}
	before, chosen := f.styles.Name, f.styles.Name
	if f.opt.followsBackground() {
		chosen = DefaultTheme
	}
	items := []Item{{ID: DefaultTheme, Title: DefaultTheme, Detail: "the one that fits the background of your terminal"}}
	for _, n := range themes.Names(f.themeDirs()...) {
		it := Item{ID: n, Title: n}
		if t, err := themes.Load(n, f.themeDirs()...); err != nil {
			it.Why = oneLine(err.Error())
		} else {
			it.Detail = t.About
			it.Right = map[bool]string{true: "dark", false: "light"}[t.Dark]
		}
		items = append(items, it)
	}
	f.pushOverlay(nil, NewPicker(PickerOptions{
		Title: "Theme", Items: items, Selected: chosen, Placeholder: "name",
		Preview: func(it Item) tea.Cmd {
			if it.Why == "" {
				f.setTheme(it.ID)
			}
			return nil
		},
		Choose: func(it Item) tea.Cmd {
			f.setTheme(it.ID)
			return f.keepTheme(it.ID)
		},
		Cancel: func() tea.Cmd {
			f.setTheme(before)
			return nil
		},
	}))
	return nil
}

func (f *frame) keepTheme(name string) tea.Cmd {
	f.opt.Theme = name
	if f.opt.SetTheme == nil {
		return nil
	}
	return func() tea.Msg {
		if err := f.opt.SetTheme(name); err != nil {
			return ShowToast{Level: event.Warn, Text: "the theme could not be remembered: " + err.Error()}
		}
		return nil
	}
}

// setTheme changes the colours of everything; a theme with a problem changes nothing and says so.
func (f *frame) setTheme(name string) bool {
	t, err := f.opt.loadTheme(name)
	if err != nil {
		f.showToast(event.Warn, oneLine(err.Error()), "")
		return false
	}
	f.styles = f.opt.newStyles(t)
	f.screen.SetCanvas(f.styles.Canvas())
	f.restyleAll()
	return true
}
