package ui_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"
	"go.uber.org/goleak"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/ui"
	"hermes/ui/uitest/vt"
)

const childMode = "HERMES_UI_TEST_CHILD"

// patience is how long a loaded machine may take for something that is not measured.
const patience = testwait.Hang

// TestMain is also the program that the tests below start on a real pseudo-terminal.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childMode); dir != "" {
		os.Exit(child(dir))
	}
	// teatest leaves its signal watcher behind.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/charmbracelet/x/exp/teatest.NewTestModel.func2"))
}

func child(dir string) int {
	crash.SetDir(dir)
	tb := &testing.B{}
	opt, _ := options(tb)
	if os.Getenv("COLORTERM") != "" {
		opt.Level = nil
	}
	opt.Actions = []ui.Action{
		{ID: "edit", Keys: []string{"ctrl+e"}, Title: "Edit", Run: func(string) tea.Cmd {
			return func() tea.Msg {
				return ui.EditText{Text: "before", Done: func(s string, err error) tea.Msg {
					return ui.ShowToast{Level: event.Info, Text: fmt.Sprintf("edited: %s %v", s, err)}
				}}
			}
		}},
		{ID: "panic", Keys: []string{"ctrl+g"}, Title: "Panic", Run: func(string) tea.Cmd { panic("on purpose") }},
		{ID: "flood", Keys: []string{"ctrl+f"}, Title: "Flood", Run: func(string) tea.Cmd {
			crash.Go("flood", func() {
				for i := 0; ; i++ {
					opt.Bus.Publish(event.Header{Session: "s1"}, event.TextDelta{MessageID: int64(i), Text: strings.Repeat(fmt.Sprint(i%10), 60)})
					time.Sleep(time.Millisecond)
				}
			})
			return nil
		}},
	}
	if err := ui.New(opt).Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// real is the program on a pseudo-terminal, read by a terminal in memory.
type real struct {
	t    *testing.T
	term *vt.Terminal
	pty  *os.File
	cmd  *exec.Cmd
	hold chan struct{} // closed: nobody reads the terminal any more
	held chan struct{}
}

func startReal(t *testing.T, env ...string) *real {
	t.Helper()
	return startCommand(t, exec.Command(os.Args[0]), env...)
}

func startCommand(t *testing.T, cmd *exec.Cmd, env ...string) *real {
	t.Helper()
	cmd.Env = append(os.Environ(), append([]string{"COLORTERM=", childMode + "=" + t.TempDir(), "TERM=xterm-256color", "LANG=C.UTF-8"}, env...)...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatalf("no pseudo-terminal: %v", err)
	}
	r := &real{t: t, term: vt.New(120, 40), pty: f, cmd: cmd, hold: make(chan struct{}), held: make(chan struct{})}
	go r.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = f.Close()
		<-r.held
	})
	return r
}

func (r *real) read() {
	defer close(r.held)
	buf := make([]byte, 4096)
	for {
		select {
		case <-r.hold:
			return
		default:
		}
		n, err := r.pty.Read(buf)
		if err != nil {
			return
		}
		_, _ = r.term.Write(buf[:n])
	}
}

func (r *real) wait(part string) {
	r.t.Helper()
	r.until(part, func() bool { return strings.Contains(r.term.Text(), part) })
}

func (r *real) until(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		changed := r.term.Changed()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("never saw %s:\n%s", what, r.term.Text())
		}
	}
}

func (r *real) key(s string) {
	r.t.Helper()
	if _, err := r.pty.WriteString(s); err != nil {
		r.t.Fatal(err)
	}
}

// exit waits for the end of the process and returns its code.
func (r *real) exit(within time.Duration) int {
	r.t.Helper()
	done := make(chan int, 1)
	go func() {
		_ = r.cmd.Wait()
		done <- r.cmd.ProcessState.ExitCode()
	}()
	select {
	case code := <-done:
		return code
	case <-time.After(within):
		_ = r.cmd.Process.Kill()
		<-done
		r.t.Fatalf("the program did not end within %v", within)
		return -1
	}
}

func (r *real) restored() {
	r.t.Helper()
	r.until("the restored terminal", func() bool { return !r.term.Mode("1049") && r.term.Mode("25") })
	for _, m := range []string{"1002", "1006", "2004", "1004"} {
		if r.term.Mode(m) {
			r.t.Errorf("mode %s stayed on", m)
		}
	}
}

func TestResize(t *testing.T) {
	r := startReal(t)
	r.wait("2 conversation:s1")
	r.term.Resize(80, 24)
	if err := pty.Setsize(r.pty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	r.wait("1 Sessions │[2 Chat]")
	r.key("\x03\x03")
	if code := r.exit(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.restored()
}

// A light terminal says so while somebody types: the theme becomes a light one, and no key is lost.
func TestALightTerminalGetsALightTheme(t *testing.T) {
	r := startReal(t, "COLORFGBG=", "NO_COLOR=", "COLORTERM=truecolor")
	r.wait("ready")
	dark := r.term.Rows()[0][0]
	r.key("ab\x1b]11;rgb:ffff/ffff/ffff\x07c")
	r.wait("abc")
	r.until("another colour of the border", func() bool { return r.term.Rows()[0][0] != dark })
}

func TestEditorBorrowsTheTerminal(t *testing.T) {
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nprintf 'in the editor'\nread answer\nprintf '%s' \"$answer\" > \"$1\"\n"), 0o700); err != nil { //nolint:gosec // a script must be executable
		t.Fatal(err)
	}
	r := startReal(t, "VISUAL="+editor)
	r.wait("ready")
	r.key("\x05")
	r.wait("in the editor")
	if r.term.Mode("1049") || r.term.Mode("1006") {
		t.Error("the editor runs under our modes")
	}
	r.key("typed there\n")
	r.wait("edited: typed there")
	if !r.term.Mode("1006") || !r.term.Mode("1002") || !r.term.Mode("2004") {
		t.Error("the mouse or paste did not come back")
	}
	r.key("x")
	r.wait("❯ x")
}

func TestSigtermGivesTheTerminalBack(t *testing.T) {
	r := startReal(t)
	r.wait("ready")
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := r.exit(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.restored()
}

func TestPanicGivesTheTerminalBack(t *testing.T) {
	r := startReal(t)
	r.wait("ready")
	r.key("\x07")
	if code := r.exit(patience); code != 2 {
		t.Errorf("exit code %d", code)
	}
	r.restored()
}

func TestSuspendAndResume(t *testing.T) {
	// A shell with job control, so that there is somebody to go back to.
	r := startCommand(t, exec.Command("sh", "-c", `set -m; "$0"; echo back in the shell; read x; fg`, os.Args[0]))
	r.wait("ready")
	r.key("\x1a")
	r.wait("back in the shell")
	r.restored()
	r.key("\n")
	r.until("the screen again", func() bool { return r.term.Mode("1049") && r.term.Mode("1006") })
	r.key("y")
	r.wait("❯ y")
	r.key("\x03\x03")
	r.exit(patience)
}

func TestSuspendWithoutAShellComesBack(t *testing.T) {
	r := startReal(t)
	r.wait("ready")
	r.key("\x1a")
	r.restored()
	r.until("the screen again", func() bool { return r.term.Mode("1049") && r.term.Mode("1006") })
	r.key("y")
	r.wait("❯ y")
}
