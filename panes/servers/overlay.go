// Package servers is the overlay of the servers that bring tools: how each is, its tools and log,
// what changed of them, and whether those of a project are trusted.
package servers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/ui"
	"hermes/ui/field"
	"hermes/ui/style"
	"hermes/ui/text"
)

// What the deeds of the overlay bring back to it.
type (
	// Listed are the servers and what the project brings.
	Listed struct {
		Rows    []mcp.Status
		Brought *mcp.Brought
		Trouble string
	}
	// LogRead is the log of a server.
	LogRead struct {
		Name  string
		Lines []string
	}
	// Reviewed is what changed of a server's tools.
	Reviewed struct {
		Name string
		List []mcp.Review
	}
	// LoginShown is a login that waits for the browser to come back, or for what is pasted.
	LoginShown struct {
		Name, Address string
		Paste         func(text string)
		Stop          func()
		Wait          tea.Cmd // brings a LoginEnded
	}
	// LoginEnded says how it ended.
	LoginEnded struct {
		Listed
		Name string
		Err  string
	}
)

// Actions are what the overlay asks of the program.
type Actions struct {
	Again   func() tea.Cmd
	Restart func(name string) tea.Cmd
	Log     func(name string) tea.Cmd
	Review  func(name string) tea.Cmd
	Accept  func(name string, seen []mcp.Review) tea.Cmd
	Toggle  func(s mcp.Status) tea.Cmd
	Trust   func(b *mcp.Brought, yes bool) tea.Cmd
	Login   func(name string) tea.Cmd
}

// mode is what the overlay shows.
type mode int

const (
	listing   mode = iota
	tools          // of one server, in full
	logging        // of one server
	reviewing      // what changed, with a yes or a no
	trusting       // what the project brings, with a yes or a no
	signing        // in to a server: an address for the browser
)

// Overlay is an overlay: every server with how it is, and a look into the selected one.
type Overlay struct {
	do      Actions
	styles  *style.Styles
	rows    []mcp.Status
	brought *mcp.Brought
	trouble string
	at      string
	mode    mode
	lines   []string     // of the log
	seen    []mcp.Review // what is shown now
	login   LoginShown
	pasted  field.Field
	drawn   ui.DrawnRows
	ui.ScrolledText
}

// New shows the servers, the one with this name first.
func New(do Actions, first Listed, at string) *Overlay {
	v := &Overlay{do: do, at: at}
	v.takeListed(first)
	return v
}

func (v *Overlay) takeListed(m Listed) {
	v.rows, v.trouble = m.Rows, m.Trouble
	if v.mode == trusting && (m.Brought == nil || v.brought == nil || m.Brought.Hash != v.brought.Hash || m.Brought.State == mcp.Trusted) {
		v.mode, v.From = listing, 0 // a yes is only for what is on the screen
	}
	v.brought = m.Brought
	if v.selectedIndex() < 0 && len(v.rows) > 0 {
		v.at = v.rows[0].Name
	}
}

func (v *Overlay) selectedIndex() int {
	return slices.IndexFunc(v.rows, func(s mcp.Status) bool { return s.Name == v.at })
}

func (v *Overlay) selectedRow() (mcp.Status, bool) {
	i := v.selectedIndex()
	if i < 0 {
		return mcp.Status{}, false
	}
	return v.rows[i], true
}

// Title says what is shown.
func (v *Overlay) Title() string {
	switch v.mode {
	case tools:
		return "Tools of " + v.at
	case logging:
		return "Log of " + v.at
	case reviewing:
		return "What changed in " + v.at
	case trusting:
		return "Servers of this project"
	case signing:
		return "Log in to " + v.at
	case listing:
	}
	return fmt.Sprintf("Servers of tools (%d)", len(v.rows))
}

// Restyle takes the styles of the theme.
func (v *Overlay) Restyle(s *style.Styles) { v.styles = s }

// Size is nearly the screen.
func (v *Overlay) Size(w, h int) (int, int) { return min(w-2, 140), max(h-4, 6) }

// Hint names the keys.
func (v *Overlay) Hint() string {
	switch v.mode {
	case tools, logging:
		return "pgup/pgdn scroll  esc back"
	case reviewing:
		if len(v.seen) == 0 {
			return "esc back"
		}
		return "Y use them as they are now  pgup/pgdn scroll  esc back, they stay blocked"
	case trusting:
		return "Y trust these  N refuse them  esc later"
	case signing:
		return "tab copy the address  enter use what is pasted  esc give it up"
	case listing:
	}
	hint := "enter tools  l log  r restart  d on/off  esc close"
	s, ok := v.selectedRow()
	if ok && s.Changed > 0 {
		hint = "p review changes  " + hint
	}
	if ok && s.State == mcp.StateLogin {
		hint = "a log in  " + hint
	}
	if v.brought != nil {
		hint = "t trust the project's  " + hint
	}
	return hint
}

// Update takes keys, and what the deeds bring back.
func (v *Overlay) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		if v.mode == signing {
			return v.handleLoginKey(msg), false
		}
		return v.handleKey(msg.String())
	case Listed:
		v.takeListed(msg)
	case LogRead:
		v.mode, v.at, v.lines, v.From = logging, msg.Name, msg.Lines, math.MaxInt32 // the end of it
	case Reviewed:
		v.mode, v.at, v.seen, v.From = reviewing, msg.Name, msg.List, 0
	case LoginShown:
		v.mode, v.at, v.login, v.pasted, v.From = signing, msg.Name, msg, field.New(""), 0
		return msg.Wait, false
	case LoginEnded:
		v.endLogin(msg)
	}
	return nil, false
}

