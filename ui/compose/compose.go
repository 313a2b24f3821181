// Package compose is the field that prompts are written in: several lines, history, completion,
// paste chips.
//
// The contract: it does no I/O and knows no session. Keys go in, a Result says what the owner has
// to do. View draws what the owner gives room for; the cursor is the terminal's own. Editing never
// splits a character. It is our own because the usual text area draws all of its text at every key
// (37 ms for 5,000 lines), and wraps by other widths than ours.
package compose

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/ui/style"
)

// A paste longer than this becomes a chip, unless the owner says otherwise.
const (
	MaxPasteLines = 5
	MaxPasteRunes = 2000
)

const maxHistory = 1000

// Result says what a key asks of the owner.
type Result int

// Results.
const (
	Ignored Result = iota // not a key of the composer
	Changed               // look again; the text may be another
	Submit                // send Text and Parts, then Clear
)

// Composer is the field. The zero value is not usable; call New.
type Composer struct {
	Placeholder string
	Prompt      string // "❯ "
	Styles      *style.Styles
	// PasteLines and PasteRunes are how long a paste may be that stays text; 0 for any length.
	PasteLines, PasteRunes int

	buf     Buffer
	chips   []chat.Part
	named   []string // what the text names and would attach, in words
	history []Prompt // oldest first
	pos     int      // in history; len(history) is the draft
	draft   Prompt
	popup   Popup
	width   int
	scroll  int
	above   int // lines that the last View had no room for
	below   int
	pastes  int
}

// New returns an empty composer.
func New() *Composer {
	c := &Composer{Prompt: "❯ ", width: 80, PasteLines: MaxPasteLines, PasteRunes: MaxPasteRunes}
	c.buf.goal = -1
	return c
}

// Resize sets the width in cells, the prompt included.
func (c *Composer) Resize(w int) { c.width = w }

func (c *Composer) innerWidth() int { return max(1, c.width-len([]rune(c.Prompt))) }

// Text is what was written.
func (c *Composer) Text() string { return c.buf.String() }

// Parts are the chips.
func (c *Composer) Parts() []chat.Part { return append([]chat.Part(nil), c.chips...) }

// Empty reports that nothing was written and nothing attached.
func (c *Composer) Empty() bool { return c.buf.s == "" && len(c.chips) == 0 }

// SetText replaces the text.
func (c *Composer) SetText(s string) {
	c.buf.Set(strings.TrimRight(cleanInput(s), "\n"))
	c.popup.close()
}

// Clear empties the field, chips included.
func (c *Composer) Clear() {
	c.buf.Set("")
	c.chips, c.named, c.pos, c.draft, c.scroll = nil, nil, len(c.history), Prompt{}, 0
	c.popup.close()
}

// Prompt is what was sent before: its text, and the chips that stood over it.
type Prompt struct {
	Text  string      `json:"text"`
	Parts []chat.Part `json:"parts,omitempty"`
}

func (p Prompt) same(q Prompt) bool {
	return p.Text == q.Text && slices.EqualFunc(p.Parts, q.Parts, func(a, b chat.Part) bool { return a.Name == b.Name && a.Text == b.Text && a.Blob == b.Blob })
}

// Draft is what stood in a composer.
type Draft struct {
	text  string
	chips []chat.Part
}

// Stash empties the field and returns what stood there.
func (c *Composer) Stash() Draft {
	d := Draft{c.buf.s, c.chips}
	c.Clear()
	return d
}

// Restore puts a draft back in place of what stands there.
func (c *Composer) Restore(d Draft) {
	c.Clear()
	c.buf.Set(d.text)
	c.chips = d.chips
}

// Recalling reports that an older prompt stands in the field.
func (c *Composer) Recalling() bool { return c.pos != len(c.history) }

// Recalled reports that what stands in the field is an older prompt as it was: the keys up and down
// go on through the history.
func (c *Composer) Recalled() bool { return c.Recalling() && c.buf.s == c.history[c.pos].Text }

// SetHistory sets what was written before, oldest first.
func (c *Composer) SetHistory(h []Prompt) {
	if len(h) > maxHistory {
		h = h[len(h)-maxHistory:]
	}
	c.history = append([]Prompt(nil), h...)
	c.pos = len(c.history)
}

// Remember puts a sent prompt into the history and reports whether it is worth keeping.
func (c *Composer) Remember(s Prompt) bool {
	c.pos = len(c.history)
	if strings.TrimSpace(s.Text) == "" && len(s.Parts) == 0 || len(c.history) > 0 && c.history[len(c.history)-1].same(s) {
		return false
	}
	if c.history = append(c.history, s); len(c.history) > maxHistory {
		c.history = c.history[1:]
	}
	c.pos = len(c.history)
	return true
}

// Name sets what the text names and would attach, in words: it stands beside the chips.
func (c *Composer) Name(what []string) { c.named = what }

// Attach adds a chip.
func (c *Composer) Attach(a chat.Part) { c.chips = append(c.chips, a) }

// Key handles a key.
func (c *Composer) Key(k tea.KeyMsg) Result {
	if k.Paste {
		return c.pasteText(string(k.Runes))
	}
	if k.Type == tea.KeyRunes && !k.Alt {
		return c.typeText(string(k.Runes))
	}
	if c.popup.open() {
		if r := c.popupKey(k.String()); r != Ignored {
			return r
		}
	}
	return c.runCommand(k.String())
}

