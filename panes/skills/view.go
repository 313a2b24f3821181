package skills

import (
	"fmt"
	"strings"

	"hermes/core/skill"
	"hermes/skills"
	"hermes/ui/markdown"
	"hermes/ui/text"
)

// wideSkills is from how many cells on the preview stands beside the list.
const wideSkills = 90

// View draws the list and, beside or below it, a look into the selected skill.
func (v *Overlay) View(w, h int) string {
	if v.mode == trusting {
		v.page = h
		return v.scrolled(v.trustLines(w), w, h)
	}
	if v.mode == looking {
		return v.viewVersions(w, h)
	}
	head := v.head(w)
	body := h - len(head)
	if v.wide = w >= wideSkills; !v.wide {
		list := v.list(w, min(max(body/2, 3), len(v.shown)+1))
		rest := body - len(list)
		v.page = max(rest, 0)
		return text.Block(append(append(head, list...), text.Lines(v.scrolled(v.lookLines(w), w, rest))...), w, h)
	}
	left := min(w*2/5, 60)
	list := v.list(left, body)
	v.page = body
	look := text.Lines(v.scrolled(v.lookLines(w-left-3), w-left-3, body))
	out := head
	for i := range body {
		row := text.Blank(left)
		if i < len(list) {
			row = text.Fit(list[i], left)
		}
		out = append(out, row+v.styles.Border.Render(" "+v.styles.Glyphs.Vertical+" ")+look[i])
	}
	return text.Block(out, w, h)
}

// head is the line that is typed into, and what the project brings.
func (v *Overlay) head(w int) []string {
	var out []string
	switch {
	case v.mode == naming:
		line, x := v.name.View(v.styles, "new skill: ", "for example release-website", w)
		out, v.cursor = append(out, line), x
	case v.mode == filtering || v.find.String() != "":
		line, x := v.find.View(v.styles, v.styles.Glyphs.Prompt+" ", "name, category, state", w)
		out, v.cursor = append(out, line), x
	}
	if b := v.brought; b != nil && b.State != skills.Accepted {
		word := "The project brings " + plural(len(b.Skills), "skill") + " (" + strings.Join(b.Skills, ", ") + "): "
		switch b.State {
		case skills.Changed:
			word += "changed since they were trusted, not read"
		case skills.Denied:
			word += "refused, not read"
		case skills.Unasked, skills.Accepted:
			word += "not trusted, not read"
		}
		out = append(out, v.styles.Warn.Render(text.Truncate(text.OneLine(word), w, v.styles.Glyphs.Ellipsis)))
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// list draws the rows around the selected one.
func (v *Overlay) list(w, h int) []string {
	if h <= 0 {
		return nil
	}
	v.listed = h
	at := v.selected()
	from := max(min(at-h/2, len(v.shown)-h), 0)
	var out []string
	for i := from; i < min(from+h, len(v.shown)); i++ {
		out = append(out, v.line(v.rows[v.shown[i]], i == at, w))
	}
	if len(v.shown) == 0 {
		out = append(out, v.styles.Dim.Render(text.Truncate("  nothing matches", w, "")))
	}
	return out
}

func (v *Overlay) line(r skill.Row, selected bool, w int) string {
	mark, st := "  ", v.styles.Text
	if selected {
		mark, st = v.styles.Glyphs.Closed+" ", v.styles.Selection
	}
	state := v.state(r.State)
	room := max(w-2-text.Width(state)-1, 4)
	name := text.Truncate(text.OneLine(r.Name), room, v.styles.Glyphs.Ellipsis)
	rest := ""
	if left := room - text.Width(name) - 2; left > 6 {
		rest = "  " + text.Truncate(text.OneLine(string(r.Source)+"  "+r.Category), left, v.styles.Glyphs.Ellipsis)
	}
	pad := text.Blank(max(room-text.Width(name)-text.Width(rest), 0))
	return v.styles.Accent.Render(mark) + state + " " + st.Render(name) + v.styles.Dim.Render(rest) + pad
}

// drawnText is the text of the selected skill as it was drawn last, for a width.
type drawnText struct {
	lines []string
	width int
}

// lookLines are the selected skill: how it stands, what is wrong, and its text as Markdown.
func (v *Overlay) lookLines(w int) []string {
	r, ok := v.row()
	if !ok || w <= 0 {
		return nil
	}
	out := []string{v.styles.Strong.Render(text.Truncate(text.OneLine(r.Name), w, v.styles.Glyphs.Ellipsis))}
	about := []string{string(r.State), string(r.Source)}
	for _, s := range []string{r.Category, r.Version} {
		if s != "" {
			about = append(about, s)
		}
	}
	if r.Uses+r.Views > 0 {
		about = append(about, fmt.Sprintf("used %d, read %d", r.Uses, r.Views))
	}
	if r.CreatedBy == "agent" {
		about = append(about, "written by the agent")
	}
	out = append(out, v.wrapped(strings.Join(about, " · "), w, v.styles.Dim.Render)...)
	out = append(out, v.wrapped(r.Description, w, v.styles.Text.Render)...)
	if r.Asks != nil {
		out = append(out, v.wrapped(asksLine(r.Asks), w, v.styles.Warn.Render)...)
	}
	for _, p := range problemsOf(r) {
		out = append(out, v.wrapped("! "+p, w, v.styles.Bad.Render)...)
	}
	if v.text.File != r.File {
		return out
	}
	for _, f := range v.text.Files {
		out = append(out, v.styles.Dim.Render(text.Truncate(v.styles.Glyphs.Arrow+" "+text.OneLine(f), w, v.styles.Glyphs.Ellipsis)))
	}
	out = append(out, "")
	if v.drawn.width != w {
		v.drawn = drawnText{markdown.NewRenderer(v.styles).Render(v.text.Body, w), w}
	}
	return append(out, v.drawn.lines...)
}

// wrapped breaks foreign text into lines of a style.
func (v *Overlay) wrapped(s string, w int, render func(...string) string) []string {
	if s = text.OneLine(s); s == "" {
		return nil
	}
	lines := text.Wrap(s, w)
	for i := range lines {
		lines[i] = render(lines[i])
	}
	return lines
}

// trustLines show what the project brings before somebody says yes.
func (v *Overlay) trustLines(w int) []string {
	b := v.brought
	out := v.wrapped(fmt.Sprintf("%s brings %s in %s. Trusted, the agent may read them and you can use them; when one byte changes you are asked again.",
		b.Folder, plural(len(b.Skills), "skill"), plural(b.Files, "file")), w, v.styles.Text.Render)
	if b.Why != "" {
		out = append(out, v.wrapped("! They cannot be trusted: "+b.Why, w, v.styles.Bad.Render)...)
	}
	for _, s := range v.theirs {
		out = append(out, "", v.styles.Strong.Render(text.Truncate(text.OneLine(s.folder), w, v.styles.Glyphs.Ellipsis)))
		out = append(out, v.wrapped(s.about, w, v.styles.Text.Render)...)
		for _, p := range s.problems {
			out = append(out, v.wrapped("! "+p, w, v.styles.Bad.Render)...)
		}
		for _, f := range s.files {
			out = append(out, v.styles.Dim.Render(text.Truncate(v.styles.Glyphs.Arrow+" "+text.OneLine(f), w, v.styles.Glyphs.Ellipsis)))
		}
	}
	return out
}

// scrolled is the part of lines that is in view, as a block.
func (v *Overlay) scrolled(lines []string, w, h int) string {
	if h <= 0 {
		return ""
	}
	v.total = len(lines)
	v.scroll(0)
	return text.Block(lines[min(v.from, len(lines)):], w, h)
}
