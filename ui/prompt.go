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
	return wide, 1 + max(len(p.under(wide)), 1)
}

// under is what stands below the line, wrapped.
func (p *prompt) under(w int) []string {
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
	for _, l := range p.under(w) {
		rows = append(rows, st.Render(l))
	}
	return text.Block(rows, w, h)
}

// confirm asks before something dangerous. No is selected; only y, or moving to Yes first, does it.
type confirm struct {
	title, help string
	yes         func() tea.Cmd
	onYes       bool
	styles      *style.Styles
}

// NewConfirm returns an overlay that asks before something that cannot be taken back. No is
// selected.
func NewConfirm(title, help string, yes func() tea.Cmd) Overlay {
	return &confirm{title: title, help: help, yes: yes}
}

func (c *confirm) Title() string           { return "Really?" }
func (c *confirm) Hint() string            { return "y yes  n no  ←→ enter choose  esc no" }
func (c *confirm) Restyle(s *style.Styles) { c.styles = s }
func (c *confirm) Size(w, _ int) (int, int) {
	wide := min(64, w-4)
	return wide, 3 + len(c.helpLines(wide))
}

// helpLines are what help says, on as many rows as it takes, within reason.
func (c *confirm) helpLines(w int) []string {
	const most = 14
	out := text.Wrap(c.help, max(w-2, 1))
	if len(out) == 0 {
		out = []string{""}
	}
	return out[:min(len(out), most)]
}

func (c *confirm) Update(msg tea.Msg) (tea.Cmd, bool) {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil, false
	}
	switch key.String() {
	case "y", "Y":
		return c.yes(), true
	case "n", "N", "esc", "q":
		return nil, true
	case "left", "right", "up", "down", "tab", "shift+tab":
		c.onYes = !c.onYes
	case "enter":
		if c.onYes {
			return c.yes(), true
		}
		return nil, true
	}
	return nil, false
}

func (c *confirm) View(w, h int) string {
	no, yes := c.styles.Selection.Render("[ No ]"), c.styles.Dim.Render("  Yes  ")
	if c.onYes {
		no, yes = c.styles.Dim.Render("  No  "), c.styles.Selection.Render("[ Yes ]")
	}
	rows := []string{c.styles.Strong.Render(" " + c.title)}
	for _, line := range c.helpLines(w) {
		rows = append(rows, c.styles.Dim.Render(" "+line))
	}
	return text.Block(append(rows, "", " "+no+"  "+yes), w, h)
}
