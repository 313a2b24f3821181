package workbench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/core/skill"
	"hermes/skills"
	"hermes/ui/field"
	"hermes/ui/style"
	"hermes/ui/text"
)

// What the deeds of the overlay bring back to it.
type (
	skillsMsg struct {
		rows    []skill.Row
		brought *skills.Brought
		later   bool // only descriptions were scanned
	}
	skillTextMsg struct {
		file, body string
		files      []string
	}
	switchedMsg struct {
		name string
		on   bool
	}
	broughtMsg struct {
		theirs []theirSkill
		of     *skills.Brought // what was looked at
	}
)

// theirSkill is a skill of the project as it is shown before somebody says yes.
type theirSkill struct {
	folder, about string
	wrong, files  []string
}

// inspect reads and scans all files of a skill: never on the event loop.
func inspect(s *skills.Skill) theirSkill {
	r := skill.Row{Problems: s.Problems}
	if s.Usable() {
		r.Hits = skill.CheckAll(s)
	}
	return theirSkill{s.Folder(), s.Description, problemsOf(r), s.Files()}
}

// skillDeeds are what the overlay asks of the program.
type skillDeeds struct {
	scan    func() tea.Cmd
	use     func(name string) tea.Cmd
	read    func(r skill.Row) tea.Cmd
	toggle  func(r skill.Row) tea.Cmd
	edit    func(r skill.Row) tea.Cmd
	begin   func(name string) tea.Cmd
	trust   func(b *skills.Brought, yes bool) tea.Cmd
	untrust func(b *skills.Brought) tea.Cmd
	preview func(b *skills.Brought) tea.Cmd
}

// skillsMode is what keys mean.
type skillsMode int

const (
	listing   skillsMode = iota
	filtering            // letters narrow the list
	naming               // letters are the name of a new skill
	trusting             // the project's skills are shown, and a yes or no is wanted
)

// skillsView is an overlay: every skill with how it stands, and a look into the selected one.
type skillsView struct {
	do      skillDeeds
	styles  *style.Styles
	rows    []skill.Row
	brought *skills.Brought
	later   bool // the rest is to be scanned
	shown   []int
	at      string // file or name of the selected one
	mode    skillsMode
	find    field.Field
	name    field.Field
	theirs  []theirSkill // what the project brings, while trusting

	text   skillTextMsg
	drawn  drawnText
	asked  string // file of which the text was asked for
	from   int    // first line of the preview in view
	listed int    // rows of the list in view
	page   int    // rows of the preview in view
	total  int
	cursor int
	wide   bool
	deaf   time.Time // until when keys do nothing: they were meant for what was there before
}

// take shows what was read. A yes is only asked for what is on the screen: when that changed, the list comes back.
func (v *skillsView) take(m skillsMsg) {
	if v.mode == trusting && !sameBrought(m.brought, v.brought) {
		v.mode, v.theirs, v.from = listing, nil, 0
	}
	v.rows, v.brought, v.later = m.rows, m.brought, m.later
	v.filter()
}

func sameBrought(a, b *skills.Brought) bool { return a != nil && b != nil && a.Hash == b.Hash }

// ask shows what the project brings and wants a yes or no: not of one who types, and not for what is no longer there.
func (v *skillsView) ask(m broughtMsg) tea.Cmd {
	switch {
	case v.mode != listing:
		return nil
	case !sameBrought(m.of, v.brought):
		return func() tea.Msg {
			return toast(event.Warn, "the project's skills changed while they were read; look at them again (t)")
		}
	}
	v.brought, v.theirs, v.mode, v.from = m.of, m.theirs, trusting, 0
	return v.look()
}

// filter keeps the rows that hold what was typed.
func (v *skillsView) filter() {
	v.shown = v.shown[:0]
	want := strings.Fields(strings.ToLower(v.find.String()))
	for i, r := range v.rows {
		hay := strings.ToLower(strings.Join([]string{r.Name, r.Category, r.Description, string(r.Source), string(r.State)}, " "))
		if !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(hay, w) }) {
			v.shown = append(v.shown, i)
		}
	}
	if v.selected() < 0 && len(v.shown) > 0 {
		v.pick(0)
	}
}

