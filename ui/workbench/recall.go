package workbench

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/recall"
	"hermes/ui"
	"hermes/ui/text"
)

// shownFacts bounds the list of all.
const shownFacts = 200

// showRecall shows what long-term memory knows about something, or its newest facts.
func (w *workbench) showRecall(arg string) tea.Cmd {
	query := strings.TrimSpace(arg)
	return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
		s, err := app.LongTerm()
		if err != nil {
			return nil, err
		}
		o := ui.PickerOptions{Hint: "type to narrow  enter look, change, forget  esc close"}
		var hits []recall.Hit
		if query == "" {
			o.Title = "Long-term memory, newest first"
			all, err := s.List(ctx, recall.Listing{Limit: shownFacts})
			if err != nil {
				return nil, err
			}
			for _, it := range all {
				hits = append(hits, recall.Hit{Item: it})
			}
		} else {
			found, err := s.Recall(ctx, query, 20, 0)
			if err != nil {
				return nil, err
			}
			hits, o.Title, o.Note = found.Hits, "Recall, "+howFound(found), text.OneLine(text.Sanitize(found.Note))
		}
		if len(hits) == 0 {
			return ui.Toast(event.Info, "nothing that is remembered answers this; hermes memory store keeps facts"), nil
		}
		byID := map[string]recall.Hit{}
		for _, h := range hits {
			id := strconv.FormatInt(h.ID, 10)
			byID[id] = h
			o.Items = append(o.Items, factItem(id, h, query != ""))
		}
		o.Choose = func(it ui.Item) tea.Cmd { return w.showFact(byID[it.ID], query) }
		return ui.ShowOverlay{Overlay: ui.NewPicker(o)}, nil
	})
}

// howFound is how it was found.
func howFound(f recall.Found) string {
	if f.ByWords {
		return "by words"
	}
	return "by words and meaning"
}

func factItem(id string, h recall.Hit, scored bool) ui.Item {
	it := ui.Item{ID: id, Title: factLine(h.Key, 30), Detail: factLine(h.Value, 200), Right: h.Created.Local().Format("2006-01-02")}
	if scored {
		it.Right = fmt.Sprintf("%.2f", h.Score)
	}
	if h.Beside {
		it.Right = "beside a hit " + it.Right
	}
	if h.Tainted {
		it.Right = "strangers' " + it.Right
	}
	return it
}

func factLine(s string, n int) string { return text.Truncate(text.OneLine(text.Sanitize(s)), n, "…") }

// showFact shows one fact with all that is known of it, and what can be done with it.
func (w *workbench) showFact(h recall.Hit, query string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
		s, err := app.LongTerm()
		if err != nil {
			return nil, err
		}
		older, err := s.Older(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		pin, mute := "Keep it for good", "Do not bring it up unasked"
		if h.Pinned {
			pin = "Let it expire again"
		}
		if h.Muted() {
			mute = "It may be brought up unasked again"
		}
		return ui.ShowOverlay{Overlay: ui.NewPicker(ui.PickerOptions{
			Title: factLine(h.Key, 60), Card: factCard(h, older, query != ""), Hint: "enter choose  esc close",
			Items: []ui.Item{
				{ID: "back", Title: "Back to the list"},
				{ID: "edit", Title: "Change what it says"},
				{ID: "forget", Title: "Forget it", Detail: "for good, with what it replaced"},
				{ID: "pin", Title: pin},
				{ID: "mute", Title: mute},
			},
			Choose: func(it ui.Item) tea.Cmd { return w.actOnFact(it.ID, h, query) },
		})}, nil
	})
}

// factCard is what is known of a fact.
func factCard(h recall.Hit, older []recall.Item, scored bool) []ui.Fact {
	facts := []ui.Fact{{Name: "says", Text: factLine(h.Value, 600)}}
	if scored {
		facts = append(facts, ui.Fact{Name: "score", Text: fmt.Sprintf("%.2f", h.Score)}, // a row may be narrow
			ui.Fact{Name: "similarity", Text: fmt.Sprintf("0.6 · %.2f", h.Similarity)},
			ui.Fact{Name: "recency", Text: fmt.Sprintf("0.3 · %.2f", h.Recency)}, ui.Fact{Name: "use", Text: fmt.Sprintf("0.1 · %.2f", h.Use)})
	}
	if h.Beside {
		facts = append(facts, ui.Fact{Name: "found", Text: "for what was stored beside it: it has no word of the question"})
	}
	facts = append(facts, ui.Fact{Name: "from", Text: factFrom(h.Item)},
		ui.Fact{Name: "since", Text: h.Created.Local().Format(time.DateTime) + fmt.Sprintf(", used in %d sessions", h.Uses)})
	if h.Tainted {
		facts = append(facts, ui.Fact{Name: "careful", Text: "its conversation had read strangers' words, or it reads like orders", Wrong: true})
	}
	for i, it := range older {
		if i == 3 {
			facts = append(facts, ui.Fact{Name: "before", Text: fmt.Sprintf("and %d older ones", len(older)-i)})
			break
		}
		facts = append(facts, ui.Fact{Name: "before", Text: it.Created.Local().Format(time.DateOnly) + ": " + factLine(it.Value, 120)})
	}
	return facts
}

// factFrom says where a fact comes from. An import is its own session, which is named after it.
func factFrom(it recall.Item) string {
	from, session := string(it.Origin), factLine(it.Session, 40)
	switch {
	case session == "":
		return from
	case strings.HasPrefix(session, from+" "):
		return session
	default:
		return from + ", session " + session
	}
}

func (w *workbench) actOnFact(what string, h recall.Hit, query string) tea.Cmd {
	switch what {
	case "back":
		return w.showRecall(query)
	case "edit":
		return func() tea.Msg {
			return ui.ShowOverlay{Overlay: ui.NewPrompt(ui.PromptOptions{
				Title: "Change " + factLine(h.Key, 40), Text: h.Value,
				Done: func(value string) (tea.Cmd, string) {
					if strings.TrimSpace(value) == "" {
						return nil, "write what it says now, or esc"
					}
					return w.changeFact("changed: "+factLine(h.Key, 60), func(ctx context.Context, s *recall.Store) error {
						_, err := s.Edit(ctx, h.ID, value)
						return err
					}), ""
				},
			})}
		}
	case "forget":
		return func() tea.Msg {
			return ui.ShowOverlay{Overlay: ui.NewConfirm("Forget "+factLine(h.Key, 40)+"?", factLine(h.Value, 200), func() tea.Cmd {
				return w.changeFact("forgotten: "+factLine(h.Key, 60), func(ctx context.Context, s *recall.Store) error {
					_, err := s.Forget(ctx, h.ID)
					return err
				})
			})}
		}
	case "pin":
		return w.changeFact("done: "+factLine(h.Key, 60), func(ctx context.Context, s *recall.Store) error {
			return s.Pin(ctx, h.ID, !h.Pinned)
		})
	default:
		return w.changeFact("done: "+factLine(h.Key, 60), func(ctx context.Context, s *recall.Store) error {
			return s.Mute(ctx, h.ID, !h.Muted())
		})
	}
}

func (w *workbench) changeFact(done string, change func(ctx context.Context, s *recall.Store) error) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
		s, err := app.LongTerm()
		if err != nil {
			return nil, err
		}
		return ui.Toast(event.Info, "%s", done), change(ctx, s)
	})
}
