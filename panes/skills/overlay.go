// Package skills is the overlay of the skills: every one with how it stands, a look into the
// selected one, and the question whether those of a project are trusted.
package skills

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
	"hermes/ui"
	"hermes/ui/field"
	"hermes/ui/style"
	"hermes/ui/text"
)

// What the deeds of the overlay bring back to it.
type (
	// Listed are the skills and what the project brings.
	Listed struct {
		Rows    []skill.Row
		Brought *skills.Brought
		Later   bool // only descriptions were scanned
	}
	// TextRead is the text of a skill.
	TextRead struct {
		File, Body string
		Files      []string
	}
	// Switched says that a skill was switched on or off.
	Switched struct {
		Name string
		On   bool
	}
	// Previewed is what the project would bring.
	Previewed struct {
		Theirs []Preview
		Of     *skills.Brought // what was looked at
	}
)

// Preview is a skill of the project as it is shown before somebody says yes.
type Preview struct {
	folder, about   string
	problems, files []string
}

// Inspect reads and scans all files of a skill: never on the event loop.
func Inspect(s *skills.Skill) Preview {
	r := skill.Row{Problems: s.Problems}
	if s.Usable() {
		r.Hits = skill.CheckAll(s)
	}
	return Preview{s.Folder(), s.Description, problemsOf(r), s.Files()}
}

// Actions are what the overlay asks of the program.
type Actions struct {
	Scan    func() tea.Cmd
	Use     func(r skill.Row) tea.Cmd
	Read    func(r skill.Row) tea.Cmd
	Toggle  func(r skill.Row) tea.Cmd
	Edit    func(r skill.Row) tea.Cmd
	Create  func(name string) tea.Cmd
	Trust   func(b *skills.Brought, yes bool) tea.Cmd
	Untrust func(b *skills.Brought) tea.Cmd
	Preview func(b *skills.Brought) tea.Cmd
	// Grant answers what a skill asks to be passed to commands; it brings Listed.
	Grant func(w *skill.Wish, yes bool) tea.Cmd
	// History brings Versions, Undo and Rollback bring Listed and the Versions as they are then.
	History  func(name string) tea.Cmd
	Undo     func(name string) tea.Cmd
	Rollback func(name string, to int) tea.Cmd
}

// mode is what keys mean.
type mode int

const (
	listing   mode = iota
	filtering      // letters narrow the list
	naming         // letters are the name of a new skill
	trusting       // the project's skills are shown, and a yes or no is wanted
	looking        // the versions of a skill are shown
	granting       // a yes or no to what the selected skill asks for is wanted
)

// Overlay is an overlay: every skill with how it stands, and a look into the selected one.
type Overlay struct {
	do      Actions
	styles  *style.Styles
	rows    []skill.Row
	brought *skills.Brought
	later   bool // the rest is to be scanned
	shown   []int
	at      string // file or name of the selected one
	mode    mode
	find    field.Field
	name    field.Field
	theirs  []Preview // what the project brings, while trusting
	past    Versions  // while looking
	pastAt  int       // row of past that is selected

	text            TextRead
	drawn           drawnText
	asked           string // file of which the text was asked for
	listed          int    // rows of the list in view
	lines           ui.DrawnRows
	cursor          int
	wide            bool
	deaf            time.Time // until when keys do nothing: they were meant for what was there before
	ui.ScrolledText           // the preview
}

// settle is how long the overlay does nothing at first: it opens late, also after the editor, and
// keys typed until then were meant for something else.
const settle = 400 * time.Millisecond

// New makes the overlay with the skill of that name selected. It reads that skill's text.
func New(do Actions, found Listed, name string) *Overlay {
	v := &Overlay{do: do, at: name}
	v.takeListed(found)
	if r, ok := v.selectedRow(); ok {
		if m, ok := v.do.Read(r)().(TextRead); ok {
			v.text, v.asked = m, r.File
		}
	}
	v.deaf = time.Now().Add(settle)
	return v
}

// takeListed shows what was read. A yes is only asked for what is on the screen: when that changed,
// the list comes back.
func (v *Overlay) takeListed(m Listed) {
	if v.mode == trusting && !sameBrought(m.Brought, v.brought) {
		v.mode, v.theirs, v.From = listing, nil, 0
	}
	v.rows, v.brought, v.later = m.Rows, m.Brought, m.Later
	v.filterRows()
}

