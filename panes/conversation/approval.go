package conversation

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
	"hermes/ui/style"
)

// deaf is how long an approval ignores what would allow something: what was typed for something
// else must not decide.
const deaf = 500 * time.Millisecond

// openWaiting shows the approvals that wait, or the oldest question.
func (p *Pane) openWaiting() tea.Cmd {
	o := p.waitingBox(false)
	if o == nil {
		return nil
	}
	return func() tea.Msg { return ui.ShowOverlay{Overlay: o} }
}

// waitingBox is the box of what waits; nil when nothing does. uncalled says that nobody asked for
// it.
func (p *Pane) waitingBox(uncalled bool) ui.Overlay {
	p.unseen = false
	switch {
	case len(p.asks) > 0:
		o := newApproval(p)
		o.uncalled = uncalled
		return o
	case len(p.question) > 0:
		o := newQuestion(p, p.question[0])
		o.uncalled = uncalled
		return o
	default:
		return nil
	}
}

// openUnasked opens what waits for somebody who writes nothing at the moment and looks at nothing
// else.
func (p *Pane) openUnasked() tea.Cmd {
	if !p.unseen || len(p.asks)+len(p.question) == 0 || !p.focused || !p.Typing() || !p.composer.Empty() || p.isEditing() || p.loading {
		return nil
	}
	o := p.waitingBox(true)
	return func() tea.Msg { return ui.ShowOverlay{Overlay: o} }
}

// button is one answer, with the key that gives it and a sentence about what follows.
type button struct {
	key, label, follows string
	decision            event.Decision // empty for what decides nothing
}

// approval is the box that asks whether calls may run, one at a time. Deny is the default; nothing
// but its own letter, or enter on a button that was moved to, allows anything. It follows what
// waits in its pane: what is settled elsewhere goes.
type approval struct {
	pane   *Pane
	id     string // of the one shown
	index  int    // where it stands among those that wait
	shown  time.Time
	at     int // button
	top    int // first line shown
	why    bool
	prefix bool // the answers that last count for every command that begins the same
	styles *style.Styles
	read   bool // the end of the text was in a picture: nothing can be allowed before
	hasty  bool // somebody tried to
	// uncalled says that it opened by itself: a letter may be the beginning of a sentence that was
	// meant for the line.
	uncalled  bool
	letter    string // the one that chose an answer in such a box
	room      int    // lines of the text in the last picture
	width     int    // of the text
	answersAt int    // row of the answers in the last picture
	drawn     drawnBody
}

// drawnBody is the text of an approval as it was drawn last. A picture asks for it several times,
// and a diff is long.
type drawnBody struct {
	ask    event.ApprovalAsked
	w      int
	why    bool
	styles *style.Styles
	lines  []string
}

// drawnFrom reports that ask looks as the one that was drawn. The id alone is not enough: what is
// shown is what will run.
func (d *drawnBody) drawnFrom(ask event.ApprovalAsked) bool {
	a := &d.ask
	return d.lines != nil && a.ID == ask.ID && a.Detail == ask.Detail && a.Diff == ask.Diff && a.Reason == ask.Reason && a.Scope == ask.Scope &&
		a.Span == ask.Span && slices.Equal(a.Spans, ask.Spans) && a.Call.Name == ask.Call.Name && bytes.Equal(a.Call.Args, ask.Call.Args) && slices.Equal(a.Effects, ask.Effects)
}

func newApproval(p *Pane) *approval {
	a := &approval{pane: p, styles: &style.Styles{}}
	a.currentAsk()
	return a
}

// currentAsk returns the one that is shown; after it is settled, the one that follows it. Whatever
// is new starts at Deny and deaf.
func (a *approval) currentAsk() (event.ApprovalAsked, bool) {
	asks := a.pane.asks
	if len(asks) == 0 {
		return event.ApprovalAsked{}, false
	}
	if i := slices.IndexFunc(asks, func(x event.ApprovalAsked) bool { return x.ID == a.id }); i >= 0 {
		a.index = i
		return asks[i], true
	}
	a.showAsk(min(a.index, len(asks)-1))
	return asks[a.index], true
}

func (a *approval) showAsk(i int) {
	a.index, a.id, a.shown = i, a.pane.asks[i].ID, a.pane.deps.Now()
	a.at, a.top, a.why, a.prefix, a.read, a.hasty, a.letter = 0, 0, false, false, false, false, ""
}

// Finished implements ui.Finisher.
func (a *approval) Finished() bool { return len(a.pane.asks) == 0 }

// Title implements ui.Overlay.
func (a *approval) Title() string {
	ask, ok := a.currentAsk()
	if !ok {
		return "Nothing waits any more"
	}
	if n := len(a.pane.asks); n > 1 {
		return strconv.Itoa(a.index+1) + " of " + strconv.Itoa(n) + " · " + oneLine(ask.Title)
	}
	return oneLine(ask.Title)
}

