package workbench

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/agent"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/store"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
)

// usageRows is how many days, models and turns the overlay lists.
const usageRows = 12

// showUsage shows what the session's prompt is made of, and what its calls cost.
func (w *workbench) showUsage(string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		r, err := readUsage(ctx, app, uid)
		if err != nil {
			return nil, err
		}
		again := func() tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				r, err := readUsage(ctx, app, uid)
				return usageMsg{r}, err
			})
		}
		return ui.ShowOverlay{Overlay: &usageView{uid: uid, r: r, again: again}}, nil
	})
}

// usageReports are one on the session, when something was said in it, and one on everything.
type usageReports struct{ session, all client.UsageReport }

type usageMsg struct{ r usageReports }

func readUsage(ctx context.Context, app *core.App, uid string) (r usageReports, err error) {
	if r.all, err = client.UsageOf(ctx, app, "", time.Time{}, usageRows); err != nil {
		return r, err
	}
	if fresh, err := isFresh(ctx, app.Sessions, uid); fresh || err != nil {
		return r, err
	}
	r.session, err = client.UsageOf(ctx, app, uid, time.Time{}, usageRows)
	return r, err
}

// usageView is an overlay: the composition of the prompt, then sums. It reads again when a turn of
// the session ends.
type usageView struct {
	uid    string
	r      usageReports
	again  func() tea.Cmd
	styles *style.Styles

	ui.ScrolledText
	rows, total int
}

func (v *usageView) Title() string           { return "Usage" }
func (v *usageView) Restyle(s *style.Styles) { v.styles = s }
func (v *usageView) Hint() string            { return "up down scroll  r read again  esc close" }

func (v *usageView) Size(w, h int) (int, int) {
	width := min(max(w-8, 30), 100)
	return width, min(len(v.drawLines(width)), h-4)
}

// Observe implements ui.Observer.
func (v *usageView) Observe(e event.Envelope) tea.Cmd {
	if _, ended := e.Event.(event.TurnEnded); ended && e.Session == v.uid {
		return v.again()
	}
	return nil
}

func (v *usageView) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case usageMsg:
		v.r = msg.r
	case tea.KeyMsg:
		return v.handleKey(msg.String())
	}
	return nil, false
}

func (v *usageView) handleKey(key string) (tea.Cmd, bool) {
	switch key {
	case "esc", "q", "enter":
		return nil, true
	case "r":
		return v.again(), false
	default:
		v.TakeScrollKey(key)
	}
	return nil, false
}

func (v *usageView) View(w, h int) string {
	lines := v.drawLines(w)
	v.total, v.rows = len(lines), h
	return text.Block(v.InSight(lines, h), w, h)
}

// Place implements ui.Placer.
func (v *usageView) Place() string {
	if v.total <= v.rows {
		return ""
	}
	return fmt.Sprintf("%d of %d", min(v.From+v.rows, v.total), v.total)
}

func (v *usageView) drawLines(w int) []string {
	if v.styles == nil {
		return nil
	}
	var out []string
	if m := v.r.session.Composition; m != nil {
		out = append(v.drawComposition(*m, w), "")
	}
	if v.r.session.Total.Calls > 0 {
		out = append(out, v.drawHead("This session", w), v.drawSum("all", v.r.session.Total, w))
		out = append(out, v.drawGroup("Turns", v.r.session.Turns, w, func(r store.UsageRow) string { return r.Name })...)
		out = append(out, v.drawGroup("Models", v.r.session.Models, w, func(r store.UsageRow) string { return r.Key })...)
		out = append(out, v.drawGroup("For", forMore(v.r.session.Purposes), w, func(r store.UsageRow) string { return client.PurposeName(r.Key) })...)
		out = append(out, "")
	}
	all := v.r.all
	if all.Total.Calls == 0 {
		return append(out, v.styles.Dim.Render(text.Truncate("no model was called yet", w, "…")))
	}
	out = append(out, v.drawHead("All sessions", w), v.drawSum("today", all.Today, w), v.drawSum("all", all.Total, w))
	out = append(out, v.drawGroup("Days", all.Days, w,
		func(r store.UsageRow) string { return r.Key })...)
	out = append(out, v.drawGroup("Models", all.Models, w, func(r store.UsageRow) string { return r.Key })...)
	return append(out, v.drawGroup("Sessions", all.Sessions, w, func(r store.UsageRow) string {
		if r.Name != "" {
			return r.Name
		}
		return client.SessionName(r.Key, "")
	})...)
}

