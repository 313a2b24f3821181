// Package themes holds the palettes of the screen as data: embedded YAML files, the user's own
// beside them, strict validation, and watching for edits. It knows colours as "#rrggbb" only;
// ui/style makes styles of them.
//
// A palette file:
//
//	name: harbour            # letters, digits, - and _
//	base: hermes             # optional: what it does not name comes from there
//	dark: true
//	colours:
//	  accent: "#5fafff"
//
// Without base, what is missing comes from hermes (dark) or daylight (light), so that a file of
// three lines is a theme.
package themes

// Theme is a validated palette with every colour set.
type Theme struct {
	Name   string // what configuration calls it
	Title  string // what people call it
	About  string // one line
	Dark   bool
	Paint  bool   // whether Background is painted; else the terminal's own background stays
	Chroma string // name of the chroma style for code
	Base   string // the theme that filled the gaps; empty for none
	File   string // where it came from; empty for a built-in one

	Colours Colours
}

// Colours are the tokens of a palette, each "#rrggbb".
type Colours struct {
	Text, Dim, Faint, Strong                string
	Accent, Good, Warn, Bad, Info           string
	Border, BorderFocus                     string
	Selection, SelectionText, SelectionBlur string
	Match, MatchText                        string
	User, Assistant, Reasoning, Tool        string
	Chip, Quote, Code, CodeBack, Link       string
	Add, AddBack, AddMark                   string
	Del, DelBack, DelMark, Hunk, Background string
}

// token is one colour under the name that palette files use.
type token struct {
	name  string
	value *string
}

// listTokens lists every colour of c in the order of the palette files.
func (c *Colours) listTokens() []token {
	return []token{
		{"text", &c.Text},
		{"dim", &c.Dim},
		{"faint", &c.Faint},
		{"strong", &c.Strong},
		{"accent", &c.Accent},
		{"good", &c.Good},
		{"warn", &c.Warn},
		{"bad", &c.Bad},
		{"info", &c.Info},
		{"border", &c.Border},
		{"border_focus", &c.BorderFocus},
		{"selection", &c.Selection},
		{"selection_text", &c.SelectionText},
		{"selection_blur", &c.SelectionBlur},
		{"match", &c.Match},
		{"match_text", &c.MatchText},
		{"user", &c.User},
		{"assistant", &c.Assistant},
		{"reasoning", &c.Reasoning},
		{"tool", &c.Tool},
		{"chip", &c.Chip},
		{"quote", &c.Quote},
		{"code", &c.Code},
		{"code_back", &c.CodeBack},
		{"link", &c.Link},
		{"add", &c.Add},
		{"add_back", &c.AddBack},
		{"add_mark", &c.AddMark},
		{"del", &c.Del},
		{"del_back", &c.DelBack},
		{"del_mark", &c.DelMark},
		{"hunk", &c.Hunk},
		{"background", &c.Background},
	}
}

// fillFrom takes from base what c does not set.
func (c *Colours) fillFrom(base Colours) {
	mine, theirs := c.listTokens(), base.listTokens()
	for i, t := range mine {
		if *t.value == "" {
			*t.value = *theirs[i].value
		}
	}
}
