package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/field"
	"hermes/ui/style"
	"hermes/ui/text"
)

// PromptOptions say what a one-line question asks.
type PromptOptions struct {
	Title, Text, Placeholder string
	Secret                   bool   // what is typed is not shown
	Problem                  string // why it is asked again
	// Done gets the line on enter. A non-empty problem keeps the prompt open and is shown under it.
	Done func(line string) (cmd tea.Cmd, problem string)
	// Changed hears of every change; may be nil.
	Changed func(line string)
	// Note is shown under the line while there is no problem; may be nil.
	Note func() string
}

// NewPrompt returns an overlay that asks for one line.
func NewPrompt(o PromptOptions) Overlay {
	p := &prompt{opt: o, field: field.New(o.Text), problem: o.Problem}
	p.field.Secret = o.Secret
	return p
}

type prompt struct {
	opt     PromptOptions
	field   field.Field
	styles  *style.Styles
	problem string
	x       int
}

func (p *prompt) Title() string           { return p.opt.Title }
func (p *prompt) Hint() string            { return "enter accept  esc close" }
func (p *prompt) Restyle(s *style.Styles) { p.styles = s }
func (p *prompt) Size(w, _ int) (int, int) {
	wide := min(64, w-4)
	return wide, 1 + max(len(p.linesBelow(wide)), 1)
}

// linesBelow is what stands below the line, wrapped.
func (p *prompt) linesBelow(w int) []string {
	words := p.problem
	if words == "" && p.opt.Note != nil {
		words = p.opt.Note()
	}
	return text.Wrap(words, max(w, 1))
}
func (p *prompt) Cursor() (int, int, bool) { return p.x, 0, true }

func (p *prompt) Update(msg tea.Msg) (tea.Cmd, bool) {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil, false
	}
	switch key.String() {
	case "esc":
		return nil, true
	case "enter":
		cmd, problem := p.opt.Done(p.field.String())
		p.problem = problem
		return cmd, problem == ""
	}
	if p.field.Update(key) {
		p.problem = ""
		if p.opt.Changed != nil {
			p.opt.Changed(p.field.String())
		}
	}
	return nil, false
}

func (p *prompt) View(w, h int) string {
	line, x := p.field.View(p.styles, p.styles.Glyphs.Prompt, p.opt.Placeholder, w)
	p.x = x
	st := p.styles.Warn
	if p.problem == "" {
		st = p.styles.Dim
	}
	rows := []string{line}
	for _, l := range p.linesBelow(w) {
		rows = append(rows, st.Render(l))
	}
	return text.Block(rows, w, h)
}
