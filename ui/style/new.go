package style

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"hermes/themes"
	"hermes/ui/text"
)

// New makes the styles of theme t at a colour level. ascii replaces every glyph and border by
// ASCII.
func New(t themes.Theme, level Level, ascii bool) *Styles {
	m := maker{level: level, colours: t.Colours, r: lipgloss.NewRenderer(io.Discard)}
	m.r.SetColorProfile([...]termenv.Profile{None: termenv.ANSI, Basic: termenv.ANSI, Indexed: termenv.ANSI256, True: termenv.TrueColor}[level])
	m.r.SetHasDarkBackground(t.Dark)
	if level == Basic {
		m.colours = basicPalette(t.Dark)
	}
	s := &Styles{Name: t.Name, Dark: t.Dark, Plain: level == None, Level: level, ASCII: ascii, Theme: t, Chroma: t.Chroma, Glyphs: Unicode()}
	if ascii {
		s.Glyphs = ASCII()
	}
	s.maker, s.canvas = m, m.canvasPen(t)
	m.setProse(s)
	m.setChrome(s)
	m.setCode(s)
	return s
}

// Canvas returns the pen that stands for the default colours: what a theme paints behind
// everything, or the zero Pen for the terminal's own.
func (s *Styles) Canvas() text.Pen { return s.canvas }

// Coloured is text in a colour, "#rrggbb", as near as the colour level comes to it.
func (s *Styles) Coloured(hex string) lipgloss.Style { return s.maker.newStyle(hex, "") }

// canvasPen is the pen of the theme's text on its background, at this colour level.
func (m maker) canvasPen(t themes.Theme) text.Pen {
	var pen text.Pen
	if t.Paint && m.level >= Indexed {
		sgr, _, _ := strings.Cut(m.newStyle(t.Colours.Text, t.Colours.Background).Render("x"), "x")
		pen.Scan(sgr)
	}
	return pen
}

type maker struct {
	level   Level
	colours themes.Colours
	r       *lipgloss.Renderer
}

// newStyle makes a style from two colours; an empty one is the terminal's default.
func (m maker) newStyle(fg, bg string) lipgloss.Style {
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

// rowStyle makes the style of a marked row or word: reversed where backgrounds cannot be trusted.
func (m maker) rowStyle(fg, bg string) lipgloss.Style {
	if m.level < Indexed {
		return m.r.NewStyle().Reverse(true)
	}
	return m.newStyle(fg, bg)
}

// dimStyle makes secondary text: by colour where there are colours, else by the faint attribute.
func (m maker) dimStyle(fg string) lipgloss.Style {
	return m.newStyle(fg, "").Faint(m.level == None)
}

func (m maker) setProse(s *Styles) {
	c := m.colours
	s.Text = m.newStyle(c.Text, "")
	s.Dim = m.dimStyle(c.Dim)
	s.Faint = m.dimStyle(c.Faint)
	s.Strong = m.newStyle(c.Strong, "").Bold(true)
	s.Accent = m.newStyle(c.Accent, "").Bold(m.level == None)
	s.Good = m.newStyle(c.Good, "")
	s.Warn = m.newStyle(c.Warn, "").Bold(m.level == None)
	s.Bad = m.newStyle(c.Bad, "").Bold(true)
	s.Info = m.newStyle(c.Info, "")
	s.User = m.newStyle(c.User, "").Bold(true)
	s.Assistant = m.newStyle(c.Assistant, "").Bold(true)
	s.Reasoning = m.dimStyle(c.Reasoning).Italic(true)
	s.Tool = m.newStyle(c.Tool, "")
	s.Quote = m.dimStyle(c.Quote)
	s.Link = m.newStyle(c.Link, "").Underline(true)
}

func (m maker) setChrome(s *Styles) {
	c := m.colours
	s.Border = m.dimStyle(c.Border)
	s.BorderFocus = m.newStyle(c.BorderFocus, "").Bold(m.level == None)
	s.Title = m.dimStyle(c.Dim)
	s.TitleFocus = m.newStyle(c.Strong, "").Bold(true)
	s.Key = m.newStyle(c.Accent, "").Bold(m.level == None)
	s.Hint = m.dimStyle(c.Dim)
	s.Selection = m.rowStyle(c.SelectionText, c.Selection)
	s.SelectionBlur = m.newStyle(c.SelectionText, c.SelectionBlur).Underline(m.level < Indexed)
	s.Match = m.rowStyle(c.MatchText, c.Match).Underline(m.level < Indexed)
	s.Chip = m.newStyle(c.Chip, c.SelectionBlur).Reverse(m.level < Indexed)
	s.Prompt = m.newStyle(c.Accent, "").Bold(true)
	s.Placeholder = m.dimStyle(c.Faint)
	s.Ghost = m.dimStyle(c.Faint)
	s.Status = m.dimStyle(c.Dim)
	s.StatusStrong = m.newStyle(c.Text, "")
}

func (m maker) setCode(s *Styles) {
	c := m.colours
	s.Code = m.newStyle(c.Code, c.CodeBack).Bold(m.level == None)
	s.CodeBlock = m.newStyle(c.Code, c.CodeBack)
	s.DiffAdd = m.newStyle(c.Add, c.AddBack)
	s.DiffDel = m.newStyle(c.Del, c.DelBack)
	s.DiffHunk = m.dimStyle(c.Hunk)
	s.DiffAddMark = m.newStyle(c.Add, c.AddMark).Bold(m.level < Indexed).Underline(m.level < Indexed)
	s.DiffDelMark = m.newStyle(c.Del, c.DelMark).Bold(m.level < Indexed).Underline(m.level < Indexed)
}

// basicPalette is one palette for all themes on a terminal of sixteen colours, whose hues belong to
// its owner: what the words mean decides, and text keeps the terminal's own colour.
func basicPalette(dark bool) themes.Colours {
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
