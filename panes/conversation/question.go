package conversation

import (
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
	"hermes/ui/style"
	"hermes/ui/text"
)

// question is the box of the clarify tool: choices by digit, or an answer in own words.
type question struct {
	ask    event.QuestionAsked
	agent  Agent
	now    func() time.Time
	shown  time.Time
	field  *compose.Composer
	styles *style.Styles
	open   func() bool // nobody has answered it yet
	x, y   int         // of the cursor
}

func newQuestion(q event.QuestionAsked, agent Agent, now func() time.Time, open func() bool) *question {
	f := compose.New()
	f.Placeholder = "an answer in your own words"
	return &question{ask: q, agent: agent, now: now, shown: now(), field: f, open: open}
}

// Title implements ui.Overlay.
func (q *question) Title() string { return "Hermes asks" }

// Size implements ui.Overlay.
func (q *question) Size(w, h int) (ow, oh int) {
	ow = min(w-4, 90)
	q.field.Resize(ow)
	field, _, _ := q.field.View(maxAnswer)
	return ow, min(h-2, len(q.body(ow))+len(field))
}

// maxAnswer is how many lines of the answer are shown.
const maxAnswer = 5

// Finished implements ui.Finisher.
func (q *question) Finished() bool { return !q.open() }

// Cursor implements ui.Cursorer.
func (q *question) Cursor() (x, y int, ok bool) { return q.x, q.y, true }

// Restyle implements ui.Overlay.
func (q *question) Restyle(s *style.Styles) {
	q.styles, q.field.Styles, q.field.Prompt = s, s, s.Glyphs.Prompt+" "
}

// Hint implements ui.Overlay.
func (q *question) Hint() string {
	if len(q.ask.Choices) > 0 {
		return "1-" + strconv.Itoa(min(9, len(q.ask.Choices))) + " chooses · enter answers · esc later"
	}
	return "enter answers · esc later"
}

// Update implements ui.Overlay.
func (q *question) Update(msg tea.Msg) (tea.Cmd, bool) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil, false
	}
	name := k.String()
	if name == "esc" {
		return nil, true
	}
	early := q.now().Sub(q.shown) < deaf
	if n := digit(name); n > 0 && n <= len(q.ask.Choices) && q.field.Empty() && !k.Paste {
		if early {
			return nil, false
		}
		return q.answer(q.ask.Choices[n-1])
	}
	if early && name == "enter" {
		return nil, false
	}
	if q.field.Key(k) == compose.Submit {
		body := q.field.Text()
		for _, a := range q.field.Parts() {
			body += "\n" + a.Text
		}
		return q.answer(body)
	}
	return nil, false
}

func digit(s string) int {
	if len(s) == 1 && s[0] >= '1' && s[0] <= '9' {
		return int(s[0] - '0')
	}
	return 0
}

func (q *question) answer(body string) (tea.Cmd, bool) {
	agent, id := q.agent, q.ask.ID
	return func() tea.Msg {
		if err := agent.AnswerQuestion(id, body); err != nil {
			return ui.ShowToast{Level: event.Warn, Text: "The answer came too late: " + oneLine(err.Error())}
		}
		return nil
	}, true
}

func (q *question) body(w int) []string {
	var out []string
	for _, l := range text.Wrap(text.ExpandTabs(text.Sanitize(q.ask.Text), 4), max(1, w-4)) {
		out = append(out, "  "+l)
	}
	out = append(out, "")
	for i, c := range q.ask.Choices {
		for k, l := range text.Wrap(oneLine(c), max(1, w-7)) {
			head := "     "
			if k == 0 {
				head = "  " + strconv.Itoa(i+1) + "  "
			}
			out = append(out, head+l)
		}
	}
	return out
}

// View implements ui.Overlay.
func (q *question) View(w, h int) string {
	q.field.Resize(w)
	field, x, y := q.field.View(min(maxAnswer, max(1, h-1)))
	body := q.body(w)
	room := max(0, h-len(field))
	if over := len(body) - room; over > 0 { // the end of it names the choices
		body = body[over:]
	}
	q.x, q.y = x, len(body)+y
	return text.Block(append(append([]string(nil), body...), field...), w, h)
}
