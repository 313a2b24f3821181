package conversation

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/markdown"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

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

// stream plays body in 20-byte deltas, with a frame after every few of them.
func stream(p *Pane, body string, perFrame int) {
	say(p, event.MessageStarted{MessageID: 2})
	for i, n := 0, 0; i < len(body); i, n = i+20, n+1 {
		d := event.TextDelta{MessageID: 2, Offset: i, Text: body[i:min(len(body), i+20)]}
		p.Apply([]event.Envelope{{Header: event.Header{Session: "s"}, Event: d}})
		if n%perFrame == 0 {
			p.View()
		}
	}
	say(p, event.MessageSealed{Message: assistant(2, body)})
	p.View()
}

func BenchmarkStream(b *testing.B) {
	for _, size := range []int{8_000, 200_000} {
		body := sample(size)
		b.Run(fmt.Sprintf("whole/%d", size), func(b *testing.B) {
			r := markdown.NewRenderer(uitest.Styles(b, style.True))
			b.ReportAllocs()
			for b.Loop() {
				r.Render(body, 117)
			}
		})
		for _, per := range []int{1, 10, 50} { // 10 deltas a frame are 6 kB/s, 50 are 30 kB/s
			b.Run(fmt.Sprintf("deltas/%d/%d-a-frame", size, per), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p := open(b, &world{})
					p.Restyle(uitest.Styles(b, style.True))
					p.Resize(120, 40)
					stream(p, body, per)
				}
			})
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		w := &world{messages: history(n)}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				open(b, w).View()
			}
		})
	}
}

func BenchmarkView(b *testing.B) {
	p := open(b, &world{messages: history(1000)})
	p.Resize(120, 40)
	b.Run("hit", func(b *testing.B) {
		for b.Loop() {
			p.View()
		}
	})
	b.Run("miss", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.memoOK = false
			p.View()
		}
	})
	b.Run("key", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x")})
			p.View()
			p.Update(tea.KeyMsg{Type: tea.KeyBackspace})
		}
	})
}

func BenchmarkPageUp(b *testing.B) {
	p := open(b, &world{messages: history(2000)})
	p.Resize(120, 40)
	for b.Loop() {
		drain(p, p.Update(keyMsg("pgup")))
		p.View()
		if p.list.Top().Item == 0 {
			b.StopTimer()
			p = open(b, &world{messages: history(2000)})
			p.Resize(120, 40)
			b.StartTimer()
		}
	}
}

// TestStreamingDrawsOnlyWhatIsSeen counts instead of timing: what flies past unseen is never drawn.
func TestStreamingDrawsOnlyWhatIsSeen(t *testing.T) {
	p := open(t, &world{})
	p.View()
	stream(p, sample(200_000), 5000)
	if n := p.list.Drawn(); n > 100 {
		t.Errorf("%d items drawn for three frames", n)
	}
}
