package ui

import (
	"fmt"
	"os/exec"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/style"
)

// ID names a pane in configuration, focus keys and layout. It is stable.
type ID string

// Pane is one rectangle of the screen. The frame draws the border, the title row and the bottom row
// around it.
//
// All methods are called from the program's one event loop. None may block or do I/O: work goes
// into the tea.Cmd that Update or an Action returns, and its message comes back to the same pane's
// Update. Panes must not use tea.Sequence or tea.Tick loops; nothing may tick while nothing
// changes.
type Pane interface {
	ID() ID
	// Title says what the pane is about now. Plain text.
	Title() Title
	// Resize sets the inner size in cells. 0x0 means hidden.
	Resize(w, h int)
	// Restyle hands the pane the styles of the current theme; called before the first View and on
	// each theme change.
	Restyle(s *style.Styles)
	// Apply folds events into the pane's state and reports whether its picture changed.
	Apply(events []event.Envelope) bool
	// Update gets keys and mouse while the pane is focused (mouse positions are relative to the
	// inner rectangle), SessionFocused, and the messages of its own commands.
	Update(msg tea.Msg) tea.Cmd
	// View is exactly h lines of exactly w cells, memoised until something changed.
	View() string
	// Actions is the one source for key dispatch, bottom bar, help, palette and docs. It may depend
	// on state.
	Actions() []Action
}

// Title is the text in a pane's top border.
type Title struct {
	Text  string // left
	Right string // right: a count, a back end, a clock
}

// Optional capabilities of a pane, one method each.
type (
	// Focuser hears that the pane gains or loses the focus.
	Focuser interface{ Focus(on bool) }
	// Cursorer places the terminal's cursor, relative to the inner rectangle. ok is false to hide
	// it.
	Cursorer interface{ Cursor() (x, y int, ok bool) }
	// Typer says that printable keys are text now, so that no single-letter action may take them.
	Typer interface{ Typing() bool }
	// Catcher takes a key before any action does: tab, up and down while a completion is open.
	// Never ctrl+c.
	Catcher interface{ Catches(key string) bool }
	// Grabber takes every key, ctrl+c too, while it says so: a terminal that a person types into.
	// Only the action that it names works still, and is the way out.
	Grabber interface{ Grabs() (escape string) }
	// Copier returns what "copy" would copy, as plain text, and its name ("message", "code block",
	// "output").
	Copier interface{ Copy() (text, what string) }
	// TextSelector is a pane whose text a drag of the mouse selects. It gets a press when the button
	// is let go where it went down.
	TextSelector interface{ SelectsText() }
	// Searcher is asked to search inside the pane; the frame shows the prompt.
	Searcher interface {
		Search(query string) (hits int)
	}
	// SearchMover moves between the hits of Search.
	SearchMover interface{ NextHit(delta int) }
	// Refresher says when its picture changes by the clock alone (a running time, a countdown);
	// zero for never. The frame asks after each change and keeps one timer for the earliest, so
	// that what does not move costs nothing.
	Refresher interface {
		RefreshAt(now time.Time) time.Time
	}
	// Waker has work to do after events (history changed: read it again) or in another size (room
	// for a preview). The frame asks after each Apply, each new arrangement and each refresh; nil
	// for none.
	Waker interface{ Wake() tea.Cmd }
	// Writer is a pane with a line that a person writes in. Write goes back to writing, whatever the
	// keys mean at the moment, and types s as a person would; s may be empty. The pane tells by
	// Typer that it is writing already.
	Writer interface{ Write(s string) tea.Cmd }
	// Beginner puts s in front of what stands in its line: the name of a command, say.
	Beginner interface{ Begin(s string) tea.Cmd }
	// Sessioner says which session the pane shows.
	Sessioner interface{ Session() string }
)

// Messages that the frame sends to panes.
type (
	// SessionFocused tells every pane which session owns the output and back-end panes now.
	SessionFocused struct{ UID string }
)

// Where says in which place a session opens.
type Where int

// Places to open a session.
const (
	Here  Where = iota // in the focused conversation
	Right              // split to the right
	Below              // split below
)

