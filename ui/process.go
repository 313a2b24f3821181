package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// resumed says that the terminal is ours again after a process had it.
type resumed struct{ then tea.Cmd }

// lend gives the terminal to run and takes it back. bubbletea stops reading input meanwhile; the
// modes are ours.
type lend struct {
	f   *frame
	cmd *exec.Cmd // nil to suspend ourselves
}

func (l *lend) SetStdin(r io.Reader) {
	if l.cmd != nil && l.cmd.Stdin == nil {
		if w, ok := r.(*wholeKeys); ok { // a process wants the terminal itself, not a pipe from it
			r = w.File
		}
		l.cmd.Stdin = r
	}
}

func (l *lend) SetStdout(w io.Writer) {
	if l.cmd != nil && l.cmd.Stdout == nil {
		l.cmd.Stdout = w
	}
}

func (l *lend) SetStderr(w io.Writer) {
	if l.cmd != nil && l.cmd.Stderr == nil {
		l.cmd.Stderr = w
	}
}

// Run is called inside of the event loop, so it may use the screen.
func (l *lend) Run() error {
	l.f.terminal.lent.Store(true)
	defer l.f.terminal.lent.Store(false)
	err := l.f.terminal.giveBack(l.f.screen)
	if l.cmd != nil {
		err = errors.Join(err, l.cmd.Run())
	} else {
		stopSelf()
	}
	return errors.Join(err, l.f.terminal.takeOver(l.f.screen))
}

// runProcess lends the terminal to cmd; done's message is handled after the screen is ours again.
func (f *frame) runProcess(cmd *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
	return tea.Exec(&lend{f, cmd}, func(err error) tea.Msg {
		return resumed{func() tea.Msg { return done(err) }}
	})
}

// suspendToShell goes back to the shell until somebody brings us to the foreground.
func (f *frame) suspendToShell() tea.Cmd {
	return tea.Exec(&lend{f: f}, func(error) tea.Msg { return resumed{} })
}

// openEditor opens the person's editor on a text.
func (f *frame) openEditor(who Pane, msg EditText) tea.Cmd {
	editor := strings.Fields(f.opt.Getenv("VISUAL"))
	if len(editor) == 0 {
		editor = strings.Fields(f.opt.Getenv("EDITOR"))
	}
	if len(editor) == 0 {
		editor = []string{"vi"}
	}
	path, err := writeTemp(msg.Text, msg.Suffix)
	if err != nil {
		return func() tea.Msg { return from{who, msg.Done(msg.Text, err)} }
	}
	cmd := f.opt.Command(context.Background(), editor[0], append(editor[1:], path)...)
	return f.runProcess(cmd, func(err error) tea.Msg {
		text, readErr := readTemp(path)
		if err != nil {
			err = fmt.Errorf("%s: %w; set VISUAL or EDITOR to the editor that you want", editor[0], err)
		}
		return from{who, msg.Done(text, errors.Join(err, readErr))}
	})
}

func writeTemp(text, suffix string) (string, error) {
	file, err := os.CreateTemp("", "hermes-*"+suffix)
	if err != nil {
		return "", fmt.Errorf("a file for the editor: %w", err)
	}
	_, err = file.WriteString(text)
	return file.Name(), errors.Join(err, file.Close())
}

func readTemp(path string) (string, error) {
	data, err := os.ReadFile(path)
	return strings.TrimRight(string(data), "\n"), errors.Join(err, os.Remove(path))
}
