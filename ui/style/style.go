// Package style turns a theme's colours into lipgloss styles, once a theme and colour level. It
// never asks the terminal anything.
package style

import (
	"github.com/charmbracelet/bubbles/spinner"
	"github.com/charmbracelet/lipgloss"

	"hermes/themes"
	"hermes/ui/text"
)

// Styles is everything a pane may draw with. Panes never make colours of their own.
// Without colour, states differ by glyph, word, bold, underline or reverse.
type Styles struct {
	Name  string // of the theme
	Dark  bool
	Plain bool // no colour at all

	Level Level
	ASCII bool         // borders and glyphs in ASCII only
	Theme themes.Theme // where the colours came from, for renderers that want hex

	Text, Dim, Faint, Strong     lipgloss.Style // prose; Dim is secondary, Faint is scaffolding
	Accent                       lipgloss.Style // the one accent colour
	Good, Warn, Bad, Info        lipgloss.Style // states, always beside a glyph or word
	Border, BorderFocus          lipgloss.Style
	Title, TitleFocus            lipgloss.Style
	Key, Hint                    lipgloss.Style // bottom bars: the key, what it does
	Selection, SelectionBlur     lipgloss.Style // the selected row with and without focus
	Match                        lipgloss.Style // search hits
	User, Assistant              lipgloss.Style // names over messages
	Reasoning, Tool, Chip, Quote lipgloss.Style
	Code, CodeBlock, Link        lipgloss.Style
	DiffAdd, DiffDel, DiffHunk   lipgloss.Style
	DiffAddMark, DiffDelMark     lipgloss.Style // changed words inside a changed line
	Prompt, Placeholder, Ghost   lipgloss.Style // composer
	Status, StatusStrong         lipgloss.Style // status row

	canvas text.Pen
	maker  maker

	Glyphs Glyphs
	// Chroma names the chroma style for code.
	Chroma string
}

// Glyphs are the chrome's characters, each one cell wide. The ASCII set replaces all of them.
type Glyphs struct {
	Up, Changing, Stopped, Failed, Busy, Waits, Done string
	Run, OK, Fail, Open, Closed, Prompt, Bullet      string
	Down, Ellipsis, Arrow, Bar, Refs                 string
	// Spinner is the one animation: each frame one cell.
	Spinner []string
	// Horizontal, Vertical and the corners draw boxes.
	Horizontal, Vertical                              string
	TopLeft, TopRight, BottomLeft, BottomRight, Split string
}

// Unicode returns the usual glyphs.
func Unicode() Glyphs {
	return Glyphs{
		Up: "●", Changing: "◐", Stopped: "○", Failed: "✕", Busy: "⠹", Waits: "!", Done: "✓",
		Run: "▶", OK: "✓", Fail: "✕", Open: "▾", Closed: "▸", Prompt: "❯", Bullet: "•",
		Down: "▼", Ellipsis: "…", Arrow: "↳", Bar: "│", Refs: "⟳",
		Spinner:    spinner.MiniDot.Frames,
		Horizontal: "─", Vertical: "│", TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯", Split: "│",
	}
}

// ASCII returns glyphs that every terminal and font has.
func ASCII() Glyphs {
	return Glyphs{
		Up: "*", Changing: "%", Stopped: "o", Failed: "x", Busy: "~", Waits: "!", Done: "+",
		Run: ">", OK: "+", Fail: "x", Open: "v", Closed: ">", Prompt: ">", Bullet: "*",
		Down: "v", Ellipsis: "~", Arrow: ">", Bar: "|", Refs: "@",
		Spinner:    spinner.Line.Frames,
		Horizontal: "-", Vertical: "|", TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+", Split: "|",
	}
}
