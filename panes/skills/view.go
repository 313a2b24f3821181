package skills

import (
	"fmt"
	"strings"

	"hermes/core/skill"
	"hermes/skills"
	"hermes/ui"
	"hermes/ui/markdown"
	"hermes/ui/text"
)

// wideSkills is from how many cells on the preview stands beside the list.
const wideSkills = 90

// View draws the list and, beside or below it, a look into the selected skill.
func (v *Overlay) View(w, h int) string {
	v.lines = ui.DrawnRows{}
	if v.mode == trusting {
		v.page = h
		return v.scrolledBlock(v.trustLines(w), w, h)
	}
	if v.mode == looking {
		return v.viewVersions(w, h)
	}
	head := v.drawHead(w)
	body := h - len(head)
	if v.wide = w >= wideSkills; !v.wide {
		list := v.drawList(len(head), w, min(max(body/2, 3), len(v.shown)+1))
		rest := body - len(list)
		v.page = max(rest, 0)
		return text.Block(append(append(head, list...), text.Lines(v.scrolledBlock(v.lookLines(w), w, rest))...), w, h)
	}
	left := min(w*2/5, 60)
	list := v.drawList(len(head), left, body)
	v.page = body
	look := text.Lines(v.scrolledBlock(v.lookLines(w-left-3), w-left-3, body))
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

// drawHead draws the line that is typed into, and what the project brings.
func (v *Overlay) drawHead(w int) []string {
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
		word := "The project brings " + countOf(len(b.Skills), "skill") + " (" + strings.Join(b.Skills, ", ") + "): "
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

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// drawList draws the rows around the selected one, from line y on.
func (v *Overlay) drawList(y, w, h int) []string {
	if h <= 0 {
		return nil
	}
	v.listed = h
	at := v.selectedIndex()
	from := max(min(at-h/2, len(v.shown)-h), 0)
	v.lines.PlaceFrom(0, y, w, from, min(h, len(v.shown)-from))
	var out []string
	for i := from; i < min(from+h, len(v.shown)); i++ {
		out = append(out, v.drawLine(v.rows[v.shown[i]], i == at, w))
	}
	if len(v.shown) == 0 {
		out = append(out, v.styles.Dim.Render(text.Truncate("  nothing matches", w, "")))
	}
	return out
}

func (v *Overlay) drawLine(r skill.Row, selected bool, w int) string {
	mark, st := "  ", v.styles.Text
	if selected {
		mark, st = v.styles.Glyphs.Closed+" ", v.styles.Selection
	}
	state := v.drawState(r.State)
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
	r, ok := v.selectedRow()
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
	out = append(out, v.wrapForeign(strings.Join(about, " · "), w, v.styles.Dim.Render)...)
	out = append(out, v.wrapForeign(r.Description, w, v.styles.Text.Render)...)
	if r.Asks != nil {
		out = append(out, v.wrapForeign(asksLine(r.Asks), w, v.styles.Warn.Render)...)
	}
	for _, p := range problemsOf(r) {
		out = append(out, v.wrapForeign("! "+p, w, v.styles.Bad.Render)...)
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

// wrapForeign breaks foreign text into lines of a style.
func (v *Overlay) wrapForeign(s string, w int, render func(...string) string) []string {
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
	out := v.wrapForeign(fmt.Sprintf("%s brings %s in %s. Trusted, the agent may read them and you can use them; when one byte changes you are asked again.",
		b.Folder, countOf(len(b.Skills), "skill"), countOf(b.Files, "file")), w, v.styles.Text.Render)
	if b.Why != "" {
		out = append(out, v.wrapForeign("! They cannot be trusted: "+b.Why, w, v.styles.Bad.Render)...)
	}
	for _, s := range v.theirs {
		out = append(out, "", v.styles.Strong.Render(text.Truncate(text.OneLine(s.folder), w, v.styles.Glyphs.Ellipsis)))
		out = append(out, v.wrapForeign(s.about, w, v.styles.Text.Render)...)
		for _, p := range s.problems {
			out = append(out, v.wrapForeign("! "+p, w, v.styles.Bad.Render)...)
		}
		for _, f := range s.files {
			out = append(out, v.styles.Dim.Render(text.Truncate(v.styles.Glyphs.Arrow+" "+text.OneLine(f), w, v.styles.Glyphs.Ellipsis)))
		}
	}
	return out
}

// scrolledBlock is the part of lines that is in view, as a block.
func (v *Overlay) scrolledBlock(lines []string, w, h int) string {
	if h <= 0 {
		return ""
	}
	v.total = len(lines)
	v.scrollBy(0)
	return text.Block(lines[min(v.from, len(lines)):], w, h)
}
