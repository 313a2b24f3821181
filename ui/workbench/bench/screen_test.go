package bench

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/glamour"
	"github.com/charmbracelet/glamour/styles"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/panes/conversation"
	"hermes/ui"
	"hermes/ui/markdown"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// board is a pane whose picture is ready: what is left to measure is the frame's own work.
type board struct {
	id    ui.ID
	w, h  int
	shown int
	views map[int]string
}

func (p *board) ID() ui.ID                   { return p.id }
func (p *board) Title() ui.Title             { return ui.Title{Text: string(p.id)} }
func (p *board) Resize(w, h int)             { p.w, p.h, p.views = w, h, map[int]string{} }
func (p *board) Restyle(*style.Styles)       {}
func (p *board) Apply([]event.Envelope) bool { return false }
func (p *board) Update(tea.Msg) tea.Cmd      { return nil }
func (p *board) Actions() []ui.Action        { return nil }
func (p *board) Typing() bool                { return true }

func (p *board) View() string {
	view, ok := p.views[p.shown%2]
	if !ok {
		lines := make([]string, p.h)
		for y := range lines {
			lines[y] = fmt.Sprintf("\x1b[38;2;70;80;90m│\x1b[m text %d of \x1b[1mline\x1b[m %02d 容器 and more", p.shown%2, y)
		}
		view = text.Block(lines, p.w, p.h)
		p.views[p.shown%2] = view
	}
	return view
}

// frameOf is the root model over panes, with an unread terminal behind it.
func frameOf(b *testing.B, conv ui.Pane, side ...ui.Pane) tea.Model {
	full := style.True
	p := ui.New(ui.Options{
		Bus: event.NewBus(), Conversation: func(string) ui.Pane { return conv }, Side: side, Level: &full, Session: "s",
		Output: io.Discard, Input: strings.NewReader(""), Getenv: func(string) string { return "" }, W: 160, H: 44,
	})
	b.Cleanup(p.Close)
	p.Model().Init()
	return p.Model()
}

func boards() []*board {
	return []*board{{id: "conversation:s"}, {id: "sessions"}, {id: "output"}, {id: "backends"}}
}

// joined is the usual recipe for panes with borders: lipgloss draws them all and joins them.
func joined(all []*board) string {
	border := lipgloss.NewStyle().Border(lipgloss.RoundedBorder())
	var drawn []string
	for _, p := range all {
		if p.w > 0 {
			drawn = append(drawn, border.Render(p.View()))
		}
	}
	right := lipgloss.JoinVertical(lipgloss.Left, drawn[len(drawn)-2:]...)
	return lipgloss.JoinHorizontal(lipgloss.Top, append(drawn[:len(drawn)-2], right)...)
}

// BenchmarkFrame takes the frame's own work: what a message costs that changes nothing, one that
// changes one pane, and one that changes all, composed, compared with the last frame and painted.
func BenchmarkFrame(b *testing.B) {
	all := boards()
	m := frameOf(b, all[0], all[1], all[2], all[3])
	key := uitest.Key("a")
	var copied string
	mine, floor := versus(200, func() { m.Update(nil); m.View() }, func() { copied = strings.Clone(m.View()) })
	gate{"frame, memo hit: a message that changes nothing", "copying the frame's string", 1}.times(b, mine, floor)
	_ = copied
	mine, floor = versus(200, func() { all[2].shown++; m.Update(key) }, func() { joined(all) })
	gate{"frame, one pane changed, painted", "lipgloss borders and joins the same panes", 0.5}.times(b, mine, floor)
	mine, floor = versus(200, func() {
		for _, p := range all {
			p.shown++
		}
		m.Update(key)
	}, func() { joined(all) })
	gate{"frame, memo miss: every pane changed, painted", "lipgloss borders and joins the same panes", 1}.times(b, mine, floor)
}

