package ui

import (
	"context"
	"encoding/base64"
	"fmt"
	"os/exec"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/text"
)

// copied is the end of a copy.
type copied struct {
	level      event.Level
	text, hint string
}

// maxOSC52 is what terminals take through OSC 52: many stop at 100,000 bytes of base64.
const maxOSC52 = 74_000

// copyText copies by OSC 52, which no terminal confirms, and by the system's own tool, which says
// whether it worked.
func (f *frame) copyText(msg CopyText) tea.Cmd {
	what := msg.What
	if what == "" {
		what = "text"
	}
	if msg.Text == "" {
		return f.showToast(event.Info, "there is nothing to copy", "")
	}
	clean := text.Sanitize(msg.Text)
	sent := len(clean) <= maxOSC52
	if sent {
		sent = f.screen.Write(clipboardSequence(f.opt.Getenv, clean)) == nil
	}
	return func() tea.Msg {
		done := f.opt.nativeCopy(what, clean, sent)
		if done.hint == "" {
			done.hint = msg.Hint
		}
		return from{nil, done}
	}
}

// clipboardSequence is the sequence that fills the clipboard; tmux passes it on when wrapped, for
// those who allow it.
func clipboardSequence(getenv func(string) string, s string) string {
	seq := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(s)) + "\a"
	if getenv("TMUX") != "" {
		return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return seq
}

// clipboardTools are the native clipboards, with the variable that must be set for each to make
// sense.
var clipboardTools = []struct {
	env  string
	argv []string
}{
	{"WAYLAND_DISPLAY", []string{"wl-copy"}},
	{"DISPLAY", []string{"xclip", "-selection", "clipboard"}},
	{"DISPLAY", []string{"xsel", "--clipboard", "--input"}},
	{"", []string{"pbcopy"}},
	{"TMUX", []string{"tmux", "load-buffer", "-w", "-"}}, // its buffer, and the terminal's clipboard
}

func (o Options) nativeCopy(what, s string, sent bool) copied {
	for _, t := range clipboardTools {
		if t.env != "" && o.Getenv(t.env) == "" {
			continue
		}
		if _, err := exec.LookPath(t.argv[0]); err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		cmd := o.Command(ctx, t.argv[0], t.argv[1:]...)
		cmd.Stdin = strings.NewReader(s)
		cmd.WaitDelay = time.Second
		if err := cmd.Run(); err != nil {
			return copied{event.Warn, fmt.Sprintf("%s failed: %v", t.argv[0], err), osc52Hint(sent)}
		}
		return copied{event.Info, fmt.Sprintf("copied %s (%d characters)", what, len([]rune(s))), ""}
	}
	if sent {
		return copied{event.Info, "sent " + what + " to the terminal's clipboard (OSC 52)", "if it does not arrive: shift+drag, or install wl-copy or xclip"}
	}
	return copied{event.Warn, "not copied: too long for the terminal, and no clipboard tool is installed", "install wl-copy, xclip or xsel"}
}

func osc52Hint(sent bool) string {
	if sent {
		return "it was also sent to the terminal (OSC 52)"
	}
	return ""
}