// Messages that panes return from commands to ask something of the frame. Everything else returns
// to the pane.
type (
	// OpenSession shows a session. An empty UID makes a new one. At, when not 0, is the message to
	// scroll to. The conversation pane that shows it gets the message too, as the first one: the
	// place to start loading.
	OpenSession struct {
		UID   string
		Where Where
		At    int64
	}
	// FocusPane moves the focus.
	FocusPane struct{ Pane ID }
	// OpenPane shows a pane over the output, with the focus; one with the same ID that is open
	// already is shown instead.
	OpenPane struct{ Pane Pane }
	// ClosePane takes away what OpenPane showed.
	ClosePane struct{ Pane ID }
	// ShowToast shows a short message on the status row.
	ShowToast struct {
		Level event.Level
		Text  string
		Hint  string
	}
	// ShowUndo says what was done, and offers to take it back by a key for a while. Undo's message
	// goes to the asking pane.
	ShowUndo struct {
		Text string
		Undo tea.Cmd
	}
	// BeginText puts text in front of what stands in the current conversation's line, and goes
	// there.
	BeginText struct{ Text string }
	// KeyIgnored says that a key did nothing in the line that a person types in: the frame says why.
	KeyIgnored struct{ Key string }
	// Leave ends the program when it is asked for twice within some seconds; Key is what asks.
	Leave struct{ Key string }
	// ShowOverlay puts an overlay on top.
	ShowOverlay struct{ Overlay Overlay }
	// CloseOverlay removes the topmost overlay.
	CloseOverlay struct{}
	// CopyText copies by OSC 52 and natively and says which worked.
	CopyText struct {
		Text, What string
		Hint       string // said once it is copied; may be empty
	}
	// EditText opens $VISUAL or $EDITOR on Text; Done gets the result and its message goes to the
	// asking pane.
	EditText struct {
		Text, Suffix string
		Done         func(text string, err error) tea.Msg
	}
	// RunProcess gives the terminal to a process (a shell in a container, a pager); Done's message
	// goes to the asking pane.
	RunProcess struct {
		Cmd  *exec.Cmd
		Done func(err error) tea.Msg
	}
	// RunAction runs the action with that id, as the palette would. Arg is what stood behind a
	// slash command.
	RunAction struct{ ID, Arg string }
	// FrameMsg is implemented by all of the above.
	FrameMsg interface{ isFrameMsg() }
)

func (OpenSession) isFrameMsg()  {}
func (FocusPane) isFrameMsg()    {}
func (OpenPane) isFrameMsg()     {}
func (ClosePane) isFrameMsg()    {}
func (ShowToast) isFrameMsg()    {}
func (ShowUndo) isFrameMsg()     {}
func (BeginText) isFrameMsg()    {}
func (KeyIgnored) isFrameMsg()   {}
func (Leave) isFrameMsg()        {}
func (ShowOverlay) isFrameMsg()  {}
func (CloseOverlay) isFrameMsg() {}
func (CopyText) isFrameMsg()     {}
func (EditText) isFrameMsg()     {}
func (RunAction) isFrameMsg()    {}
func (RunProcess) isFrameMsg()   {}

// Toast is a message for the status row.
func Toast(l event.Level, format string, args ...any) tea.Msg {
	return ShowToast{Level: l, Text: fmt.Sprintf(format, args...)}
}

// Placer is an overlay that says where in a long list it stands ("3 of 90"); "" where all of it is
// in sight.
type Placer interface{ Place() string }

// Finisher is an overlay that may have nothing more to ask, because it was answered elsewhere: the
// frame then removes it.
type Finisher interface{ Finished() bool }

// Overlay is a box over the panes: palette, help, picker, approval. The topmost one gets all keys
// and mouse.
type Overlay interface {
	// Title stands in the box's border.
	Title() string
	// Size returns the inner size wanted on a screen of w x h cells; the frame clips it.
	Size(w, h int) (ow, oh int)
	Restyle(s *style.Styles)
	// Update handles input. Returning done removes the overlay; the command runs either way.
	Update(msg tea.Msg) (cmd tea.Cmd, done bool)
	// View is exactly h lines of exactly w cells.
	View(w, h int) string
	// Hint is the bottom row: keys and what they do. Plain text.
	Hint() string
}

// Observer is an overlay that follows what the program tells of.
type Observer interface {
	Observe(e event.Envelope) tea.Cmd
}