func sameBrought(a, b *skills.Brought) bool { return a != nil && b != nil && a.Hash == b.Hash }

// askForYes shows what the project brings and wants a yes or no: not of one who types, and not for
// what is no longer there.
func (v *Overlay) askForYes(m Previewed) tea.Cmd {
	switch {
	case v.mode != listing:
		return nil
	case !sameBrought(m.Of, v.brought):
		return func() tea.Msg {
			return ui.Toast(event.Warn, "the project's skills changed while they were read; look at them again (t)")
		}
	}
	v.brought, v.theirs, v.mode, v.From = m.Of, m.Theirs, trusting, 0
	return v.requestText()
}

// filterRows keeps the rows that hold what was typed.
func (v *Overlay) filterRows() {
	v.shown = v.shown[:0]
	want := strings.Fields(strings.ToLower(v.find.String()))
	for i, r := range v.rows {
		hay := strings.ToLower(strings.Join([]string{r.Name, r.Category, r.Description, string(r.Source), string(r.State)}, " "))
		if !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(hay, w) }) {
			v.shown = append(v.shown, i)
		}
	}
	if v.selectedIndex() < 0 && len(v.shown) > 0 {
		v.selectShown(0)
	}
}

// selectedIndex is the place in shown, -1 for none.
func (v *Overlay) selectedIndex() int {
	return slices.IndexFunc(v.shown, func(i int) bool { return v.rows[i].File == v.at || v.rows[i].Name == v.at })
}

func (v *Overlay) selectShown(i int) {
	if len(v.shown) == 0 {
		return
	}
	v.at, v.From = v.rows[v.shown[max(min(i, len(v.shown)-1), 0)]].File, 0
}

func (v *Overlay) selectedRow() (skill.Row, bool) {
	i := v.selectedIndex()
	if i < 0 {
		return skill.Row{}, false
	}
	return v.rows[v.shown[i]], true
}

// Title counts the skills.
func (v *Overlay) Title() string {
	return fmt.Sprintf("Skills (%d)", len(v.rows))
}

// Restyle takes another theme.
func (v *Overlay) Restyle(s *style.Styles) { v.styles, v.drawn = s, drawnText{} }

// Size is nearly all of w and h.
func (v *Overlay) Size(w, h int) (int, int) { return min(w-2, 150), max(h-4, 6) }

// Hint names the keys of this moment.
func (v *Overlay) Hint() string {
	switch v.mode {
	case filtering:
		return "type to find  enter done  esc all"
	case naming:
		return "name of the new skill, lower case  enter make it  esc back"
	case trusting:
		return "Y trust these  N refuse them  esc later"
	case looking:
		return "r go back to this version  u undo the last change  esc back"
	case granting:
		return "Y pass it to commands of sessions that load the skill  N never  esc later"
	case listing:
	}
	hint := "enter writes its command  space on/off  e edit  h history  u undo  n new  / find  esc close"
	if r, ok := v.selectedRow(); ok && r.Asks != nil {
		hint = "p what it asks for  " + hint
	}
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
func (v *Overlay) Cursor() (x, y int, ok bool) {
	return v.cursor, 0, v.mode == filtering || v.mode == naming
}

// Update implements ui.Overlay.
func (v *Overlay) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return v.handleKey(msg)
	case Listed:
		v.takeListed(msg)
	case TextRead:
		v.text, v.drawn = msg, drawnText{}
	case Previewed:
		return v.askForYes(msg), false
	case Versions:
		v.showVersions(msg)
	case Switched:
		return v.takeSwitched(msg), false
	}
	return v.requestText(), false
}

// Observe asks again when something changed on disk: a list that says "on" must not be an old one.
func (v *Overlay) Observe(e event.Envelope) tea.Cmd {
	if _, changed := e.Event.(event.SkillsChanged); !changed {
		return nil
	}
	v.asked = ""
	return v.do.Scan()
}

func (v *Overlay) takeSwitched(m Switched) tea.Cmd {
	for i := range v.rows {
		if r := &v.rows[i]; r.Name == m.Name && (r.State == skill.On || r.State == skill.Off || r.State == skill.Blocked) {
			r.State = skill.Off
			if m.On {
				r.State = skill.On
				if len(r.Hits) > 0 {
					r.State = skill.Blocked
				}
			}
		}
	}
	word := "off"
	if m.On {
		word = "on"
	}
	return func() tea.Msg { return ui.Toast(event.Info, "skill %s is %s; new sessions see it so", m.Name, word) }
}

