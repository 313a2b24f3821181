package servers

import (
	"cmp"
	"net/url"
	"strings"

	"hermes/core/mcp"
	"hermes/ui"
	"hermes/ui/diff"
	"hermes/ui/text"
)

// View draws the list with a look into the selected server below it, or one thing in full.
func (v *Overlay) View(w, h int) string {
	v.drawn = ui.DrawnRows{}
	if v.mode != listing {
		return text.Block(v.InSight(v.drawInside(w), h), w, h)
	}
	var out []string
	if b := v.brought; b != nil && b.State != mcp.Trusted {
		out = append(out, text.WrapRendered("This project brings "+text.Count(len(b.Servers), "server", "servers")+" ("+mcp.ProjectFile+"): "+string(b.State)+", not started. t shows them.", w, v.styles.Warn.Render)...)
	}
	if v.trouble != "" {
		out = append(out, text.WrapRendered(v.trouble, w, v.styles.Bad.Render)...)
	}
	if len(v.rows) == 0 {
		out = append(out, text.WrapRendered("No server is set up. `hermes mcp add NAME -- COMMAND` sets one up; /config opens the settings (mcp_servers).", w, v.styles.Dim.Render)...)
		return text.Block(out, w, h)
	}
	at := v.selectedIndex()
	room := max(min(len(v.rows), h/2), 1)
	from, to := ui.RowsAround(at, len(v.rows), room)
	v.drawn.PlaceFrom(0, len(out), w, from, to-from)
	for i := from; i < to; i++ {
		out = append(out, v.drawLine(v.rows[i], i == at, w))
	}
	out = append(out, v.styles.Border.Render(strings.Repeat(v.styles.Glyphs.Horizontal, w)))
	return text.Block(append(out, v.InSight(v.drawSelected(w), h-len(out))...), w, h)
}

func (v *Overlay) drawLine(s mcp.Status, selected bool, w int) string {
	mark, st := "  ", v.styles.Text
	if selected {
		mark, st = v.styles.Glyphs.Closed+" ", v.styles.Selection
	}
	state := v.stateOf(s)
	name := text.Truncate(text.OneLine(s.Name), max(w/3, 8), v.styles.Glyphs.Ellipsis)
	line := v.styles.Accent.Render(mark) + st.Render(name) + " " + state + "  "
	if left := w - text.Width(line); left > 8 {
		line += v.styles.Dim.Render(text.Truncate(countBrought(s), left, v.styles.Glyphs.Ellipsis))
	}
	return line
}

// drawSelected draws the selected server: what is wrong first.
func (v *Overlay) drawSelected(w int) []string {
	s, ok := v.selectedRow()
	if !ok {
		return nil
	}
	var out []string
	if s.LastError != "" {
		out = append(out, text.WrapRendered("! "+s.LastError, w, v.styles.Bad.Render)...)
	}
	if s.Warning != "" {
		out = append(out, text.WrapRendered("! "+s.Warning, w, v.styles.Warn.Render)...)
	}
	out = append(out, text.WrapRendered(whereItRuns(s), w, v.styles.Text.Render)...)
	about := "from " + s.From
	if s.Server != "" {
		about = s.Server + " · protocol " + s.Protocol + " · " + about
	}
	out = append(out, text.WrapRendered(about, w, v.styles.Dim.Render)...)
	return append(out, v.toolLines(s, w, false)...)
}

// toolLines list tools: what the settings say, the name, and what the server says of it.
func (v *Overlay) toolLines(s mcp.Status, w int, full bool) []string {
	var out []string
	for _, t := range s.Tools {
		rule, st := t.Rule, v.styles.Dim
		switch {
		case t.State != mcp.Pinned:
			rule, st = "BLOCKED", v.styles.Bad
		case t.Rule == "allowed":
			st = v.styles.Warn
		}
		head := st.Render(text.Fit(rule, 10)) + v.styles.Strong.Render(text.OneLine(t.Tool))
		if !full {
			if left := w - text.Width(head) - 2; left > 8 {
				head += "  " + v.styles.Dim.Render(text.Truncate(text.OneLine(t.Gist), left, v.styles.Glyphs.Ellipsis))
			}
			out = append(out, head)
			continue
		}
		out = append(out, text.Truncate(head, w, v.styles.Glyphs.Ellipsis))
		for _, said := range []string{t.Why, cmp.Or(t.Says, t.Gist), t.Name} {
			for line := range strings.Lines(said) {
				out = append(out, indentLines(text.WrapRendered(line, w-10, v.styles.Dim.Render))...)
			}
		}
	}
	return out
}

