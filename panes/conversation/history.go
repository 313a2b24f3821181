package conversation

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
)

// recallMsg says which prompt was chosen.
type recallMsg struct{ prompt compose.Prompt }

func (p *Pane) historyAction() ui.Action {
	none := func() string {
		if !p.composer.HasHistory() && !p.recalling {
			return "nothing was sent yet"
		}
		return ""
	}
	return ui.Action{
		ID: "conversation.history", Keys: []string{"ctrl+r"}, Title: "Search earlier prompts", Card: true,
		Help: "What you sent, in any session, the newest first. The same key again goes to an older one.", Why: none, Run: p.runCmd(p.searchHistory),
	}
}

// takeHistory takes what was sent in earlier starts.
func (p *Pane) takeHistory(sent []compose.Prompt) tea.Cmd {
	p.composer.SetHistory(sent)
	p.recalling = false
	if !p.searching {
		return nil
	}
	if p.searching = false; !p.composer.HasHistory() {
		return showToast(event.Info, "nothing was sent yet", "")
	}
	return p.searchHistory()
}

// searchHistory lists what was sent before. What stands in the line is looked for; it comes back
// behind the newest prompt, as when the arrow keys go through them.
func (p *Pane) searchHistory() tea.Cmd {
	if p.recalling {
		p.searching = true
		return nil
	}
	p.stopBrowsing()
	p.queue.choosing = false
	sent := p.composer.History()
	items := make([]ui.Item, len(sent))
	for i, s := range sent {
		var parts []string
		for _, part := range s.Parts {
			parts = append(parts, "["+part.Name+"]")
		}
		items[i] = ui.Item{ID: strconv.Itoa(i), Title: s.Text, Detail: strings.Join(parts, " ")}
	}
	looked := p.composer.Text()
	if strings.Contains(looked, "\n") || len(p.composer.Parts()) > 0 {
		looked = ""
	}
	key := p.keyOf("conversation.history", "ctrl+r")
	o := ui.NewPicker(ui.PickerOptions{
		Title: "Earlier prompts", Items: items, Placeholder: "a part of it", Query: looked, Down: key,
		Hint: "type to search  " + key + " older  enter writes it into the line  esc close",
		Choose: func(it ui.Item) tea.Cmd {
			i, err := strconv.Atoi(it.ID)
			if err != nil {
				return nil
			}
			return func() tea.Msg { return recallMsg{sent[i]} }
		},
	})
	return func() tea.Msg { return ui.ShowOverlay{Overlay: o} }
}