// Size implements ui.Overlay. A change of files gets the room to stand side by side.
func (a *approval) Size(w, h int) (ow, oh int) {
	ask, _ := a.currentAsk()
	ow = min(w-4, 100)
	if ask.Diff != "" {
		ow = w - 4
	}
	return ow, min(h-2, max(6, len(a.drawnBody(ask, ow))+len(a.drawFoot(ask, ow))+1))
}

// Restyle implements ui.Overlay.
func (a *approval) Restyle(s *style.Styles) { a.styles = s }

// Hint implements ui.Overlay.
func (a *approval) Hint() string {
	ask, _ := a.currentAsk()
	out := "←→ enter choose · esc denies · " + a.pane.keyOf("conversation.answer", "ctrl+y") + " later"
	if len(a.pane.asks) > 1 {
		out = "[ ] the others · " + out
	}
	if !ask.Deadline.IsZero() {
		out = "denies itself in " + formatCountdown(ask.Deadline.Sub(a.pane.deps.Now())) + " · " + out
	}
	return out
}

// RefreshAt implements ui.Refresher: the countdown.
func (a *approval) RefreshAt(now time.Time) time.Time {
	if ask, ok := a.currentAsk(); !ok || ask.Deadline.IsZero() {
		return time.Time{}
	}
	return now.Truncate(time.Second).Add(time.Second)
}

func formatCountdown(d time.Duration) string {
	s := max(0, int(d.Round(time.Second).Seconds()))
	return strconv.Itoa(s/60) + ":" + twoDigits(s%60)
}

// answerButtons are the answers that the core takes for this call, and the two that only look or
// write.
func (a *approval) answerButtons(ask event.ApprovalAsked) []button {
	out := []button{{"d", "Deny", "it does not run, and the model is told so.", event.DecisionDeny}}
	offer := func(d event.Decision, key, label, follows string) {
		if slices.Contains(ask.Choices, d) {
			out = append(out, button{key, label, follows, d})
		}
	}
	offer(event.DecisionOnce, "o", "Once", "this call runs; the next one asks again.")
	covers, kind := ask.Scope, event.Decision("")
	if covers == "" {
		covers = "the same call"
	}
	if a.prefix {
		covers, kind = "every command that begins with \""+ask.Prefix+"\" and does nothing worse", ":prefix"
	}
	offer(event.DecisionSession+kind, "s", "This session", "until it ends, without asking: "+covers+".")
	offer(event.DecisionProject+kind, "p", "Project", "in every session here, until it expires, without asking: "+covers+".")
	offer(event.DecisionAlways+kind, "a", "Always", "from every folder, until it expires, without asking: "+covers+".")
	switch {
	case ask.Prefix != "" && a.prefix:
		out = append(out, button{"x", "Exactly this", "back to this one command only.", ""})
	case ask.Prefix != "" && slices.Contains(ask.Choices, event.DecisionSessionPrefix):
		out = append(out, button{"b", "Begins with…", "the answers that last then count for every command that begins with \"" + ask.Prefix + "\" and does nothing worse.", ""})
	}
	if slices.Contains(ask.Choices, event.DecisionEdited) && shellCommand(ask.Call) != "" {
		out = append(out, button{"e", "Edit", "you change the command, and yours runs as this call.", ""})
	}
	return append(out, button{"w", "Why?", "shows why it is asked and exactly what was sent.", ""})
}

// Update implements ui.Overlay.
func (a *approval) Update(msg tea.Msg) (tea.Cmd, bool) {
	before := a.id
	ask, ok := a.currentAsk()
	if !ok || !ask.Deadline.IsZero() && !a.pane.deps.Now().Before(ask.Deadline) && len(a.pane.asks) == 1 {
		return nil, true // it has denied itself
	}
	if m, isMouse := msg.(tea.MouseMsg); isMouse {
		if m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress && ask.ID == before {
			return a.answerByClick(ask, m.X, m.Y)
		}
		a.scrollByWheel(m)
		return nil, false
	}
	k, ok := msg.(tea.KeyMsg)
	if ok && k.Paste && a.uncalled {
		return a.pane.Update(k), true
	}
	if !ok || k.Paste || ask.ID != before { // a key that was meant for the one before
		return nil, false
	}
	if a.scrollBy(k.String()) {
		return nil, false
	}
	if a.uncalled {
		return a.uncalledKey(ask, k)
	}
	return a.handleKey(ask, k.String())
}

// uncalledKey takes the keys of a box that nobody called. Text that comes at once goes on in the
// line, and the question waits in its bar; nothing else counts so early.
func (a *approval) uncalledKey(ask event.ApprovalAsked, k tea.KeyMsg) (tea.Cmd, bool) {
	early := a.letter == "" && a.pane.deps.Now().Sub(a.shown) < deaf
	if k.Type == tea.KeyRunes && !k.Alt || k.Type == tea.KeySpace {
		return a.takeLetter(ask, string(k.Runes), early)
	}
	if early {
		a.uncalled = k.String() != a.pane.keyOf("conversation.answer", "ctrl+y") // who wanted to open it has it open
		a.isTooEarly()
		return nil, false
	}
	if k.Type != tea.KeyEnter {
		a.letter = ""
	}
	return a.handleKey(ask, k.String())
}

