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
		return text.Block(v.InSight(v.trustLines(w), h), w, h)
	}
	if v.mode == looking {
		return v.viewVersions(w, h)
	}
	head := v.drawHead(w)
	body := h - len(head)
	if v.wide = w >= wideSkills; !v.wide {
		list := v.drawList(len(head), w, min(max(body/2, 3), len(v.shown)+1))
		return text.Block(append(append(head, list...), v.InSight(v.lookLines(w), body-len(list))...), w, h)
	}
	left := min(w*2/5, 60)
	list := v.drawList(len(head), left, body)
	look := text.Lines(text.Block(v.InSight(v.lookLines(w-left-3), body), w-left-3, body))
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
		word := "The project brings " + text.Count(len(b.Skills), "skill", "skills") + " (" + strings.Join(b.Skills, ", ") + "): "
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

// drawList draws the rows around the selected one, from line y on.
func (v *Overlay) drawList(y, w, h int) []string {
	if h <= 0 {
		return nil
	}
	v.listed = h
	at := v.selectedIndex()
	from, to := ui.RowsAround(at, len(v.shown), h)
	v.lines.PlaceFrom(0, y, w, from, to-from)
	var out []string
	for i := from; i < to; i++ {
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
	out = append(out, text.WrapRendered(strings.Join(about, " · "), w, v.styles.Dim.Render)...)
	out = append(out, text.WrapRendered(r.Description, w, v.styles.Text.Render)...)
	if r.Asks != nil {
		out = append(out, text.WrapRendered(asksLine(r.Asks), w, v.styles.Warn.Render)...)
	}
	for _, p := range problemsOf(r) {
		out = append(out, text.WrapRendered("! "+p, w, v.styles.Bad.Render)...)
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

// trustLines show what the project brings before somebody says yes.
func (v *Overlay) trustLines(w int) []string {
	b := v.brought
	out := text.WrapRendered(fmt.Sprintf("%s brings %s in %s. Trusted, the agent may read them and you can use them; when one byte changes you are asked again.",
		b.Folder, text.Count(len(b.Skills), "skill", "skills"), text.Count(b.Files, "file", "files")), w, v.styles.Text.Render)
	if b.Why != "" {
		out = append(out, text.WrapRendered("! They cannot be trusted: "+b.Why, w, v.styles.Bad.Render)...)
	}
	for _, s := range v.theirs {
		out = append(out, "", v.styles.Strong.Render(text.Truncate(text.OneLine(s.folder), w, v.styles.Glyphs.Ellipsis)))
		out = append(out, text.WrapRendered(s.about, w, v.styles.Text.Render)...)
		for _, p := range s.problems {
			out = append(out, text.WrapRendered("! "+p, w, v.styles.Bad.Render)...)
		}
		for _, f := range s.files {
			out = append(out, v.styles.Dim.Render(text.Truncate(v.styles.Glyphs.Arrow+" "+text.OneLine(f), w, v.styles.Glyphs.Ellipsis)))
		}
	}
	return out
}
