package ui

import (
	"context"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/style"
	"hermes/ui/text"
)

// Waiting returns a command that shows what is being done and does it; what do returns goes to the
// frame once the box is gone. esc takes the box away and ends ctx: nothing comes of it then.
func Waiting(title, what string, do func(ctx context.Context) tea.Msg) tea.Cmd {
	ctx, stop := context.WithCancel(context.Background())
	w := &waiting{title: title, what: what, stop: stop}
	return tea.Batch(
		func() tea.Msg { return ShowOverlay{Overlay: w} },
		func() tea.Msg {
			defer stop()
			msg := do(ctx)
			if w.done.Swap(true) {
				return nil
			}
			return msg
		})
}

// waiting is the box that says so.
type waiting struct {
	title, what string
	stop        context.CancelFunc
	done        atomic.Bool
	styles      *style.Styles
}

func (w *waiting) Title() string           { return w.title }
func (w *waiting) Hint() string            { return "esc stop" }
func (w *waiting) Restyle(s *style.Styles) { w.styles = s }

func (w *waiting) Size(width, _ int) (int, int) {
	wide := min(64, width-4)
	return wide, len(text.Wrap(w.what, max(wide-2, 1)))
}

// Finished implements Finisher.
func (w *waiting) Finished() bool { return w.done.Load() }

func (w *waiting) dismissCommand() tea.Cmd { //nolint:unparam // a dismisser may have a command
	w.done.Store(true)
	w.stop()
	return nil
}

func (w *waiting) Update(msg tea.Msg) (tea.Cmd, bool) {
	if key, ok := msg.(tea.KeyMsg); ok && key.String() == "esc" {
		return w.dismissCommand(), true
	}
	return nil, false
}

func (w *waiting) View(width, h int) string {
	var rows []string
	for _, l := range text.Wrap(w.what, max(width-2, 1)) {
		rows = append(rows, " "+w.styles.Dim.Render(l))
	}
	return text.Block(rows, width, h)
}