func (c *Composer) typeText(s string) Result {
	if mouseReport(s) {
		return Ignored
	}
	c.buf.Insert(cleanInput(s))
	return Changed
}

// mouseReport recognises mouse reports that a stalled terminal let through as text: "[<64;10;5M".
func mouseReport(s string) bool {
	return len(s) >= 6 && strings.Contains(s, "[<") && strings.Trim(s, "[<;0123456789Mm\x1b") == ""
}

func (c *Composer) pasteText(s string) Result {
	if s = cleanInput(s); s == "" {
		return Ignored
	}
	lines := strings.Count(strings.TrimRight(s, "\n"), "\n") + 1
	if (c.PasteLines == 0 || lines <= c.PasteLines) && (c.PasteRunes == 0 || utf8.RuneCountInString(s) <= c.PasteRunes) {
		c.buf.Insert(s)
		return Changed
	}
	c.pastes++
	name := fmt.Sprintf("paste %d: %d lines", c.pastes, lines)
	if lines == 1 {
		name = fmt.Sprintf("paste %d: %d characters", c.pastes, utf8.RuneCountInString(s))
	}
	c.Attach(chat.Part{Kind: chat.PartPaste, Name: name, Media: "text/plain", Text: s})
	return Changed
}

// edits are the keys that only change the text or move in it.
var edits = map[string]func(*Buffer){
	"left": (*Buffer).Left, "ctrl+b": (*Buffer).Left, "right": (*Buffer).Right, "ctrl+f": (*Buffer).Right,
	"home": (*Buffer).Home, "ctrl+a": (*Buffer).Home, "end": (*Buffer).End, "ctrl+e": (*Buffer).End,
	"alt+b": (*Buffer).WordLeft, "alt+left": (*Buffer).WordLeft, "ctrl+left": (*Buffer).WordLeft,
	"alt+f": (*Buffer).WordRight, "alt+right": (*Buffer).WordRight, "ctrl+right": (*Buffer).WordRight,
	"delete": (*Buffer).Delete, "ctrl+w": (*Buffer).KillWord, "alt+backspace": (*Buffer).KillWord, "ctrl+k": (*Buffer).KillToEnd,
	"alt+enter": insertNewline, "ctrl+j": insertNewline, "shift+enter": insertNewline,
	" ": func(b *Buffer) { b.Insert(" ") },
}

func insertNewline(b *Buffer) { b.Insert("\n") }

func (c *Composer) runCommand(key string) Result {
	if f := edits[key]; f != nil {
		f(&c.buf)
		return Changed
	}
	switch key {
	case "enter":
		return c.handleEnter()
	case "backspace", "ctrl+h":
		if c.buf.s == "" && len(c.chips) > 0 {
			c.chips = c.chips[:len(c.chips)-1]
		}
		c.buf.Backspace()
	case "ctrl+d":
		if c.buf.at == len(c.buf.s) {
			return Ignored
		}
		c.buf.Delete()
	case "ctrl+u":
		c.Clear()
	case "up":
		if !c.buf.Vertical(-1, c.innerWidth()) {
			return c.recallPrompt(-1)
		}
	case "down":
		if !c.buf.Vertical(1, c.innerWidth()) {
			return c.recallPrompt(1)
		}
	default:
		return Ignored
	}
	return Changed
}

// handleEnter sends, or breaks the line after a trailing backslash.
func (c *Composer) handleEnter() Result {
	if s := c.buf.s; strings.HasSuffix(s, `\`) && !strings.HasSuffix(s, `\\`) && c.buf.at == len(s) {
		c.buf.Replace(len(s)-1, len(s), "\n")
		return Changed
	}
	if strings.TrimSpace(c.buf.s) == "" && len(c.chips) == 0 {
		return Changed
	}
	return Submit
}

// recallPrompt shows an older or newer prompt; what was being written comes back at the end.
func (c *Composer) recallPrompt(delta int) Result {
	if p := c.pos + delta; p >= 0 && p <= len(c.history) {
		c.showPrompt(p)
	}
	return Changed
}

// showPrompt shows what stands at a place of the history, or the draft behind it.
func (c *Composer) showPrompt(place int) {
	if c.pos == len(c.history) {
		c.draft = Prompt{c.buf.s, c.chips}
	}
	show := c.draft
	if c.pos = place; place < len(c.history) {
		show = c.history[place]
	}
	c.buf.Set(show.Text)
	c.chips = slices.Clone(show.Parts)
}

// HasHistory reports that something was sent before.
func (c *Composer) HasHistory() bool { return len(c.history) > 0 }

// History is what was sent before, the newest first, each once.
func (c *Composer) History() (out []Prompt) {
	for _, p := range slices.Backward(c.history) {
		if !slices.ContainsFunc(out, p.same) {
			out = append(out, p)
		}
	}
	return out
}

// Recall shows a prompt of the history in place of what stands there, which comes back behind the
// newest one.
func (c *Composer) Recall(p Prompt) {
	for i, q := range slices.Backward(c.history) {
		if p.same(q) {
			c.popup.close()
			c.showPrompt(i)
			return
		}
	}
}