// RowAt implements ui.Lister.
func (v *Overlay) RowAt(x, y int) (row int, chosen, ok bool) {
	row, ok = v.drawn.At(x, y)
	return row, row == v.selectedIndex(), ok
}

// ChooseRow implements ui.Lister.
func (v *Overlay) ChooseRow(row int) tea.Cmd {
	v.moveBy(row - v.selectedIndex())
	return nil
}

// handleLoginKey takes keys while a login waits.
func (v *Overlay) handleLoginKey(key tea.KeyMsg) tea.Cmd {
	switch key.String() {
	case "tab": // on the screen the address is broken into lines
		return func() tea.Msg { return ui.CopyText{Text: v.login.Address, What: "address"} }
	case "esc":
		v.login.Stop()
		v.mode = listing
	case "enter":
		if text := strings.TrimSpace(v.pasted.String()); text != "" {
			v.login.Paste(text)
		}
		v.pasted = field.New("")
	case "pgup", "pgdown":
		v.TakeScrollKey(key.String())
	default:
		v.pasted.Update(key)
	}
	return nil
}

// endLogin takes the end of a login. One that was given up is over already.
func (v *Overlay) endLogin(m LoginEnded) {
	v.takeListed(m.Listed)
	if v.mode != signing || v.at != m.Name {
		return
	}
	v.mode = listing
	v.trouble = cmp.Or(m.Err, v.trouble)
}

// Observe looks again when a server changed: what is shown is what is.
func (v *Overlay) Observe(e event.Envelope) tea.Cmd {
	if _, changed := e.Event.(event.ServerChanged); !changed {
		return nil
	}
	return v.do.Again()
}

// RefreshAt is the next second while a server counts down to its next try.
func (v *Overlay) RefreshAt(now time.Time) time.Time {
	for _, s := range v.rows {
		if s.State == mcp.StateRetrying && s.Next.After(now) {
			return now.Add(time.Second)
		}
	}
	return time.Time{}
}

func (v *Overlay) handleKey(key string) (tea.Cmd, bool) {
	if v.mode != listing {
		return v.handleInnerKey(key), false
	}
	s, ok := v.selectedRow()
	switch key {
	case "esc", "q":
		return nil, true
	case "up", "k":
		v.moveBy(-1)
	case "down", "j":
		v.moveBy(1)
	case "t":
		if v.brought != nil {
			v.mode, v.From = trusting, 0
		}
	default:
		if ok {
			return v.runKey(key, s), false
		}
	}
	return nil, false
}

// runKey does what a key stands for with the selected server.
func (v *Overlay) runKey(key string, s mcp.Status) tea.Cmd {
	switch key {
	case "enter":
		v.mode, v.From = tools, 0
	case "l":
		return v.do.Log(s.Name)
	case "r":
		return v.do.Restart(s.Name)
	case "d", " ":
		return v.do.Toggle(s)
	case "a":
		if s.Transport != "stdio" {
			return v.do.Login(s.Name)
		}
	case "p":
		if s.Changed > 0 {
			return v.do.Review(s.Name)
		}
	default:
		v.TakeScrollKey(key)
	}
	return nil
}

// handleInnerKey handles the keys inside of one server.
func (v *Overlay) handleInnerKey(key string) tea.Cmd {
	back := func() { v.mode, v.From = listing, 0 }
	switch {
	case key == "esc" || key == "q":
		back()
	case v.mode == reviewing && key == "Y" && len(v.seen) > 0:
		back()
		return v.do.Accept(v.at, v.seen)
	case v.mode == trusting && (key == "Y" || key == "N"):
		back()
		return v.do.Trust(v.brought, key == "Y")
	default:
		v.TakeScrollKey(key)
	}
	return nil
}

func (v *Overlay) moveBy(step int) {
	if i := v.selectedIndex() + step; i >= 0 && i < len(v.rows) {
		v.at, v.From = v.rows[i].Name, 0
	}
}

// stateOf is a glyph and a word: never colour alone.
func (v *Overlay) stateOf(s mcp.Status) string {
	g := v.styles.Glyphs
	mark, st, word := g.Stopped, v.styles.Dim, string(s.State)
	switch s.State {
	case mcp.StateReady:
		mark, st = g.Up, v.styles.Good
	case mcp.StateStarting:
		mark, st = g.Stopped, v.styles.Accent
	case mcp.StateRetrying:
		mark, st = g.Failed, v.styles.Warn
		if left := time.Until(s.Next); left > 0 {
			word += fmt.Sprintf(" in %s", left.Round(time.Second))
		}
	case mcp.StateLogin, mcp.StateFailed:
		mark, st = g.Failed, v.styles.Bad
	case mcp.StateOff, mcp.StateIdle:
	}
	return st.Render(mark + " " + word)
}

// countBrought counts what a server brings, in a few words.
func countBrought(s mcp.Status) string {
	out := []string{text.Count(len(s.Tools), "tool", "tools")}
	if s.Hidden > 0 {
		out = append(out, fmt.Sprintf("%d hidden", s.Hidden))
	}
	if s.Changed > 0 {
		out = append(out, fmt.Sprintf("%d BLOCKED", s.Changed))
	}
	if s.Calls > 0 {
		out = append(out, text.Count(s.Calls, "call", "calls"))
	}
	return strings.Join(append(out, fmt.Sprintf("%d tokens", s.Tokens)), " · ")
}

func whereItRuns(s mcp.Status) string {
	return cmp.Or(s.Backend, s.Transport) + ": " + s.Where
}