// selected is the place in shown, -1 for none.
func (v *skillsView) selected() int {
	return slices.IndexFunc(v.shown, func(i int) bool { return v.rows[i].File == v.at || v.rows[i].Name == v.at })
}

func (v *skillsView) pick(i int) {
	if len(v.shown) == 0 {
		return
	}
	v.at, v.from = v.rows[v.shown[max(min(i, len(v.shown)-1), 0)]].File, 0
}

func (v *skillsView) row() (skill.Row, bool) {
	i := v.selected()
	if i < 0 {
		return skill.Row{}, false
	}
	return v.rows[v.shown[i]], true
}

func (v *skillsView) Title() string {
	return fmt.Sprintf("Skills (%d)", len(v.rows))
}

func (v *skillsView) Restyle(s *style.Styles) { v.styles, v.drawn = s, drawnText{} }

func (v *skillsView) Size(w, h int) (int, int) { return min(w-2, 150), max(h-4, 6) }

func (v *skillsView) Hint() string {
	switch v.mode {
	case filtering:
		return "type to find  enter done  esc all"
	case naming:
		return "name of the new skill, lower case  enter make it  esc back"
	case trusting:
		return "Y trust these  N refuse them  esc later"
	case listing:
	}
	hint := "enter use  space on/off  e edit  n new  / find  esc close"
	if b := v.brought; b != nil {
		word := "t trust the project's"
		if b.State == skills.Accepted {
			word = "t untrust"
		}
		hint = word + "  " + hint
	}
	return hint
}

// Cursor shows where typed letters go.
func (v *skillsView) Cursor() (x, y int, ok bool) {
	return v.cursor, 0, v.mode == filtering || v.mode == naming
}

func (v *skillsView) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return v.key(msg)
	case tea.MouseMsg:
		switch msg.Button { //nolint:exhaustive // the others do nothing here
		case tea.MouseButtonWheelUp:
			v.scroll(-3)
		case tea.MouseButtonWheelDown:
			v.scroll(3)
		}
	case skillsMsg:
		v.take(msg)
	case skillTextMsg:
		v.text, v.drawn = msg, drawnText{}
	case broughtMsg:
		return v.ask(msg), false
	case switchedMsg:
		return v.switched(msg), false
	}
	return v.look(), false
}

// Observe asks again when something changed on disk: a list that says "on" must not be an old one.
func (v *skillsView) Observe(e event.Envelope) tea.Cmd {
	if _, changed := e.Event.(event.SkillsChanged); !changed {
		return nil
	}
	v.asked = ""
	return v.do.scan()
}

func (v *skillsView) switched(m switchedMsg) tea.Cmd {
	for i := range v.rows {
		if r := &v.rows[i]; r.Name == m.name && (r.State == skill.On || r.State == skill.Off || r.State == skill.Blocked) {
			r.State = skill.Off
			if m.on {
				r.State = skill.On
				if len(r.Hits) > 0 {
					r.State = skill.Blocked
				}
			}
		}
	}
	word := "off"
	if m.on {
		word = "on"
	}
	return func() tea.Msg { return toast(event.Info, "skill %s is %s; new sessions see it so", m.name, word) }
}

// look asks for the text of the selected skill, once.
func (v *skillsView) look() tea.Cmd {
	var scan, read tea.Cmd
	if v.later {
		v.later, scan = false, v.do.scan()
	}
	if r, ok := v.row(); ok && v.asked != r.File {
		v.asked, read = r.File, v.do.read(r)
	}
	switch {
	case scan == nil:
		return read
	case read == nil:
		return scan
	default:
		return tea.Batch(scan, read)
	}
}

func (v *skillsView) key(msg tea.KeyMsg) (tea.Cmd, bool) {
	switch v.mode {
	case filtering:
		return v.filterKey(msg), false
	case naming:
		return v.nameKey(msg)
	case trusting:
		return v.trustKey(msg.String()), false
	case listing:
	}
	if v.move(msg.String()) {
		return v.look(), false
	}
	return v.deed(msg.String())
}

func (v *skillsView) filterKey(msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		v.find, v.mode = field.Field{}, listing
	case "enter":
		v.mode = listing
	case "up", "down":
		v.move(msg.String())
	default:
		v.find.Update(msg)
	}
	v.filter()
	return v.look()
}

