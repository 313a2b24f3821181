package conversation

import (
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
	"hermes/ui/style"
	"hermes/ui/text"
)

// question is the box of a question, of the clarify tool or an MCP server: choices by digit or
// arrow keys, or an answer in own words.
type question struct {
	pane   *Pane
	ask    event.QuestionAsked
	shown  time.Time
	field  *compose.Composer
	styles *style.Styles
	at     int    // the choice that enter takes; -1 for none
	digits string // those that chose it: text behind them makes them the beginning of an answer
	x, y   int    // of the cursor
	rows   []int  // the choice that each drawn row is of; -1 for none
	// uncalled says that it opened by itself: what is typed into it at once was meant for the line,
	// and goes there.
	uncalled bool
}

func newQuestion(p *Pane, q event.QuestionAsked) *question {
	f := compose.New()
	f.Placeholder = "an answer in your own words"
	return &question{pane: p, ask: q, shown: p.deps.Now(), field: f, at: -1}
}

// Title implements ui.Overlay.
func (q *question) Title() string {
	if name := text.Truncate(oneLine(q.ask.Server), maxAsker, "…"); name != "" {
		return "The server " + name + " asks"
	}
	return "Hermes asks"
}

// maxAsker is how many cells of a server's name its title shows.
const maxAsker = 40

// Size implements ui.Overlay.
func (q *question) Size(w, h int) (ow, oh int) {
	ow = min(w-4, 90)
	q.field.Resize(ow)
	field, _, _ := q.field.View(maxAnswer)
	body, _ := q.drawBody(ow)
	return ow, min(h-2, len(body)+len(field))
}

// maxAnswer is how many lines of the answer are shown.
const maxAnswer = 5

// Finished implements ui.Finisher.
func (q *question) Finished() bool {
	return !slices.ContainsFunc(q.pane.question, func(x event.QuestionAsked) bool { return x.ID == q.ask.ID })
}

// Cursor implements ui.Cursorer.
func (q *question) Cursor() (x, y int, ok bool) { return q.x, q.y, true }

// Restyle implements ui.Overlay.
func (q *question) Restyle(s *style.Styles) {
	q.styles, q.field.Styles, q.field.Prompt = s, s, s.Glyphs.Prompt+" "
}

// Hint implements ui.Overlay.
func (q *question) Hint() string {
	if len(q.ask.Choices) > 0 {
		return "↑↓ or 1-" + strconv.Itoa(min(9, len(q.ask.Choices))) + " choose · enter answers · esc later"
	}
	return "enter answers · esc later"
}

// Update implements ui.Overlay.
func (q *question) Update(msg tea.Msg) (tea.Cmd, bool) {
	early := q.pane.deps.Now().Sub(q.shown) < deaf
	if m, isMouse := msg.(tea.MouseMsg); isMouse {
		return q.answerByClick(m, early)
	}
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil, false
	}
	if q.uncalled && early {
		return q.uncalledKey(k)
	}
	return q.handleKey(k, early)
}

// answerByClick answers with the choice under the pointer, where nothing else was begun.
func (q *question) answerByClick(m tea.MouseMsg, early bool) (tea.Cmd, bool) {
	press := m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress
	if !press || early || !q.field.Empty() || m.Y < 0 || m.Y >= len(q.rows) || q.rows[m.Y] < 0 {
		return nil, false
	}
	return q.sendAnswer(q.ask.Choices[q.rows[m.Y]])
}

// uncalledKey takes the first keys of a box that nobody called: text goes on in the line, and the
// question waits in its bar; nothing else counts so early.
func (q *question) uncalledKey(k tea.KeyMsg) (tea.Cmd, bool) {
	switch {
	case k.Paste:
		return q.pane.Update(k), true
	case k.Type == tea.KeyRunes && !k.Alt || k.Type == tea.KeySpace:
		return q.pane.Write(string(k.Runes)), true
	default:
		q.uncalled = k.String() != q.pane.keyOf("conversation.answer", "ctrl+y") // who wanted to open it has it open
		return nil, false
	}
}

func (q *question) handleKey(k tea.KeyMsg, early bool) (tea.Cmd, bool) {
	name := k.String()
	if name == "esc" || name == q.pane.keyOf("conversation.answer", "ctrl+y") {
		return nil, true
	}
	if early && (name == "enter" || digitOf(name) > 0 && q.field.Empty()) {
		return nil, false
	}
	if len(q.ask.Choices) > 0 && q.field.Empty() && !k.Paste {
		if cmd, done, taken := q.chooseByKey(name); taken {
			return cmd, done
		}
	}
	if q.digits != "" {
		q.field.SetText(q.digits)
		q.digits = ""
	}
	if q.field.Key(k) == compose.Submit {
		body := q.field.Text()
		for _, a := range q.field.Parts() {
			body += "\n" + a.Text
		}
		return q.sendAnswer(body)
	}
	return nil, false
}

// chooseByKey is what a key does to the choices; taken says that it did something.
func (q *question) chooseByKey(name string) (cmd tea.Cmd, done, taken bool) {
	n := len(q.ask.Choices)
	switch d := digitOf(name); {
	case d > 0 && d <= n:
		q.at, q.digits = d-1, q.digits+name
		return nil, false, true
	case name == "down" || name == "tab" || name == "right":
		q.at = (q.at + 1) % n
	case name == "up" || name == "shift+tab" || name == "left":
		q.at = (max(q.at, 0) + n - 1) % n
	case name == "enter" && q.at >= 0:
		cmd, done = q.sendAnswer(q.ask.Choices[q.at])
	default:
		return nil, false, false
	}
	q.digits = ""
	return cmd, done, true
}

func digitOf(s string) int {
	if len(s) == 1 && s[0] >= '1' && s[0] <= '9' {
		return int(s[0] - '0')
	}
	return 0
}

func (q *question) sendAnswer(body string) (tea.Cmd, bool) {
	agent, id := q.pane.deps.Agent, q.ask.ID
	return func() tea.Msg {
		if err := agent.AnswerQuestion(id, body); err != nil {
			return ui.ShowToast{Level: event.Warn, Text: "The answer came too late: " + oneLine(err.Error())}
		}
		return nil
	}, true
}

// drawBody draws the question and its choices, with the choice that each row is of, -1 for none.
func (q *question) drawBody(w int) (out []string, rows []int) {
	for _, l := range text.Wrap(text.ExpandTabs(text.Sanitize(q.ask.Text), 4), max(1, w-4)) {
		out, rows = append(out, "  "+l), append(rows, -1)
	}
	out, rows = append(out, ""), append(rows, -1)
	for i, c := range q.ask.Choices {
		for k, l := range text.Wrap(oneLine(c), max(1, w-7)) {
			head := "     "
			rows = append(rows, i)
			if k == 0 {
				head = "  " + strconv.Itoa(i+1) + "  "
			}
			if i == q.at && q.field.Empty() {
				out = append(out, q.styles.Selection.Inline(true).Render(text.Fit(q.styles.Glyphs.Closed+head[1:]+l, w)))
				continue
			}
			out = append(out, head+l)
		}
	}
	return out, rows
}

// View implements ui.Overlay.
func (q *question) View(w, h int) string {
	q.field.Resize(w)
	field, x, y := q.field.View(min(maxAnswer, max(1, h-1)))
	body, rows := q.drawBody(w)
	room := max(0, h-len(field))
	if over := len(body) - room; over > 0 { // the end of it names the choices
		body, rows = body[over:], rows[over:]
	}
	q.rows = rows
	q.x, q.y = x, len(body)+y
	return text.Block(append(append([]string(nil), body...), field...), w, h)
}