// takeLetter has a letter choose an answer, which enter then gives. A second one makes it a word,
// and so does what is no letter of an answer: it goes into the line, and the question waits in its
// bar. "stop it" is no "s" for the session.
func (a *approval) takeLetter(ask event.ApprovalAsked, typed string, early bool) (tea.Cmd, bool) {
	list := a.answerButtons(ask)
	i := slices.IndexFunc(list, func(b button) bool { return b.key == typed || b.key == "d" && typed == "n" })
	switch {
	case early:
	case a.letter != "" && a.letter == typed: // it is held
		return nil, false
	case a.letter == "" && i >= 0:
		a.at, a.letter, a.shown = i, typed, a.pane.deps.Now()
		return nil, false
	case a.letter == "" && len(a.pane.asks) > 1 && (typed == "[" || typed == "]"):
		return a.handleKey(ask, typed)
	}
	return a.pane.Write(a.letter + typed), true
}

func (a *approval) handleKey(ask event.ApprovalAsked, name string) (tea.Cmd, bool) {
	list, n := a.answerButtons(ask), len(a.pane.asks)
	switch name {
	case a.pane.keyOf("conversation.answer", "ctrl+y"):
		return nil, true
	case "esc", "n":
		return a.takeAnswer(ask, list[0])
	case "tab", "right", "down":
		a.at = (a.at + 1) % len(list)
	case "shift+tab", "left", "up":
		a.at = (a.at + len(list) - 1) % len(list)
	case "]":
		a.showAsk((a.index + 1) % n)
	case "[":
		a.showAsk((a.index + n - 1) % n)
	case "enter", " ":
		if !a.isTooEarly() {
			return a.takeAnswer(ask, list[min(a.at, len(list)-1)])
		}
	}
	for _, b := range list {
		if b.key == name {
			return a.takeAnswer(ask, b)
		}
	}
	return nil, false
}

// isTooEarly reports whether a key comes too soon, and begins to count anew: a key that is held
// down allows one call, not each that follows.
func (a *approval) isTooEarly() bool {
	now := a.pane.deps.Now()
	if now.Sub(a.shown) >= deaf {
		return false
	}
	a.shown = now
	return true
}

// takeAnswer does what a button says.
func (a *approval) takeAnswer(ask event.ApprovalAsked, b button) (tea.Cmd, bool) {
	switch {
	case b.key == "w":
		a.why, a.letter = !a.why, ""
		return nil, false
	case b.key == "b" || b.key == "x":
		a.prefix, a.at, a.letter = b.key == "b", 0, ""
		return nil, false
	case b.decision != event.DecisionDeny && a.isTooEarly():
		return nil, false
	case b.key == "e":
		a.pane.editInstead(ask)
		return nil, true
	case b.decision != event.DecisionDeny && (!a.read || !a.drawn.drawnFrom(ask)): // what came after the last picture was not seen
		a.hasty = true
		return nil, false
	}
	agent := a.pane.deps.Agent
	return func() tea.Msg {
		if err := agent.Answer(ask.ID, b.decision); err != nil {
			return ui.ShowToast{Level: event.Warn, Text: "The answer came too late: " + oneLine(err.Error())}
		}
		return nil
	}, len(a.pane.asks) == 1
}

// editInstead puts the command of an approval into the composer; what is sent from there takes its
// place.
func (p *Pane) editInstead(ask event.ApprovalAsked) {
	p.stopBrowsing()
	p.stashLine()
	p.queue.edits, p.queue.choosing, p.instead, p.memoOK = "", false, &ask, false
	p.composer.SetText(shellCommand(ask.Call))
}

// sendInstead settles the approval with the person's own command: it runs as that call.
func (p *Pane) sendInstead(body string) tea.Cmd {
	ask, agent := *p.instead, p.deps.Agent
	p.leaveEdit()
	return withTimeout(func(context.Context) tea.Msg { return insteadMsg{body, agent.AnswerEdited(ask.ID, body)} })
}

// insteadMsg is how it ended that a person's command was sent in place of the one asked about.
type insteadMsg struct {
	command string
	err     error
}

// takeInstead keeps a command that came too late for its call, as a command of the person's own.
func (p *Pane) takeInstead(m insteadMsg) tea.Cmd {
	if m.err == nil {
		return nil
	}
	own, hint := "$ "+m.command, "it stands in the line as a command of your own"
	if strings.Contains(m.command, "\n") {
		own = "```sh\n" + m.command + "\n```"
	}
	if p.composer.Empty() {
		p.composer.SetText(own)
	} else {
		p.composer.Remember(compose.Prompt{Text: own})
		hint = p.keyOf("conversation.history", "ctrl+r") + " finds your command again"
	}
	return showToast(event.Warn, "Not run: "+oneLine(m.err.Error()), hint)
}