// forMore are the purposes when there are others than the conversation.
func forMore(rows []store.UsageRow) []store.UsageRow {
	if len(rows) == 1 && rows[0].Key == "" {
		return nil
	}
	return rows
}

// barCells is the width of a bar.
const barCells = 24

// drawComposition shows the shares of the next call, as bars where there is room.
func (v *usageView) drawComposition(m agent.Composition, w int) []string {
	s, cells := v.styles, max(min(w-15, 24), 8)
	out := []string{s.Strong.Render(text.Truncate("The next call", w, "…"))}
	for _, p := range m.Shares {
		row := "  " + text.Fit(client.ShareName(p.Name), cells) + fmt.Sprintf("%8s %3d%%", text.Grouped(p.Tokens), p.Tokens*100/max(m.Tokens, 1))
		bar := ""
		if w >= narrowUsage {
			bar = "  " + v.drawBar(p.Tokens, m.Tokens)
		}
		out = append(out, text.Truncate(s.Text.Render(row)+s.Accent.Render(bar), w, "…"))
	}
	full := fmt.Sprintf("  %s%8s", text.Fit("all, estimated", cells), text.Grouped(m.Tokens))
	if m.Window > 0 {
		full += fmt.Sprintf("  %d%% of %s", m.Tokens*100/m.Window, text.Grouped(m.Window))
	}
	out = append(out, s.Dim.Render(text.Truncate(full, w, "…")))
	if m.Counted > 0 {
		out = append(out, s.Dim.Render(text.Truncate(fmt.Sprintf("  %s%8s", text.Fit("last call, counted", cells), text.Grouped(m.Counted)), w, "…")))
	}
	return out
}

func (v *usageView) drawBar(n, of int) string {
	cells := (n*barCells + of - 1) / max(of, 1)
	if v.styles.ASCII {
		return strings.Repeat("#", cells)
	}
	return strings.Repeat("█", cells)
}

// drawHead draws the head of a table of sums.
func (v *usageView) drawHead(name string, w int) string {
	s := v.styles
	facts := usageFacts(w, "calls", "read", "cached", "to cache", "written", "thought", "cost")
	return s.Strong.Render(text.Fit(name, v.nameCells(w))) + s.Faint.Render(text.Truncate(facts, w-v.nameCells(w), ""))
}

// From wideUsage on all columns have room beside the names, below narrowUsage the most asked for.
const wideUsage, narrowUsage = 96, 56

func (v *usageView) nameCells(w int) int {
	if w >= wideUsage {
		return max(min(w-78, 44), 12)
	}
	if w < narrowUsage {
		return max(w-22, 12)
	}
	return max(min(w-53, 44), 12)
}

// usageFacts is a row of sums without its name. What was written to a cache and what was thought
// are left out where there is no room; at last all but what was read and the cost.
func usageFacts(w int, calls, read, cached, toCache, written, thought, cost string) string {
	if w < narrowUsage {
		return fmt.Sprintf("%11s  %s", read, cost)
	}
	if w < wideUsage {
		return fmt.Sprintf("%6s %11s %6s %9s  %s", calls, read, cached, written, cost)
	}
	return fmt.Sprintf("%6s %11s %6s %9s %9s %9s  %s", calls, read, cached, toCache, written, thought, cost)
}

func (v *usageView) drawSum(name string, r store.UsageRow, w int) string {
	u, s := r.Usage, v.styles
	facts := usageFacts(w, text.Grouped(r.Calls), text.Grouped(u.Input), client.CacheRate(u), text.Grouped(u.Written), text.Grouped(u.Output),
		text.Grouped(u.Reasoning), client.CostWords(r))
	cells := v.nameCells(w)
	return text.Truncate(s.Text.Render(text.Fit("  "+text.Truncate(text.OneLine(name), cells-3, s.Glyphs.Ellipsis), cells))+s.Dim.Render(facts), w, s.Glyphs.Ellipsis)
}

func (v *usageView) drawGroup(name string, rows []store.UsageRow, w int, title func(store.UsageRow) string) []string {
	var out []string
	for i, r := range rows {
		if i == 0 {
			out = append(out, v.styles.Dim.Render(text.Truncate(" "+name, w, "")))
		}
		out = append(out, v.drawSum(title(r), r, w))
	}
	return out
}