func (v *skillsView) nameKey(msg tea.KeyMsg) (tea.Cmd, bool) {
	switch msg.String() {
	case "esc":
		v.mode = listing
	case "enter":
		name := strings.TrimSpace(v.name.String())
		if err := skills.CheckName(name); err != nil {
			return func() tea.Msg { return toast(event.Warn, "%v", err) }, false
		}
		return v.do.begin(name), true
	default:
		v.name.Update(msg)
	}
	return nil, false
}

func (v *skillsView) trustKey(key string) tea.Cmd {
	switch key {
	case "Y", "N":
		v.mode, v.from = listing, 0
		return v.do.trust(v.brought, key == "Y")
	case "esc", "q":
		v.mode, v.from = listing, 0
	default:
		v.moveText(key)
	}
	return nil
}

// deed does what a key stands for.
func (v *skillsView) deed(key string) (tea.Cmd, bool) {
	if key != "esc" && key != "/" && time.Now().Before(v.deaf) {
		return nil, false
	}
	r, ok := v.row()
	switch key {
	case "esc", "q":
		return nil, true
	case "/":
		v.mode, v.deaf = filtering, time.Time{} // who looks for something saw the list
	case "n":
		v.mode, v.name = naming, field.Field{}
	case "t":
		return v.trust(), false
	case "enter":
		if ok && r.State == skill.On {
			return v.do.use(r.Name), true
		}
	case " ":
		if ok && (r.State == skill.On || r.State == skill.Off || r.State == skill.Blocked) {
			return v.do.toggle(r), false
		}
	case "e":
		switch {
		case !ok:
		case r.Source == skills.Builtin:
			return func() tea.Msg {
				return toast(event.Info, "%s comes with the program; a skill of yours with this name takes its place (n)", r.Name)
			}, false
		default:
			return v.do.edit(r), true
		}
	}
	return nil, false
}

func (v *skillsView) trust() tea.Cmd {
	b := v.brought
	switch {
	case b == nil:
		return nil
	case b.State == skills.Accepted:
		return v.do.untrust(b)
	default:
		return v.do.preview(b)
	}
}

// move goes through the list, or scrolls the text.
func (v *skillsView) move(key string) bool {
	step := 0
	switch key {
	case "up", "k":
		step = -1
	case "down", "j":
		step = 1
	case "home":
		step = -len(v.shown)
	case "end":
		step = len(v.shown)
	default:
		return v.moveText(key)
	}
	v.pick(v.selected() + step)
	return true
}

func (v *skillsView) moveText(key string) bool {
	switch key {
	case "pgup", "ctrl+u":
		v.scroll(-max(v.page-1, 1))
	case "pgdown", "ctrl+d":
		v.scroll(max(v.page-1, 1))
	default:
		return false
	}
	return true
}

func (v *skillsView) scroll(by int) { v.from = max(min(v.from+by, v.total-v.page), 0) }

// state is a glyph and a word: never colour alone.
func (v *skillsView) state(s skill.State) string {
	g := v.styles.Glyphs
	mark, st := g.Failed, v.styles.Bad
	switch s {
	case skill.On:
		mark, st = g.Up, v.styles.Good
	case skill.Off:
		mark, st = g.Stopped, v.styles.Dim
	case skill.NotHere, skill.Hidden:
		mark, st = g.Stopped, v.styles.Warn
	case skill.Blocked, skill.Broken:
	}
	return st.Render(text.Fit(mark+" "+string(s), 10))
}

// problemsOf are the lines of what is wrong with a row.
func problemsOf(r skill.Row) []string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, fmt.Sprintf("BLOCKED %s:%d: %s: %q", base(h.File), h.Line, h.Reason, h.Excerpt))
	}
	for _, p := range r.Problems {
		where := base(p.File)
		if p.Line > 0 {
			where += fmt.Sprintf(":%d", p.Line)
		}
		out = append(out, where+": "+strings.TrimPrefix(cmp.Or(p.Key, "")+": ", ": ")+p.Why+semicolon(p.Fix))
	}
	return out
}

func semicolon(s string) string {
	if s == "" {
		return ""
	}
	return "; " + s
}

func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }
