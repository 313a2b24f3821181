package ui

import (
	"slices"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/ui/layout"
	"hermes/ui/screen"
	"hermes/ui/style"
)

// frame is the root model. Update changes state and marks dirty; paintFrame composes and
// writes. Each kind of message has its own method, in the file of its subject.
type frame struct {
	opt    Options
	styles *style.Styles
	screen *screen.Screen
	keys   *keymap
	recent []string // ids of the actions that ran last, newest first

	terminal *terminal

	w, h      int
	plan      layout.Plan
	arranged  arrangement
	convs     columns
	cached    []Pane // conversations out of sight, newest first
	guests    guests // what stands over the output
	focus     layout.Slot
	session   string // that every pane was told of last
	drag      *layout.Edge
	selection *selection
	clicked   clicked
	blurred   bool
	quit      quitKey   // ctrl+c
	leave     quitKey   // ctrl+d
	keyed     time.Time // of the last key
	run       run
	undone    undoable

	overlays  []*shown
	status    status
	looking   bool // at the surroundings of the session; lookAgain: once more after that
	lookAgain bool
	toasts    toasts

	dirty   bool
	moved   bool      // panes got other sizes: they may want to read more
	moused  time.Time // of the last frame that the wheel or a drag asked for
	painted time.Time // of the last frame that no key asked for
	timing  bool      // a paint is scheduled
	refresh time.Time // when the scheduled refresh fires; zero for none
	compose compositor
	view    string

	inflight *atomic.Int64 // commands whose message was not handled yet, timers apart
	wrote    func(bytes int)
	failed   error // of the last write
	stop     <-chan struct{}
}

// Messages of the frame to itself.
type (
	// batch is what the bridge drained: one a frame.
	batch struct {
		events []event.Envelope
		done   func() // called once the events are on the screen
	}
	// paintNow ends the throttle.
	paintNow struct{}
	// refreshNow is the clock for panes that show time.
	refreshNow struct{ at time.Time }
	// themeChanged says that a theme's file was edited.
	themeChanged struct{ name string }
	// keysChanged and themeWanted come from Program's setters.
	keysChanged struct{ keys map[string][]string }
	themeWanted struct{ name string }
	// from is the message of a command, on its way back to the pane that returned it.
	from struct {
		pane Pane
		msg  tea.Msg
	}
	// handled counts down inflight.
	handled struct{ msg tea.Msg }
)

func newFrame(opt Options, out *screen.Screen, term *terminal) *frame {
	f := &frame{opt: opt, screen: out, terminal: term, focus: layout.Conversation, inflight: &atomic.Int64{}, wrote: func(int) {}}
	f.keys = newKeymap(opt.Keys)
	f.status.sessions = map[string]*sessionStatus{}
	f.status.statusOf(opt.Session).around = opt.Around
	f.arranged = f.loadArrangement()
	t, err := opt.loadTheme(opt.Theme)
	f.styles = opt.newStyles(t)
	f.screen.SetCanvas(f.styles.Canvas())
	if err != nil {
		f.toasts.addToast(opt.Now(), event.Warn, err.Error(), "the default theme is shown instead")
	}
	if opt.Slash != nil {
		opt.Slash.frame = f
	}
	return f
}

// Init opens the first session and tells everybody.
func (f *frame) Init() tea.Cmd {
	f.restyleAll()
	cmd := f.openSession(OpenSession{UID: f.opt.Session})
	if f.opt.W > 0 {
		f.resize(tea.WindowSizeMsg{Width: f.opt.W, Height: f.opt.H})
	}
	f.dirty = true
	f.paintFrame()
	return f.trackCommand(cmd)
}

// View returns the last composed frame. Nothing is computed here: bubbletea calls it after every
// message.
func (f *frame) View() string { return f.view }

// Update handles one message and paints: at once after a person did something or a batch came, else
// at most every 33 ms.
func (f *frame) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer crash.Guard("screen")
	switch m := msg.(type) {
	case handled:
		defer f.inflight.Add(-1)
		msg = m.msg
	case batch:
		defer m.done()
	}
	cmd, urgent := f.handleMessage(msg)
	cmd = tea.Batch(cmd, f.tellSession(), f.wakePanes())
	if !f.dirty {
		return f, f.trackCommand(cmd)
	}
	if wait := f.throttlePaint(urgent); wait > 0 {
		if f.timing {
			return f, f.trackCommand(cmd)
		}
		f.timing = true
		return f, f.trackCommand(tea.Batch(cmd, f.messageAfter(wait, paintNow{})))
	}
	f.paintFrame()
	return f, tea.Batch(f.trackCommand(cmd), f.scheduleRefresh())
}

const frameInterval = 33 * time.Millisecond

func (f *frame) throttlePaint(urgent bool) time.Duration {
	if urgent {
		return 0
	}
	now := f.opt.Now()
	wait := frameInterval - now.Sub(f.painted)
	if wait <= 0 {
		f.painted = now
	}
	return wait
}

