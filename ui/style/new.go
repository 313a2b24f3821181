package style

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"hermes/themes"
	"hermes/ui/text"
)

// New makes the styles of theme t at a colour level. ascii replaces every glyph and border by ASCII.
func New(t themes.Theme, level Level, ascii bool) *Styles {
	m := maker{level: level, colours: t.Colours, r: lipgloss.NewRenderer(io.Discard)}
	m.r.SetColorProfile([...]termenv.Profile{None: termenv.ANSI, Basic: termenv.ANSI, Indexed: termenv.ANSI256, True: termenv.TrueColor}[level])
	m.r.SetHasDarkBackground(t.Dark)
	if level == Basic {
		m.colours = basic(t.Dark)
	}
	s := &Styles{Name: t.Name, Dark: t.Dark, Plain: level == None, Level: level, ASCII: ascii, Theme: t, Chroma: t.Chroma, Glyphs: Unicode()}
	if ascii {
		s.Glyphs = ASCII()
	}
	s.canvas = m.canvas(t)
	m.prose(s)
	m.chrome(s)
	m.code(s)
	return s
}

// Canvas returns the pen that stands for the default colours: what a theme paints behind everything, or the zero Pen for
// the terminal's own.
func (s *Styles) Canvas() text.Pen { return s.canvas }

// canvas is the pen of the theme's text on its background, at this colour level.
func (m maker) canvas(t themes.Theme) text.Pen {
	var pen text.Pen
	if t.Paint && m.level >= Indexed {
		sgr, _, _ := strings.Cut(m.style(t.Colours.Text, t.Colours.Background).Render("x"), "x")
		pen.Scan(sgr)
	}
	return pen
}

type maker struct {
	level   Level
	colours themes.Colours
	r       *lipgloss.Renderer
}

// style makes a style from two colours; an empty one is the terminal's default.
func (m maker) style(fg, bg string) lipgloss.Style {
	st := m.r.NewStyle()
	if m.level == None {
		return st
	}
	if fg != "" {
		st = st.Foreground(lipgloss.Color(fg))
	}
	if bg != "" {
		st = st.Background(lipgloss.Color(bg))
	}
	return st
}

// row makes the style of a marked row or word: reversed where backgrounds cannot be trusted.
func (m maker) row(fg, bg string) lipgloss.Style {
	if m.level < Indexed {
		return m.r.NewStyle().Reverse(true)
	}
	return m.style(fg, bg)
}

// dim makes secondary text: by colour where there are colours, else by the faint attribute.
func (m maker) dim(fg string) lipgloss.Style {
	return m.style(fg, "").Faint(m.level == None)
}

func (m maker) prose(s *Styles) {
	c := m.colours
	s.Text = m.style(c.Text, "")
	s.Dim = m.dim(c.Dim)
	s.Faint = m.dim(c.Faint)
	s.Strong = m.style(c.Strong, "").Bold(true)
	s.Accent = m.style(c.Accent, "").Bold(m.level == None)
	s.Good = m.style(c.Good, "")
	s.Warn = m.style(c.Warn, "").Bold(m.level == None)
	s.Bad = m.style(c.Bad, "").Bold(true)
	s.Info = m.style(c.Info, "")
	s.User = m.style(c.User, "").Bold(true)
	s.Assistant = m.style(c.Assistant, "").Bold(true)
	s.Reasoning = m.dim(c.Reasoning).Italic(true)
	s.Tool = m.style(c.Tool, "")
	s.Quote = m.dim(c.Quote)
	s.Link = m.style(c.Link, "").Underline(true)
}

func (m maker) chrome(s *Styles) {
	c := m.colours
	s.Border = m.dim(c.Border)
	s.BorderFocus = m.style(c.BorderFocus, "").Bold(m.level == None)
	s.Title = m.dim(c.Dim)
	s.TitleFocus = m.style(c.Strong, "").Bold(true)
	s.Key = m.style(c.Accent, "").Bold(m.level == None)
	s.Hint = m.dim(c.Dim)
	s.Selection = m.row(c.SelectionText, c.Selection)
	s.SelectionBlur = m.style(c.SelectionText, c.SelectionBlur).Underline(m.level < Indexed)
	s.Match = m.row(c.MatchText, c.Match).Underline(m.level < Indexed)
	s.Chip = m.style(c.Chip, c.SelectionBlur).Reverse(m.level < Indexed)
	s.Prompt = m.style(c.Accent, "").Bold(true)
	s.Placeholder = m.dim(c.Faint)
	s.Ghost = m.dim(c.Faint)
	s.Status = m.dim(c.Dim)
	s.StatusStrong = m.style(c.Text, "")
}

func (m maker) code(s *Styles) {
	c := m.colours
	s.Code = m.style(c.Code, c.CodeBack).Bold(m.level == None)
	s.CodeBlock = m.style(c.Code, c.CodeBack)
	s.DiffAdd = m.style(c.Add, c.AddBack)
	s.DiffDel = m.style(c.Del, c.DelBack)
	s.DiffHunk = m.dim(c.Hunk)
	s.DiffAddMark = m.style(c.Add, c.AddMark).Bold(m.level < Indexed).Underline(m.level < Indexed)
	s.DiffDelMark = m.style(c.Del, c.DelMark).Bold(m.level < Indexed).Underline(m.level < Indexed)
}

// basic is one palette for all themes on a terminal of sixteen colours, whose hues belong to its owner: what the words
// mean decides, and text keeps the terminal's own colour.
func basic(dark bool) themes.Colours {
	grey, accent, bright := "8", "3", "15"
	if !dark {
		grey, accent, bright = "8", "4", "0"
	}
	return themes.Colours{
		Dim: grey, Faint: grey, Strong: bright, Accent: accent, Good: "2", Warn: "3", Bad: "1", Info: "6",
		Border: grey, BorderFocus: accent, User: accent, Assistant: "6", Reasoning: grey, Tool: "5", Quote: grey,
		Code: "6", Link: "4", Add: "2", Del: "1", Hunk: grey,
	}
}
