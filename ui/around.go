package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
)

// Surroundings is what a session stands in: what events do not tell.
type Surroundings struct {
	Folder     string // as people write it: "~/weather"
	Branch     string // of the folder's repository; "" when it is in none
	Background int    // commands that run in the background
	Learned    int    // proposals that wait for the person's word
}

// surroundings brings what was found.
type surroundings struct {
	session string
	found   Surroundings
}

// lookTime bounds one look.
const lookTime = 5 * time.Second

// lookAround reads the surroundings of the focused session again, off the event loop. While a look
// is under way the next one waits for it.
func (f *frame) lookAround() tea.Cmd {
	if f.opt.Look == nil || f.session == "" {
		return nil
	}
	if f.looking {
		f.lookAgain = true
		return nil
	}
	f.looking = true
	look, session := f.opt.Look, f.session
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		defer cancel()
		return surroundings{session, look(ctx, session)}
	}
}

// takeSurroundings folds a look into the status row.
func (f *frame) takeSurroundings(m surroundings) tea.Cmd {
	f.looking = false
	if st := f.status.statusOf(m.session); st.around != m.found {
		st.around, f.dirty = m.found, true
	}
	if f.lookAgain || m.session != f.session {
		f.lookAgain = false
		return f.lookAround()
	}
	return nil
}

// changesSurroundings says that an event may have changed the branch, what runs in the background,
// or what was learned.
func changesSurroundings(e event.Event) bool {
	switch e.(type) {
	case event.SessionOpened, event.ToolEnded, event.TurnEnded, event.ProcessEnded, event.Resync,
		event.LearnProposed, event.LearnSettled:
		return true
	default:
		return false
	}
}
