package conversation

import (
	"encoding/json"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/diff"
	"hermes/ui/text"
)

// View implements ui.Overlay.
func (a *approval) View(w, h int) string {
	ask, ok := a.currentAsk()
	if !ok {
		return text.Block([]string{" It was settled."}, w, h)
	}
	body, foot := a.drawnBody(ask, w), a.drawFoot(ask, w)
	if h-len(foot)-1 < min(len(body), 3) {
		foot = foot[max(0, len(foot)-a.answerRows(ask, w)):] // the answers matter more than what follows from them
	}
	a.room = max(1, h-len(foot)-1)
	a.width = w
	hidden := len(body) - a.room
	a.top = max(0, min(a.top, hidden))
	a.read = a.read || a.top >= hidden
	shown := append(make([]string, 0, h), body[a.top:min(len(body), a.top+a.room)]...)
	for len(shown) < a.room {
		shown = append(shown, "")
	}
	shown = append(shown, a.drawHidden(hidden, w))
	a.answersAt = len(shown) + len(foot) - a.answerRows(ask, w)
	return text.Block(append(shown, foot...), w, h)
}

// drawHidden says how much is not shown. Nobody should allow what they have seen the first half of.
func (a *approval) drawHidden(hidden, w int) string {
	s := a.styles
	switch {
	case hidden <= 0:
		return ""
	case a.top < hidden && !a.read:
		st, say := s.Warn.Bold(true), s.Glyphs.Down+" "+text.Count(hidden-a.top, "line", "lines")+" more: "
		if a.hasty {
			st, say = s.Bad.Bold(true), "! not yet, "+say
		}
		out := st.Render(text.Truncate("  "+say+"end, pgdn", w, ""))
		if rest := " · allowing waits until then"; text.Width(out)+text.Width(rest) <= w {
			out += s.Dim.Render(rest)
		}
		return out
	case a.top < hidden:
		return s.Warn.Bold(true).Render("  " + s.Glyphs.Down + " " + text.Count(hidden-a.top, "line", "lines") + " more: end, pgdn")
	default:
		return s.Dim.Render("  the end; " + text.Count(hidden, "line", "lines") + " above")
	}
}

// scrollBy moves in the text and reports whether the key was one for that.
func (a *approval) scrollBy(name string) bool {
	by, ok := map[string]int{"up": -1, "down": 1, "pgup": -max(1, a.room-1), "pgdown": max(1, a.room-1), "home": -1 << 20, "end": 1 << 20}[name]
	if !ok {
		return false
	}
	ask, _ := a.currentAsk()
	hidden := len(a.drawnBody(ask, a.width)) - a.room
	if hidden <= 0 && (name == "up" || name == "down") {
		return false // all of it is in sight: the key chooses
	}
	a.top = max(0, min(a.top+by, hidden))
	return true
}

func (a *approval) scrollByWheel(m tea.MouseMsg) {
	name := map[tea.MouseButton]string{tea.MouseButtonWheelUp: "up", tea.MouseButtonWheelDown: "down"}[m.Button]
	a.scrollBy(name)
}

// drawFoot draws what follows from the chosen answer, and the answers.
func (a *approval) drawFoot(ask event.ApprovalAsked, w int) []string {
	list := a.answerButtons(ask)
	var out []string
	b := list[min(a.at, len(list)-1)]
	for _, l := range text.Wrap(revealHidden(b.label+": "+b.follows, a.styles.Warn.Render),
		max(1, w-4)) {
		out = append(out, "  "+a.styles.Dim.Render(l))
	}
	return append(out, a.drawAnswers(ask, w)...)
}

func (a *approval) answerRows(ask event.ApprovalAsked,
	w int,
) int {
	return len(a.drawAnswers(ask, w))
}

// drawAnswers draws the buttons, on as many rows as they need. The key of each is the letter that
// is underlined.
func (a *approval) drawAnswers(ask event.ApprovalAsked, w int) []string {
	rows, _ := a.placeAnswers(ask, w)
	return rows
}

// answerPlace is where a button stands: its row, and the cells from and up to which it goes.
type answerPlace struct{ row, from, to int }

// placeAnswers draws the buttons and says where each stands. What they cover is on them where all
// fit on one row so.
func (a *approval) placeAnswers(ask event.ApprovalAsked, w int) ([]string, []answerPlace) {
	const endless = 1 << 20
	list := a.answerButtons(ask)
	for _, most := range []int{endless, shortGrant} {
		if rows, places := a.fillRows(nameGrants(list, ask, most), endless); text.Width(rows[0]) <= w {
			return rows, places
		}
	}
	return a.fillRows(list, w)
}

func (a *approval) fillRows(list []button, w int) (rows []string, places []answerPlace) {
	rows = []string{""}
	for i, b := range list {
		label, last := a.drawLabel(i, b), len(rows)-1
		from, wide := text.Width(rows[last]), text.Width(label)
		if from > 0 && from+wide > w {
			rows = append(rows, "")
			last, from = last+1, 0
		}
		rows[last] += label
		places = append(places, answerPlace{last, from, from + wide})
	}
	return rows, places
}

// answerByClick takes the answer under the pointer, under the terms of the enter key.
func (a *approval) answerByClick(ask event.ApprovalAsked, x, y int) (tea.Cmd, bool) {
	_, places := a.placeAnswers(ask, a.width)
	for i, p := range places {
		if a.answersAt+p.row != y || x < p.from || x >= p.to {
			continue
		}
		if a.isTooEarly() {
			return nil, false
		}
		a.at, a.uncalled = i, false
		return a.takeAnswer(ask, a.answerButtons(ask)[i])
	}
	return nil, false
}