// sample is what models write: headings, prose, lists, code, tables.
func sample(size int) string {
	rnd := rand.New(rand.NewSource(1))
	words := strings.Fields("the agent reads a file then edits one line and runs tests while state stays small because every frame is pure")
	para := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[rnd.Intn(len(words))]
		}
		return strings.Join(out, " ")
	}
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "## Section %d: %s\n\n%s, with **%s** and `%s`.\n\n- %s\n- %s\n\n", i, para(4), para(30), para(2), para(1), para(9), para(9))
		if i%2 == 1 {
			b.WriteString("```go\nfunc step(ctx context.Context) error {\n\tfor i, s := range in {\n\t\treturn fmt.Errorf(\"step %d: %w\", i, err)\n\t}\n}\n```\n\n")
		}
		if i%3 == 0 {
			b.WriteString("| name | value |\n| --- | ---: |\n| a | 1 |\n| b | 22 |\n\n")
		}
	}
	return b.String()[:size]
}

// pages gives the conversation pane its messages.
type pages func(ctx context.Context, uid string, beforeSeq, limit int) ([]chat.Message, bool, error)

func (f pages) Page(ctx context.Context, uid string, beforeSeq, limit int) ([]chat.Message, bool, error) {
	return f(ctx, uid, beforeSeq, limit)
}

func (pages) Around(context.Context, string, int64, int) ([]chat.Message, bool, error) {
	return nil, false, nil
}

// nobody is the agent of a pane that nobody types into: what keys would call is left out.
type nobody struct{ conversation.Agent }

func (nobody) Busy(string) bool                 { return false }
func (nobody) Queue(string) []event.QueuedInput { return nil }

func (nobody) Waiting(string) ([]event.ApprovalAsked, []event.QuestionAsked) { return nil, nil }

func noPages(context.Context, string, int, int) ([]chat.Message, bool, error) { return nil, false, nil }

// openPane is the real conversation pane with a session loaded.
func openPane(s *style.Styles, uid string, from pages) *conversation.Pane {
	p := conversation.New(conversation.Deps{Transcript: from, Agent: nobody{}}, uid)
	p.Restyle(s)
	p.Resize(120, 40)
	uitest.Pump(p, p.Update(ui.OpenSession{UID: uid}))
	return p
}

// streamed plays body in 20-byte deltas into a pane that is drawn after every tenth, and seals it.
func streamed(s *style.Styles, body string) {
	p := openPane(s, "s", noPages)
	one := make([]event.Envelope, 1)
	say := func(e event.Event) {
		one[0] = event.Envelope{Header: event.Header{Session: "s"}, Event: e}
		p.Apply(one)
	}
	say(event.MessageStarted{MessageID: 2})
	for i, n := 0, 1; i < len(body); i, n = i+20, n+1 {
		say(event.TextDelta{MessageID: 2, Offset: i, Text: body[i:min(len(body), i+20)]})
		if n%10 == 0 {
			p.View()
		}
	}
	say(event.MessageSealed{Message: chat.Message{ID: 2, Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: body}})
	p.View()
}

// BenchmarkStream plays answers in 20-byte deltas, a frame after every 200 bytes.
func BenchmarkStream(b *testing.B) {
	s := uitest.Styles(b, style.True)
	g, err := glamour.NewTermRenderer(glamour.WithStyles(styles.DarkStyleConfig), glamour.WithWordWrap(117), glamour.WithColorProfile(termenv.TrueColor))
	must(b, err)
	ours := markdown.NewRenderer(s)
	for _, n := range []struct{ kb, rounds int }{{8, 25}, {200, 5}} {
		body := sample(n.kb * 1000)
		what := fmt.Sprintf("stream %d kB in 20-byte deltas, with frames", n.kb)
		mine, floor := versus(n.rounds, func() { streamed(s, body) }, func() { _, err = g.Render(body) })
		must(b, err)
		gate{what, "one full render by glamour", 3}.times(b, mine, floor)
		mine, floor = versus(n.rounds, func() { streamed(s, body) }, func() { ours.Render(body, 117) })
		gate{what, "one full render by our own", 0}.times(b, mine, floor)
	}
}
