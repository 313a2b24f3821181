package ui

import (
	"strings"

	"hermes/ui/text"
)

// The terminal's own title says which session is open, and whether it works or waits: it is what a
// person sees of a window that is behind another one.

const maxWindowTitle = 80

// windowTitle is the title for the focused session.
func (f *frame) windowTitle() string {
	name, mark := "", ""
	if p := f.convs.currentPane(); p != nil {
		name = p.Title().Text
	}
	st := f.status.sessions[f.session]
	switch {
	case st == nil:
		st = &sessionStatus{}
	case len(st.waits) > 0:
		mark = "! "
	case st.busy:
		mark = "* "
	}
	parts := []string{mark + text.Truncate(oneLine(text.Sanitize(name)), maxWindowTitle, "...")}
	if st.around.Folder != "" {
		parts = append(parts, oneLine(text.Sanitize(st.around.Folder)))
	}
	return strings.Join(append(parts, "Hermes"), " - ")
}

// showWindowTitle writes the title when it has changed. The console of Linux has none, and shows
// what it does not know.
func (f *frame) showWindowTitle() {
	if f.opt.Getenv("TERM") == "linux" {
		return
	}
	if err := f.screen.SetTitle(f.windowTitle()); err != nil {
		f.failed = err
	}
}
