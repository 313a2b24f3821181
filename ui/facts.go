package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hermes/ui/text"
)

// What the status row says about a session at rest: where it works, with which model and how full
// that is, what it has cost, and what it asks about.

// statusRight lists what may stand at the right, the fullest first. How much is asked and a key
// are the last to go: the one is what nobody may be wrong about, the other leads to everything that
// has no room.
func (f *frame) statusRight(s *sessionStatus) [][]string {
	model, short, one := f.modelFacts(s), f.statusKeys(s, someKeys), f.statusKeys(s, oneKey)
	asks, askShort := f.approvalFact(s, false), f.approvalFact(s, true)
	folder, where := f.folderFact(s), ""
	if s.backend != "" {
		where = f.styles.Status.Render("in " + oneLine(text.Sanitize(s.backend)))
	}
	tight := []string{askShort, one}
	if spent := f.spentText(s); spent != "" {
		tight = []string{spent, askShort}
	}
	var out [][]string
	for _, row := range [][]string{
		{folder, model, where, asks, f.statusKeys(s, allKeys)},
		{folder, model, where, asks, short},
		{folder, model, where, askShort, short},
		{folder, model, askShort, short},
		{folder, model, askShort, one},
		{model, askShort, one},
		{f.spentText(s), askShort, one},
		tight,
		{askShort, one},
		{askShort},
		{one},
		nil,
	} {
		out = append(out, slices.DeleteFunc(row, func(part string) bool { return part == "" }))
	}
	return out
}

// setModel notes which model a session talks to. The window of another one is not known yet.
func (s *sessionStatus) setModel(provider, model string) {
	if model != s.model {
		s.window = 0
	}
	s.provider, s.model = cmp.Or(provider, s.provider), model
}

// folderFact is where the session works: its folder, and the branch there.
func (f *frame) folderFact(s *sessionStatus) string {
	if s.around.Folder == "" {
		return ""
	}
	out := f.styles.Status.Render(shortenPath(oneLine(text.Sanitize(s.around.Folder)), max(12, f.w/6), f.styles.Glyphs.Ellipsis))
	if s.around.Branch != "" {
		branch := text.Truncate(oneLine(text.Sanitize(s.around.Branch)), max(8, f.w/8), f.styles.Glyphs.Ellipsis)
		out += " " + f.styles.Faint.Render(branch)
	}
	return out
}

// shortenPath keeps the end of a path, which tells most.
func shortenPath(path string, room int, ellipsis string) string {
	for text.Width(path) > room {
		_, rest, ok := strings.Cut(strings.TrimPrefix(path, ellipsis+"/"), "/")
		if !ok || rest == "" {
			return text.Truncate(path, room, ellipsis)
		}
		path = ellipsis + "/" + rest
	}
	return path
}

// approvalFact says in words what is asked, once that is known.
func (f *frame) approvalFact(s *sessionStatus, short bool) string {
	level := s.level
	if f.opt.Defaults != nil {
		d, ok := f.opt.Defaults()
		if !ok {
			return ""
		}
		level = cmp.Or(level, d.Level)
	}
	if level == "" {
		return ""
	}
	full, brief := LevelWords(level)
	if s.away && level != "all" && level != "plan" {
		full, brief = strings.Replace(full, "asks", "away: refuses", 1), "away: refuses"
	}
	st := f.styles.Status
	if level == "all" {
		st = f.styles.Warn
	}
	if short {
		return st.Render(brief)
	}
	return st.Render(full)
}

// modelFacts are the model, how hard it thinks, how full its context is, and what the session has
// cost.
func (f *frame) modelFacts(s *sessionStatus) string {
	provider, name := s.provider, s.model
	if name == "" {
		provider, name = f.status.provider, f.status.model
	}
	switch {
	case name == "" && f.status.model == "":
		return "" // nobody has said yet which one there is
	case provider != "" && provider == f.opt.NoModel:
		return f.styles.Warn.Render(f.noModelText())
	}
	model := []string{oneLine(text.Sanitize(name))}
	if effort := f.effortOf(s); effort != "" {
		model = append(model, "thinks "+effort)
	}
	if used := f.contextText(s); used != "" {
		model = append(model, used)
	}
	if cost := s.costText(); cost != "" {
		model = append(model, cost)
	}
	return f.styles.Status.Render(strings.Join(model, "  "))
}

// noModelText says that no language model is connected, and what connects one.
func (f *frame) noModelText() string {
	if f.slashKnown("connect") {
		return "no model: /connect"
	}
	return "no model: hermes setup"
}

// slashKnown reports whether there is a slash command of that name.
func (f *frame) slashKnown(name string) bool {
	return slices.ContainsFunc(f.opt.Actions, func(a Action) bool { return a.Slash == name })
}

// effortOf is how hard the session's model is told to think; "" when it is told nothing.
func (f *frame) effortOf(s *sessionStatus) string {
	if s.effort != "" || f.opt.Defaults == nil {
		return s.effort
	}
	d, _ := f.opt.Defaults()
	return d.Effort
}

// windowOf is the context window of the session's model; 0 while it is not known.
func (f *frame) windowOf(s *sessionStatus) int {
	if s.window == 0 && (s.model == "" || s.model == f.status.model) {
		return f.status.window
	}
	return s.window
}

// contextText is how full the context is: a share of the window, else tokens.
func (f *frame) contextText(s *sessionStatus) string {
	switch window := f.windowOf(s); {
	case window > 0:
		return text.Percent(s.context, window) + " of " + text.Thousands(window)
	case s.context > 0:
		return text.Thousands(s.context) + " tokens"
	default:
		return ""
	}
}

// spentText is what matters most of modelFacts, without the names.
func (f *frame) spentText(s *sessionStatus) string {
	if provider := cmp.Or(s.provider, f.status.provider); provider != "" && provider == f.opt.NoModel {
		return f.styles.Warn.Render("no model")
	}
	var out []string
	if window := f.windowOf(s); window > 0 && s.context > 0 {
		out = append(out, text.Percent(s.context, window))
	} else if s.context > 0 {
		out = append(out, text.Thousands(s.context)+" tokens")
	}
	if cost := s.costText(); cost != "" {
		out = append(out, cost)
	}
	if len(out) == 0 {
		return ""
	}
	return f.styles.Status.Render(strings.Join(out, "  "))
}

// costText is the price of the session so far; "" while it is not known.
func (s *sessionStatus) costText() string {
	if !s.costSure || s.cost == 0 {
		return ""
	}
	return fmt.Sprintf("$%.3f", float64(s.cost)/1e6)
}