// shortGrant is how much of what "this session" covers is on its button where all of it has no
// room.
const shortGrant = 30

// nameGrants is the buttons with what "this session" covers on the button itself, in at most most
// cells.
func nameGrants(list []button, ask event.ApprovalAsked, most int) []button {
	out := append([]button(nil), list...)
	for i, b := range out {
		if _, rest, ok := strings.Cut(ask.Scope, `"`); ok && b.decision.Span() == event.DecisionSession {
			what, _, _ := strings.Cut(rest, `"`)
			if b.decision.Prefix() {
				what = ask.Prefix + " …"
			}
			if what == "" {
				continue
			}
			out[i].label += `: "` + text.Truncate(oneLine(revealHidden(what, nil)), most, "…") + `"`
		}
	}
	return out
}

func (a *approval) drawLabel(i int, b button) string {
	s := a.styles
	at := strings.Index(b.label, " "+b.key) + 1 // "This session" goes by s, most others by their first letter
	if at == 0 && !strings.EqualFold(b.label[:1], b.key) {
		at = max(0, strings.Index(b.label, b.key))
	}
	body := b.label[:at] + s.Key.Underline(true).Render(b.label[at:at+1]) + b.label[at+1:]
	return a.drawButton(i, body, b.label)
}

func (a *approval) drawButton(i int, body, plain string) string {
	if i == a.at {
		return " " + a.styles.Selection.Inline(true).Render("[ "+plain+" ]")
	}
	return "   " + body + "  "
}

// drawnBody is what drawBody made of the same call at the same width before.
func (a *approval) drawnBody(ask event.ApprovalAsked, w int) []string {
	d := &a.drawn
	if !d.drawnFrom(ask) {
		a.read = false // another text: its end is not the one that was seen
	}
	if !d.drawnFrom(ask) || d.w != w || d.why != a.why || d.styles != a.styles {
		*d = drawnBody{ask, w, a.why, a.styles, a.drawBody(ask, w)}
	}
	return d.lines
}

// drawBody makes the command with its dangerous part underlined, what it does, and the change it
// makes.
func (a *approval) drawBody(ask event.ApprovalAsked, w int) []string {
	inner, s := max(1, w-4), a.styles
	var out []string
	add := func(lines []string) {
		for _, l := range lines {
			out = append(out, "  "+l)
		}
	}
	say := func(st lipgloss.Style, body string) {
		for _, l := range text.Wrap(revealHidden(body, s.Warn.Render), inner) {
			if l != "" {
				out = append(out, "  "+st.Render(l))
			}
		}
	}
	whole := a.markedLines(ask, inner)
	if long := len(whole) > tallCommand; long { // what matters must not stand below what has been seen
		if part := dangerousPart(ask); part != "" {
			say(s.Strong, "All of it follows. What is asked about in it"+atLine(ask)+":")
			say(s.Bad, part)
		}
	} else {
		out, whole = append(out, whole...), nil
	}
	if len(out) > 0 && (len(ask.Effects) > 0 || a.why) {
		out = append(out, "")
	}
	for _, e := range ask.Effects {
		if !a.why || e != ask.Reason { // else it is said below
			say(s.Warn, e)
		}
	}
	if len(whole) > 0 {
		out = append(append(out, ""), whole...)
	}
	if a.why {
		say(s.Text, "asked because: "+ask.Reason)
		if ask.Backend != "" {
			say(s.Text, "runs in: "+ask.Backend)
		}
		if ask.Scope != "" {
			say(s.Text, "this session and always cover: "+ask.Scope)
		}
		for _, no := range ask.Withheld {
			say(s.Text, "not offered, "+answerWords[no.Decision]+": "+no.Why)
		}
		say(s.Dim, "the call as it was sent: "+oneLine(ask.Call.Name))
		add(text.Wrap(s.Dim.Render(revealHidden(string(ask.Call.Args), s.Warn.Render)), inner))
	}
	if ask.Diff != "" {
		out = append(out, "")
		add(diff.Render(ask.Diff, inner, s))
	}
	return out
}

// tallCommand is how many lines of a command are read at a glance: what a longer one is asked for
// stands above it.
const tallCommand = 10

// atLine says where the dangerous part stands in a command of several lines.
func atLine(ask event.ApprovalAsked) string {
	all := strings.Count(strings.TrimRight(ask.Detail, "\n"), "\n") + 1
	if all == 1 {
		return ""
	}
	return ", line " + strconv.Itoa(strings.Count(ask.Detail[:ask.Span[0]], "\n")+1) + " of " + strconv.Itoa(all)
}

// dangerousPart is what decided about a command, cut where it is long itself.
func dangerousPart(ask event.ApprovalAsked) string {
	from, to := ask.Span[0], ask.Span[1]
	if from < 0 || to > len(ask.Detail) || from >= to {
		return ""
	}
	part := []rune(strings.ToValidUTF8(ask.Detail[from:to], "\uFFFD"))
	if len(part) > 300 {
		return string(part[:200]) + " … " + string(part[len(part)-100:])
	}
	return string(part)
}

// shellCommand is the shell command of a call, or "".
func shellCommand(c chat.ToolCall) string {
	var args struct{ Command string }
	if json.Unmarshal(c.Args, &args) != nil {
		return ""
	}
	return args.Command
}

// answerWords name the answers that may not be offered, as their buttons do. What is not offered
// for a time is not offered for a longer one either.
var answerWords = map[event.Decision]string{
	event.DecisionSession: "This session, Project and Always", event.DecisionProject: "Project and Always",
	event.DecisionAlways: "Always", event.DecisionSessionPrefix: "Begins with…", event.DecisionEdited: "Edit",
}
