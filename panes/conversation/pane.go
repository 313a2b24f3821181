package conversation

import (
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
	"hermes/ui/highlight"
	"hermes/ui/list"
	"hermes/ui/markdown"
	"hermes/ui/style"
	"hermes/ui/text"
)

// PaneID is the pane's name in configuration and layout.
const PaneID ui.ID = "conversation"

// Pane shows one session. It implements ui.Pane.
type Pane struct {
	deps    Deps
	session string
	title   string
	env     *env
	w, h    int
	focused bool

	list     *list.List
	composer *compose.Composer
	script   script // what the items mean

	running  bool
	began    time.Time
	mode     event.InputMode
	queue    queueView
	instead  *event.ApprovalAsked // whose command is being edited in the composer
	stash    compose.Draft        // what was written before something was edited
	asks     []event.ApprovalAsked
	question []event.QuestionAsked
	unseen   bool // an approval came that has not opened by itself yet

	loading   bool
	loaded    bool
	reload    bool // history changed: read it again with the next message
	remembers bool // the prompt history was asked for
	recalling bool // and has not come yet
	searching bool // somebody waits for it, to search in it
	more      bool // there are older messages than the ones loaded
	oldest    int  // Seq of the oldest one loaded
	goTo      int64
	held      []event.Envelope // events that came while loading
	failed    string           // why loading failed

	browsing bool
	selected int
	fresh    int    // items that came while the view was locked
	query    string // what is marked in the transcript
	hits     []int
	hit      int
	last     compose.Token // completions were offered for
	tabbed   bool          // tab asked for them: the only one is taken
	paths    []string      // files that were listed last
	values   values        // of the command that was written last
	mentions string        // the @words that the chips were last asked for

	burst burst

	memo   string
	memoAt uint64 // what the running clocks showed then
	memoOK bool
	cx, cy int
	cursor bool
}

var (
	_ ui.Pane        = (*Pane)(nil)
	_ ui.Focuser     = (*Pane)(nil)
	_ ui.Cursorer    = (*Pane)(nil)
	_ ui.Typer       = (*Pane)(nil)
	_ ui.Copier      = (*Pane)(nil)
	_ ui.Searcher    = (*Pane)(nil)
	_ ui.SearchMover = (*Pane)(nil)
	_ ui.Refresher   = (*Pane)(nil)
	_ ui.Sessioner   = (*Pane)(nil)
	_ ui.Waker       = (*Pane)(nil)

	_ ui.TextSelector = (*Pane)(nil)
)

// New returns the pane of a session; an empty uid is a session that begins with the first prompt.
func New(deps Deps, session string) *Pane {
	if deps.Now == nil {
		deps.Now = time.Now
	}
	p := &Pane{deps: deps, session: session, list: list.New(), composer: compose.New(), mode: deps.Busy, selected: -1, hit: -1}
	if p.mode == "" {
		p.mode = event.InputQueue
	}
	p.env = &env{now: deps.Now, contentPath: deps.ContentPath}
	p.applyDisplay()
	p.Restyle(&style.Styles{Glyphs: style.Unicode()})
	p.script = script{pane: p, calls: map[string]*call{}}
	return p
}

// applyDisplay takes over what the settings say about the look.
func (p *Pane) applyDisplay() {
	d := DefaultDisplay()
	if p.deps.Display != nil {
		d = p.deps.Display()
	}
	p.composer.PasteLines, p.composer.PasteRunes = d.PasteLines, d.PasteRunes
	if d != p.env.display {
		p.env.display = d
		p.list.Invalidate()
	}
}

// ID implements ui.Pane.
func (p *Pane) ID() ui.ID { return PaneID }

// Session implements ui.Sessioner.
func (p *Pane) Session() string { return p.session }

// Title implements ui.Pane.
func (p *Pane) Title() ui.Title {
	t := ui.Title{Text: "New conversation"}
	switch {
	case p.title != "":
		t.Text = p.title
	case p.list.Len() > 0 || p.failed != "": // one that cannot be read is not new
		t.Text = "Conversation"
	}
	if n := len(p.asks) + len(p.question); n > 0 {
		t.Right = "! " + strconv.Itoa(n) + " waits"
	}
	return t
}

// Resize implements ui.Pane.
func (p *Pane) Resize(w, h int) {
	if w != p.w || h != p.h {
		p.w, p.h, p.memoOK = w, h, false
	}
}

// Restyle implements ui.Pane.
func (p *Pane) Restyle(s *style.Styles) {
	p.env.s, p.env.md, p.env.code = s, markdown.NewRenderer(s), highlight.New(s, text.Pen{})
	p.composer.Styles, p.composer.Prompt = s, s.Glyphs.Prompt+" "
	p.list.Invalidate()
	p.memoOK = false
}

// Focus implements ui.Focuser.
func (p *Pane) Focus(on bool) { p.focused, p.memoOK = on, false }

// Typing implements ui.Typer.
func (p *Pane) Typing() bool { return !p.browsing && !p.queue.choosing }

// Cursor implements ui.Cursorer.
func (p *Pane) Cursor() (x, y int, ok bool) {
	p.View()
	return p.cx, p.cy, p.cursor && p.focused && p.Typing()
}

// RefreshAt implements ui.Refresher: when the clock of a running call shows the next second.
func (p *Pane) RefreshAt(now time.Time) time.Time {
	if p.w <= 0 || p.h <= 0 || !p.script.anyRunning() {
		return time.Time{}
	}
	return p.script.nextSecond(now)
}

// Wake implements ui.Waker: what was said has changed, so it is read again.
func (p *Pane) Wake() tea.Cmd {
	if p.reload && !p.loading && p.session != "" {
		return tea.Batch(p.loadPage(), p.openUnasked())
	}
	return p.openUnasked()
}

// SelectsText implements ui.TextSelector.
func (*Pane) SelectsText() {}

// Update implements ui.Pane.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	return tea.Batch(p.handleMessage(msg), p.describeMentions())
}

func (p *Pane) handleMessage(msg tea.Msg) tea.Cmd {
	p.memoOK = false
	switch m := msg.(type) {
	case ui.OpenSession:
		return p.handleOpen(m)
	case ui.SessionFocused:
		return p.beginLoading()
	case tea.KeyMsg:
		return tea.Batch(p.handleTyped(m), p.completeWord())
	case tea.MouseMsg:
		return p.handleMouse(m)
	default:
		return p.handleOwn(msg)
	}
}

// Apply implements ui.Pane.
func (p *Pane) Apply(events []event.Envelope) bool {
	changed := false
	for _, env := range events {
		changed = p.applyEvent(env) || changed
	}
	if changed {
		p.memoOK = false
	}
	return changed
}

// showToast says something on the status row.
func showToast(level event.Level, message, hint string) tea.Cmd {
	return func() tea.Msg { return ui.ShowToast{Level: level, Text: message, Hint: hint} }
}