// handleMessage changes state. urgent says that a person waits for the picture, or that the bridge
// has throttled already.
func (f *frame) handleMessage(msg tea.Msg) (cmd tea.Cmd, urgent bool) {
	switch msg := msg.(type) {
	case batch:
		return f.applyEvents(msg.events), true
	case tea.KeyMsg:
		f.hurryModel(msg)
		return f.handleKey(msg), true
	case paste:
		return f.handlePaste(msg), true
	case tea.MouseMsg:
		return f.handleMouse(msg), f.isMereMotion(msg)
	case tea.WindowSizeMsg:
		f.resize(msg)
		return nil, true
	case tea.FocusMsg, tea.BlurMsg:
		_, f.blurred = msg.(tea.BlurMsg)
		return nil, false
	case paintNow:
		f.timing = false
		return nil, false
	case refreshNow:
		f.handleTick(msg)
		return nil, true
	case from:
		return f.deliverMessage(msg), true // somebody asked for it: a session that was opened, hits of a search
	case FrameMsg:
		return f.frameMsg(nil, msg), true
	case tea.ResumeMsg:
		f.repaintAll()
		return nil, true
	case nil:
		return nil, false
	default:
		return f.handleInternal(msg)
	}
}

// handleInternal handles the rarer messages of the frame to itself.
func (f *frame) handleInternal(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case themeChanged:
		if msg.name == f.styles.Name || msg.name == f.styles.Theme.Base {
			f.setTheme(f.styles.Name)
		}
	case themeWanted:
		f.setTheme(msg.name)
	case backgroundTold:
		f.followBackground(msg)
	case keysChanged:
		f.keys = newKeymap(msg.keys)
		f.dirty = true
	case resumed:
		f.repaintAll()
		return msg.then, true
	case copied:
		f.dirty = true
		f.toasts.addToast(f.opt.Now(), msg.level, msg.text, msg.hint)
	case surroundings:
		return f.takeSurroundings(msg), false
	case saved:
		if msg.err != nil {
			return f.showToast(event.Warn, "the layout could not be saved: "+msg.err.Error(), ""), true
		}
	default:
		return f.toOverlay(msg), false
	}
	return nil, true
}

// mouseInterval is how often the wheel or a drag paints: every report counts, not every one is
// worth a frame.
const mouseInterval = 16 * time.Millisecond

func (f *frame) isMereMotion(msg tea.MouseMsg) bool {
	if !tea.MouseEvent(msg).IsWheel() && msg.Action != tea.MouseActionMotion {
		return true
	}
	now := f.opt.Now()
	if now.Sub(f.moused) < mouseInterval {
		return false
	}
	f.moused = now
	return true
}

// applyEvents folds a batch into the status row and every pane.
func (f *frame) applyEvents(events []event.Envelope) tea.Cmd {
	cmd := f.foldEvents(events)
	for _, p := range append(f.allPanes(), f.cached...) {
		if p.Apply(events) {
			f.dirty = true
		}
		if w, ok := p.(Waker); ok {
			cmd = tea.Batch(cmd, ownedCommand(p, w.Wake()))
		}
	}
	if slices.ContainsFunc(events, func(e event.Envelope) bool { return changesSurroundings(e.Event) }) {
		cmd = tea.Batch(cmd, f.lookAround())
	}
	for _, o := range f.overlays {
		if w, ok := o.overlay.(Observer); ok {
			for _, e := range events {
				cmd = tea.Batch(cmd, o.ownMessages(w.Observe(e)))
			}
		}
	}
	for _, e := range events {
		if _, gone := e.Event.(event.SessionDeleted); gone {
			cmd = tea.Batch(cmd, f.replaceDeletedSession(e.Session))
		}
	}
	return cmd
}

// wakePanes asks the panes for work after their sizes changed: there may be room for what was not
// read before.
func (f *frame) wakePanes() tea.Cmd {
	if !f.moved {
		return nil
	}
	f.moved = false
	var cmds []tea.Cmd
	for _, p := range f.allPanes() {
		if w, ok := p.(Waker); ok {
			cmds = append(cmds, ownedCommand(p, w.Wake()))
		}
	}
	return tea.Batch(cmds...)
}

func (f *frame) resize(msg tea.WindowSizeMsg) {
	if msg.Width == f.w && msg.Height == f.h {
		return
	}
	f.w, f.h = max(msg.Width, 0), max(msg.Height, 0)
	f.screen.Resize(f.w, f.h)
	f.computeLayout()
}

// repaintAll starts over from an empty terminal.
func (f *frame) repaintAll() {
	f.screen.Invalidate()
	f.dirty = true
}

// messageAfter brings msg after d, unless the program ends before.
func (f *frame) messageAfter(d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return msg
		case <-f.stop:
			return nil
		}
	}
}
