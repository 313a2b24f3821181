package workbench

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/core/profile"
	"hermes/ui"
)

// profileStore are those of the home that the program runs in.
func (w *workbench) profileStore() profile.Store {
	return profile.Of(w.options.Core.Config.Paths().Root)
}

// chooseProfile chooses which profile the next start uses. A running program keeps its own:
// sessions, back ends and memory belong to it.
func (w *workbench) chooseProfile(arg string) tea.Cmd {
	if arg != "" {
		return func() tea.Msg { return w.switchProfile(arg) }
	}
	return func() tea.Msg {
		list, err := w.profileStore().List()
		if err != nil {
			return ui.Toast(event.Error, "%v", err)
		}
		now := w.options.Core.Config.Paths().Profile
		var items []ui.Item
		for _, p := range list {
			detail := shortFolder(p.Folder)
			if p.Name == now || now == "" && p.Name == profile.Default {
				detail = "in use, " + detail
			}
			if p.Active {
				detail += ", used by the next start"
			}
			items = append(items, ui.Item{ID: p.Name, Title: p.Name, Detail: detail})
		}
		choose := func(it ui.Item) tea.Cmd { return func() tea.Msg { return w.switchProfile(it.ID) } }
		return ui.ShowOverlay{Overlay: ui.NewPicker(ui.PickerOptions{Title: "Profile of the next start", Items: items, Choose: choose})}
	}
}

func (w *workbench) switchProfile(name string) tea.Msg {
	if err := w.profileStore().Switch(name); err != nil {
		return ui.Toast(event.Error, "%v", err)
	}
	return ui.ShowToast{Level: event.Info, Text: "the next start uses profile " + name, Hint: "hermes -p " + name + " opens it beside this one"}
}

func (w *workbench) profileNames(context.Context) (out []string) {
	list, _ := w.profileStore().List() // what could be read
	for _, p := range list {
		out = append(out, p.Name)
	}
	return out
}
