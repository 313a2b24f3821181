package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/profile"
	"hermes/core/provider"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/ui"
	"hermes/ui/text"
)

// showStatus shows how the session stands, on a card.
func (w *workbench) showStatus(string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		info, err := app.Sessions.Get(ctx, uid)
		if errors.Is(err, store.ErrNotFound) { // nothing was said yet: what the first prompt would find
			info, err = event.SessionInfo{UID: uid, Cwd: app.Cwd()}, nil
		}
		if err != nil {
			return nil, err
		}
		c, err := app.SessionConfig(ctx, uid)
		if err != nil {
			return nil, err
		}
		return ui.ShowOverlay{Overlay: ui.NewCard("Status", w.statusFacts(ctx, app, info, c))}, nil
	})
}

// statusFacts are the rows of the card.
func (w *workbench) statusFacts(ctx context.Context, app *core.App, info event.SessionInfo, c session.Config) []ui.Fact {
	around := w.lookAround(ctx, info.UID)
	folder := around.Folder
	if around.Branch != "" {
		folder += "  on " + around.Branch
	}
	facts := []ui.Fact{
		{Name: "session", Text: strings.TrimSpace(info.UID + "  " + info.Title)},
		{Name: "folder", Text: folder},
	}
	facts = append(facts, modelFacts(ctx, app, info, c)...)
	facts = append(facts,
		ui.Fact{Name: "used", Text: usageWords(info)},
		ui.Fact{Name: "approvals", Text: approvalWords(app, c)},
		ui.Fact{Name: "tools", Text: cmp.Or(strings.Join(c.Toolsets, ", "), joinWords(app.Config().Toolsets), "the usual ones")},
		ui.Fact{Name: "back end", Text: backendWords(app, info.UID)},
		ui.Fact{Name: "running", Text: runningWords(app, info.UID)},
		ui.Fact{Name: "memory", Text: memoryWords(app)},
		ui.Fact{Name: "skills", Text: skillWords(ctx, app)},
		ui.Fact{Name: "profile", Text: profileWords(app)},
	)
	return facts
}

// modelFacts are the model, how long it thinks, and how full its window is.
func modelFacts(ctx context.Context, app *core.App, info event.SessionInfo, c session.Config) []ui.Fact {
	ref := info.ModelRef()
	p, m, err := app.Catalog().Resolve(ctx, ref)
	switch {
	case err != nil:
		return []ui.Fact{{Name: "model", Text: cmp.Or(ref, "none") + ": " + err.Error(), Wrong: true}}
	case p.Name() == provider.Offline:
		return []ui.Fact{{Name: "model", Text: "none is connected: /connect connects one", Wrong: true}}
	}
	model := p.Name() + "/" + m.ID
	if effort := cmp.Or(c.Effort, app.Config().Agent.ReasoningEffort); effort != "" {
		model += "  thinks " + effort
	}
	used, err := app.ContextUsed(ctx, info.UID)
	context, window := "nothing yet", app.Agent.Window(p.Name()+"/"+m.ID, m.Window)
	switch {
	case err != nil:
		context = err.Error()
	case used > 0 && window > 0:
		context = fmt.Sprintf("%s used: %s of %s tokens", text.Percent(used, window), text.Grouped(used), text.Grouped(window))
	case used > 0:
		context = text.Grouped(used) + " tokens used; the window of this model is not known"
	case window > 0:
		context = fmt.Sprintf("nothing yet of %s tokens", text.Grouped(window))
	}
	return []ui.Fact{{Name: "model", Text: model}, {Name: "context", Text: context}}
}

func usageWords(info event.SessionInfo) string {
	u := info.Usage
	words := fmt.Sprintf("%s messages, %s tokens read, %s written",
		text.Grouped(info.Messages), text.Grouped(u.Input), text.Grouped(u.Output))
	if u.CostKnown && u.Cost > 0 {
		words += fmt.Sprintf(", $%.3f", float64(u.Cost)/1e6)
	}
	return words
}

func approvalWords(app *core.App, c session.Config) string {
	own := c.Policy.LevelName()
	full, _ := ui.LevelWords(cmp.Or(own, levelOf(app.Gate.Policy())))
	if own != "" {
		return full + " (level " + own + ", of this session)"
	}
	return full
}

func backendWords(app *core.App, uid string) string {
	for _, b := range app.Backends().List(uid) {
		if b.Selected {
			where := cmp.Or(b.Image, b.Kind)
			if b.Traits.Local {
				where = "this machine"
			}
			return fmt.Sprintf("%s: %s, %s", b.Name, where, b.State)
		}
	}
	return "none"
}

func runningWords(app *core.App, uid string) string {
	var out []string
	for _, p := range app.Backends().Processes(uid) {
		if p.Running {
			out = append(out, p.ID+" "+p.Command)
		}
	}
	return cmp.Or(joinWords(out), "nothing in the background")
}

func memoryWords(app *core.App) string {
	if !app.Config().Memory.Enabled {
		return "off"
	}
	return "on: /memory shows it"
}

func skillWords(ctx context.Context, app *core.App) string {
	n := len(app.Skills.Glance(ctx, app.Project()))
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: /skills lists them", n)
}

func profileWords(app *core.App) string {
	return cmp.Or(app.Config().Paths().Profile, profile.Default) + ", " + shortFolder(app.Config().Paths().Home)
}

func joinWords(words []string) string { return strings.Join(words, ", ") }