func indentLines(lines []string) []string {
	for i := range lines {
		lines[i] = strings.Repeat(" ", 10) + lines[i]
	}
	return lines
}

// drawInside draws what is shown in full.
func (v *Overlay) drawInside(w int) []string {
	s, _ := v.selectedRow()
	switch v.mode {
	case tools:
		out := v.toolLines(s, w, true)
		if s.Instructions != "" {
			out = append(out, "", v.styles.Strong.Render("What it says about itself (nothing of it is an order)"))
			for line := range strings.Lines(s.Instructions) {
				out = append(out, text.WrapRendered(line, w, v.styles.Dim.Render)...)
			}
		}
		return out
	case logging:
		var out []string
		for _, line := range v.lines {
			out = append(out, text.WrapRendered(line, w, v.styles.Text.Render)...)
		}
		if len(out) == 0 {
			out = []string{v.styles.Dim.Render("It has said nothing yet.")}
		}
		return out
	case reviewing:
		return v.reviewLines(w)
	case trusting:
		return v.trustLines(w)
	case signing:
		return v.loginLines(w)
	case listing:
	}
	return nil
}

func (v *Overlay) reviewLines(w int) []string {
	if len(v.seen) == 0 {
		return []string{v.styles.Dim.Render("Nothing is blocked.")}
	}
	var out []string
	for _, r := range v.seen {
		out = append(out, v.styles.Strong.Render(text.Truncate(text.OneLine(r.Tool), w, v.styles.Glyphs.Ellipsis)))
		out = append(out, text.WrapRendered(r.Why, w, v.styles.Bad.Render)...)
		out = append(out, diff.Render(text.Sanitize(r.Diff), w, v.styles)...)
		out = append(out, "")
	}
	return out
}

// loginLines show the address of a login. It is the server's, so its host is named.
func (v *Overlay) loginLines(w int) []string {
	field, _ := v.pasted.View(v.styles, "address that the browser was led to:", "paste it here where it cannot come back by itself", w)
	out := text.WrapRendered("Open this address in a browser. When it comes back to this machine the login is done.", w, v.styles.Text.Render)
	if u, err := url.Parse(text.OneLine(v.login.Address)); err == nil {
		out = append(out, text.WrapRendered("It is an address of "+u.Host+".", w, v.styles.Strong.Render)...)
	}
	out = append(out, "")
	out = append(out, text.WrapRendered(v.login.Address, w, v.styles.Accent.Render)...)
	return append(out, "", field)
}

// trustLines show what the project brings before somebody says yes.
func (v *Overlay) trustLines(w int) []string {
	b := v.brought
	if b == nil {
		return nil
	}
	out := text.WrapRendered(b.Folder+" brings these servers. Trusted, these programs are started on this machine with your rights; when one byte of "+
		mcp.ProjectFile+" changes you are asked again.", w, v.styles.Text.Render)
	for _, p := range b.Problems {
		out = append(out, text.WrapRendered("! "+p, w, v.styles.Bad.Render)...)
	}
	for _, s := range b.Servers {
		out = append(out, "", v.styles.Strong.Render(text.Truncate(text.OneLine(s.Name), w, v.styles.Glyphs.Ellipsis)))
		out = append(out, text.WrapRendered(s.Where(), w, v.styles.Text.Render)...)
		for name := range s.Env {
			out = append(out, text.WrapRendered("is given the variable "+name, w, v.styles.Dim.Render)...)
		}
		if s.Problem != "" {
			out = append(out, text.WrapRendered("! "+s.Problem, w, v.styles.Bad.Render)...)
		}
	}
	return out
}