// requestText asks for the text of the selected skill, once.
func (v *Overlay) requestText() tea.Cmd {
	var scan, read tea.Cmd
	if v.later {
		v.later, scan = false, v.do.Scan()
	}
	if r, ok := v.selectedRow(); ok && v.asked != r.File {
		v.asked, read = r.File, v.do.Read(r)
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

func (v *Overlay) handleKey(msg tea.KeyMsg) (tea.Cmd, bool) {
	switch v.mode {
	case filtering:
		return v.filterKey(msg), false
	case naming:
		return v.nameKey(msg)
	case trusting:
		return v.trustKey(msg.String()), false
	case looking:
		return v.versionKey(msg.String()), false
	case granting:
		return v.grantKey(msg.String()), false
	case listing:
	}
	if v.moveByKey(msg.String()) {
		return v.requestText(), false
	}
	return v.runKey(msg.String())
}

func (v *Overlay) filterKey(msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		v.find, v.mode = field.Field{}, listing
	case "enter":
		v.mode = listing
	case "up", "down":
		v.moveByKey(msg.String())
	default:
		v.find.Update(msg)
	}
	v.filterRows()
	return v.requestText()
}

func (v *Overlay) nameKey(msg tea.KeyMsg) (tea.Cmd, bool) {
	switch msg.String() {
	case "esc":
		v.mode = listing
	case "enter":
		name := strings.TrimSpace(v.name.String())
		if err := skills.CheckName(name); err != nil {
			return func() tea.Msg { return ui.Toast(event.Warn, "%v", err) }, false
		}
		return v.do.Create(name), true
	default:
		v.name.Update(msg)
	}
	return nil, false
}

func (v *Overlay) trustKey(key string) tea.Cmd {
	switch key {
	case "Y", "N":
		v.mode, v.From = listing, 0
		return v.do.Trust(v.brought, key == "Y")
	case "esc", "q":
		v.mode, v.From = listing, 0
	default:
		v.TakePageKey(key)
	}
	return nil
}

// runKey does what a key stands for.
func (v *Overlay) runKey(key string) (tea.Cmd, bool) {
	if key != "esc" && key != "/" && time.Now().Before(v.deaf) {
		return nil, false
	}
	r, ok := v.selectedRow()
	switch key {
	case "esc", "q":
		return nil, true
	case "/":
		v.mode, v.deaf = filtering, time.Time{} // who looks for something saw the list
	case "n":
		v.mode, v.name = naming, field.Field{}
	case "t", "p":
		return v.askTrust(key, r), false
	case "h", "u":
		return v.pastKey(key, r, ok), false
	case "enter":
		switch {
		case !ok:
		case r.State == skill.On:
			return v.do.Use(r), true
		default:
			return func() tea.Msg { return ui.Toast(event.Info, "%s is %s: it has no command", r.Name, r.State) }, false
		}
	case " ":
		if ok && (r.State == skill.On || r.State == skill.Off || r.State == skill.Blocked) {
			return v.do.Toggle(r), false
		}
	case "e":
		switch {
		case !ok:
		case r.Source == skills.Builtin:
			return func() tea.Msg {
				return ui.Toast(event.Info, "%s comes with the program; a skill of yours with this name takes its place (n)", r.Name)
			}, false
		default:
			return v.do.Edit(r), true
		}
	}
	return nil, false
}

// moveByKey goes through the list, or scrolls the text.
func (v *Overlay) moveByKey(key string) bool {
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
		return v.TakePageKey(key)
	}
	v.selectShown(v.selectedIndex() + step)
	return true
}

// drawState draws a glyph and a word: never colour alone.
func (v *Overlay) drawState(s skill.State) string {
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
		out = append(out, fmt.Sprintf("BLOCKED %s:%d: %s: %q", baseName(h.File), h.Line, h.Reason,
			h.Excerpt))
	}
	for _, p := range r.Problems {
		where := baseName(p.File)
		if p.Line > 0 {
			where += fmt.Sprintf(":%d", p.Line)
		}
		out = append(out, where+": "+strings.TrimPrefix(cmp.Or(p.Key, "")+": ", ": ")+p.Why+afterSemicolon(p.Fix))
	}
	return out
}

func afterSemicolon(s string) string {
	if s == "" {
		return ""
	}
	return "; " + s
}

func baseName(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }
