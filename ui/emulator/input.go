package emulator

import (
	"fmt"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// modes are those of the program that change what keys and the mouse send.
type modes struct {
	cursorKeys bool // arrows send SS3
	paste      bool // pastes come in brackets
	click      bool // the mouse is wanted: clicks and the wheel
	drag       bool // and motion while a button is held
	sgr        bool // in the form that has no limits
}

func (t *Terminal) setMode(m ansi.Mode, on bool) {
	switch m {
	case ansi.ModeCursorKeys:
		t.modes.cursorKeys = on
	case ansi.ModeBracketedPaste:
		t.modes.paste = on
	case ansi.ModeMouseNormal:
		t.modes.click = on
	case ansi.ModeMouseButtonEvent, ansi.ModeMouseAnyEvent:
		t.modes.click, t.modes.drag = on, on
	case ansi.ModeMouseExtSgr:
		t.modes.sgr = on
	}
}

// Key is what a terminal sends for a key; nothing for keys that terminals have no bytes for.
func (t *Terminal) Key(k tea.KeyMsg) []byte {
	t.mu.Lock()
	m := t.modes
	t.mu.Unlock()
	switch {
	case k.Paste:
		return pasteSequence(string(k.Runes), m.paste)
	case k.Type == tea.KeyRunes:
		return withAlt(k.Alt, string(k.Runes))
	case k.Type == tea.KeySpace:
		return withAlt(k.Alt, " ")
	case k.Type >= 0: // the control characters are their own numbers
		return withAlt(k.Alt, string(rune(k.Type)))
	}
	e, ok := specialKey(k.Type)
	if !ok {
		return nil
	}
	if k.Alt {
		e.mod += 2
	}
	return []byte(e.keySequence(m.cursorKeys))
}

func withAlt(on bool, s string) []byte {
	if on {
		s = "\x1b" + s
	}
	return []byte(s)
}

// pasteSequence is text from the clipboard without what would be keys: an end of the brackets
// inside of it would make commands of the rest, and ctrl+c of a page is not the person's.
func pasteSequence(s string, brackets bool) []byte {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\r' && r != '\t' {
			return -1
		}
		return r
	}, strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(s))
	if !brackets {
		return []byte(s)
	}
	return []byte(ansi.BracketedPasteStart + s + ansi.BracketedPasteEnd)
}

// encoded is how xterm writes a key: a letter ("A") or a number ("5~"), and the modifiers: 1 shift,
// 2 alt, 4 ctrl.
type encoded struct {
	final string
	mod   int
}

func (e encoded) keySequence(application bool) string {
	letter := len(e.final) == 1
	switch {
	case e.final == "Z":
		return "\x1b[Z"
	case letter && e.mod > 0:
		return fmt.Sprintf("\x1b[1;%d%s", e.mod+1, e.final)
	case letter && (e.final >= "P" && e.final <= "S" || application):
		return "\x1bO" + e.final
	case letter:
		return "\x1b[" + e.final
	case e.mod > 0:
		return fmt.Sprintf("\x1b[%s;%d~", e.final[:len(e.final)-1], e.mod+1)
	default:
		return "\x1b[" + e.final
	}
}

// specialKey lists the keys that are sequences.
func specialKey(k tea.KeyType) (encoded, bool) {
	if k <= tea.KeyF1 && k > tea.KeyF1-20 {
		return encoded{final: [...]string{
			"P", "Q", "R", "S", "15~", "17~", "18~", "19~", "20~", "21~", "23~", "24~",
			"25~", "26~", "28~", "29~", "31~", "32~", "33~", "34~",
		}[tea.KeyF1-k]}, true
	}
	e, ok := map[tea.KeyType]encoded{
		tea.KeyUp: {"A", 0}, tea.KeyDown: {"B", 0}, tea.KeyRight: {"C", 0}, tea.KeyLeft: {"D", 0}, tea.KeyHome: {"H", 0}, tea.KeyEnd: {"F", 0},
		tea.KeyShiftUp: {"A", 1}, tea.KeyShiftDown: {"B", 1}, tea.KeyShiftRight: {"C", 1}, tea.KeyShiftLeft: {"D", 1}, tea.KeyShiftHome: {"H", 1}, tea.KeyShiftEnd: {"F", 1},
		tea.KeyCtrlUp: {"A", 4}, tea.KeyCtrlDown: {"B", 4}, tea.KeyCtrlRight: {"C", 4}, tea.KeyCtrlLeft: {"D", 4}, tea.KeyCtrlHome: {"H", 4}, tea.KeyCtrlEnd: {"F", 4},
		tea.KeyCtrlShiftUp: {"A", 5}, tea.KeyCtrlShiftDown: {"B", 5}, tea.KeyCtrlShiftRight: {"C", 5}, tea.KeyCtrlShiftLeft: {"D", 5},
		tea.KeyCtrlShiftHome: {"H", 5}, tea.KeyCtrlShiftEnd: {"F", 5},
		tea.KeyInsert: {"2~", 0}, tea.KeyDelete: {"3~", 0}, tea.KeyPgUp: {"5~", 0}, tea.KeyPgDown: {"6~", 0},
		tea.KeyCtrlPgUp: {"5~", 4}, tea.KeyCtrlPgDown: {"6~", 4}, tea.KeyShiftTab: {"Z", 0},
	}[k]
	return e, ok
}

// Mouse is what a program that wants the mouse gets of it; nothing for one that does not. Positions
// are those in the terminal.
func (t *Terminal) Mouse(m tea.MouseMsg) []byte {
	t.mu.Lock()
	want, w, h := t.modes, t.w, t.h
	t.mu.Unlock()
	button, ok := mouseButtons()[m.Button]
	motion := m.Action == tea.MouseActionMotion
	if !want.click || !ok || motion && !want.drag || m.X < 0 || m.Y < 0 || m.X >= w || m.Y >= h {
		return nil
	}
	for on, bit := range map[*bool]int{&m.Shift: 4, &m.Alt: 8, &m.Ctrl: 16, &motion: 32} {
		if *on {
			button |= bit
		}
	}
	release := m.Action == tea.MouseActionRelease
	switch {
	case want.sgr && release:
		return fmt.Appendf(nil, "\x1b[<%d;%d;%dm", button, m.X+1, m.Y+1)
	case want.sgr:
		return fmt.Appendf(nil, "\x1b[<%d;%d;%dM", button, m.X+1, m.Y+1)
	case m.X > 222 || m.Y > 222:
		return nil // the old form has no bytes for it
	case release:
		button |= 3
	}
	return []byte{0x1b, '[', 'M', byte(32 + button), byte(33 + m.X), byte(33 + m.Y)}
}

func mouseButtons() map[tea.MouseButton]int {
	return map[tea.MouseButton]int{
		tea.MouseButtonLeft: 0, tea.MouseButtonMiddle: 1, tea.MouseButtonRight: 2, tea.MouseButtonWheelUp: 64, tea.MouseButtonWheelDown: 65,
	}
}
