package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = testwait.Hang

// program is a real process in a real pty.
type program struct {
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{}
}

func (p *program) Write(data []byte) error { _, err := p.tty.Write(data); return err }
func (p *program) Resize(w, h int) error {
	return pty.Setsize(p.tty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
}
func (p *program) Wait()     { <-p.done }
func (p *program) Exit() int { return p.cmd.ProcessState.ExitCode() }

// Kill ends the whole session: a command that the shell was just starting is in no group yet that
// hears of the end, and would keep the terminal.
func (p *program) Kill(context.Context) error {
	for {
		_ = exec.Command("pkill", "-KILL", "-s", strconv.Itoa(p.cmd.Process.Pid)).Run()
		_ = p.cmd.Process.Kill()
		select {
		case <-p.done:
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// runs makes Start of a command.
func runs(t testing.TB, args ...string) func(context.Context, string, string, int, int, func(event.Stream, []byte)) (Process, error) {
	return func(_ context.Context, _, _ string, w, h int, sink func(event.Stream, []byte)) (Process, error) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color", "PS1=$ ", "HISTFILE=/dev/null", "ENV=", "LINES=", "COLUMNS=")
		cmd.Dir = t.TempDir()
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
		if err != nil {
			return nil, err
		}
		p := &program{cmd, tty, make(chan struct{})}
		go func() {
			buf := make([]byte, 64<<10)
			for {
				n, err := tty.Read(buf)
				if n > 0 {
					sink(event.PTY, buf[:n])
				}
				if err != nil {
					break
				}
			}
			_ = cmd.Wait()
			_ = tty.Close()
			close(p.done)
		}()
		return p, nil
	}
}

// stage is a pane with what a frame does for it.
type stage struct {
	*Pane
	t       testing.TB
	changes chan string
}

func staged(t testing.TB, w, h int, start func(context.Context, string, string, int, int, func(event.Stream, []byte)) (Process, error)) *stage {
	t.Helper()
	changes := make(chan string, 1)
	p := New(Deps{Start: start, Changed: func(id string) {
		select {
		case changes <- id:
		default:
		}
	}}, "s", "analytics")
	p.Restyle(uitest.Styles(t, style.None))
	s := &stage{p, t, changes}
	t.Cleanup(func() {
		if p.link != nil {
			_ = p.link.killShell(context.Background())
			p.link.stopGoroutines()
		}
	})
	p.Resize(w, h)
	p.Focus(true)
	uitest.Pump(p, p.Wake())
	return s
}

// until applies changes until the picture is as wanted.
func (s *stage) until(what string, want func(picture string) bool) string {
	s.t.Helper()
	late := time.After(patience)
	for {
		view := s.View()
		uitest.CheckBlock(s.t, view, s.w, s.h)
		picture := text.Sanitize(view)
		if want(picture) {
			return picture
		}
		select {
		case id := <-s.changes:
			s.Apply(uitest.Envelopes(event.Header{}, event.TerminalChanged{ID: id}))
		case <-late:
			s.t.Fatalf("%s never came:\n%s", what, picture)
		}
	}
}

func (s *stage) shows(part string) string {
	s.t.Helper()
	return s.until(part, func(p string) bool { return strings.Contains(p, part) })
}

func (s *stage) types(line string) {
	for _, r := range line {
		if r == '\n' {
			s.Update(tea.KeyMsg{Type: tea.KeyEnter})
			continue
		}
		s.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
}

func (s *stage) do(id string) []tea.Msg {
	s.t.Helper()
	for _, a := range s.Actions() {
		if a.ID == id {
			if a.Why != nil && a.Why() != "" {
				s.t.Fatalf("%s: %s", id, a.Why())
			}
			return uitest.Pump(s.Pane, a.Run(""))
		}
	}
	s.t.Fatalf("there is no action %s", id)
	return nil
}

func TestTypeReadResizeAndExit(t *testing.T) {
	s := staged(t, 60, 10, runs(t, "sh"))
	s.shows("$ ")
	if s.Grabs() != escape || !s.Typing() {
		t.Error("the shell does not have the keys")
	}
	s.types("echo he''llo\n")
	s.shows("\nhello")
	s.Resize(50, 7)
	uitest.Pump(s.Pane, s.Wake())
	s.types("stty size\n")
	s.until("the prompt again", func(p string) bool {
		return strings.Contains(p, "7 50") && strings.HasSuffix(strings.TrimRight(p, " \n"), "$")
	})
	if x, y, ok := s.Cursor(); !ok || x != 2 || y == 0 {
		t.Errorf("the cursor stands at %d,%d, %v", x, y, ok)
	}
	s.types("exit\n")
	s.until("the end", func(string) bool { return s.hasEnded() })
	if msgs := uitest.Pump(s.Pane, s.Wake()); len(msgs) != 1 || msgs[0] != (ui.ClosePane{Pane: s.ID()}) {
		t.Errorf("after exit it asks %v", msgs)
	}
}

func TestInterruptReachesTheProgramAndFloodsEndSoon(t *testing.T) {
	s := staged(t, 60, 10, runs(t, "sh"))
	s.shows("$ ")
	s.types("yes flood\n")
	s.shows("\nflood") // of the program: before that ctrl+c may still be the shell's, which starts it all the same
	for range 50 {     // it goes on; each picture is there at once
		begin := time.Now()
		s.memoOK = false
		s.View()
		if d := time.Since(begin); d > testwait.Within(2*time.Second) {
			t.Fatalf("a picture takes %v", d)
		}
	}
	begin := time.Now()
	s.Update(tea.KeyMsg{Type: tea.KeyCtrlC})
	s.types("echo do''ne\n")
	s.shows("done")
	t.Logf("ctrl+c was obeyed on the screen after %v", time.Since(begin))
}

func TestFullScreenProgram(t *testing.T) {
	if _, err := exec.LookPath("busybox"); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
			t.Fatal("busybox is needed for vi")
		}
		t.Skip("no busybox here, and so no vi")
	}
	s := staged(t, 40, 8, runs(t, "sh"))
	s.shows("$ ")
	s.types("echo before; busybox vi new.txt\n")
	s.shows("new.txt")
	s.shows("~")
	s.types("ihello from vi")
	s.shows("hello from vi")
	s.Update(tea.KeyMsg{Type: tea.KeyEsc})
	s.shows("- new.txt") // it waits a moment whether the escape is the begin of something longer
	s.types(":wq\n")
	s.until("the shell again", func(p string) bool { return strings.Contains(p, "$ ") && !s.link.term.Alternate() })
	s.types("cat new.txt | tr a-z A-Z\n")
	s.shows("HELLO FROM VI")
}

func TestTheOneChordLeavesAndComesBack(t *testing.T) {
	s := staged(t, 40, 5, runs(t, "sh"))
	s.shows("$ ")
	s.types("for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done\n")
	s.shows("line 9")
	s.do(escape)
	if s.Grabs() != "" || s.Typing() {
		t.Fatal("the shell still has the keys")
	}
	s.do("shell.pageup")
	if got := text.Sanitize(s.View()); strings.Contains(got, "line 9") || !strings.Contains(s.Title().Right, "lines up") {
		t.Errorf("the history shows:\n%s", got)
	}
	s.do("shell.type")
	if s.back != 0 || s.Grabs() == "" {
		t.Error("typing again shows the end")
	}
	s.types("cat -v\n")
	s.do(escape)
	s.do(escape) // twice: the key itself
	s.types("\n")
	s.shows("^]")
}

func TestClosingAsksWhileItRuns(t *testing.T) {
	s := staged(t, 40, 5, runs(t, "sh"))
	s.shows("$ ")
	s.do(escape)
	for _, a := range s.Actions() {
		if a.ID == "shell.close" && (!a.Dangerous || !strings.Contains(a.Help, "ends")) {
			t.Errorf("closing: dangerous %v, %q", a.Dangerous, a.Help)
		}
	}
	if msgs := s.do("shell.close"); len(msgs) != 1 || msgs[0] != (ui.ClosePane{Pane: s.ID()}) {
		t.Errorf("asks %v", msgs)
	}
	s.until("the end", func(string) bool { return s.hasEnded() })
}

func TestAShellThatFailsAtOnceSaysWhy(t *testing.T) {
	s := staged(t, 60, 5, runs(t, "sh", "-c", "echo no such thing; exit 127"))
	s.shows("no such thing")
	s.until("the end", func(string) bool { return s.hasEnded() })
	if s.Wake() != nil || s.Title().Right != "exit 127" {
		t.Errorf("it is gone, or says %q", s.Title().Right)
	}
	f := staged(t, 60, 5, func(context.Context, string, string, int, int, func(event.Stream, []byte)) (Process, error) {
		return nil, errors.New("backend 'old' is not available: no such image")
	})
	if got := f.View(); !strings.Contains(got, "no such image") || f.Grabs() != "" {
		t.Errorf("shows:\n%s", got)
	}
}

// still is a process that prints nothing.
type still struct{ end chan struct{} }

func (s still) Write([]byte) error         { return nil }
func (s still) Resize(int, int) error      { return nil }
func (s still) Wait()                      { <-s.end }
func (s still) Exit() int                  { return 0 }
func (s still) Kill(context.Context) error { return nil }

func TestGolden(t *testing.T) {
	for _, size := range uitest.Sizes() {
		for level, colour := range map[style.Level]string{style.True: "colour", style.None: "plain"} {
			name := fmt.Sprintf("colours-%s-%dx%d", colour, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				var sink func(event.Stream, []byte)
				end := make(chan struct{})
				s := staged(t, size.W, size.H, func(_ context.Context, _, _ string, _, _ int, to func(event.Stream, []byte)) (Process, error) {
					sink = to
					return still{end}, nil
				})
				defer close(end)
				sink(event.Note, []byte("[backend 'x' not found: default runs it]\n"))
				sink(event.PTY, []byte("\x1b]0;evil\a\x1b[1;32muser@box\x1b[0m:\x1b[38;5;208m~\x1b[0m$ ls\r\n\x1b[38;2;10;200;90m网络\x1b[0m  \x1b[7m👨‍👩‍👧 \x1b[0m\tfile\r\n$ last"))
				s.shows("last")
				s.Restyle(uitest.Styles(t, level))
				uitest.Golden(t, name, s.View())
			})
		}
	}
}

func TestAnyOutputKeepsTheShape(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLink(20, 5, func() {})
		defer l.stopGoroutines()
		p := New(Deps{}, "s", "x")
		p.Restyle(uitest.Styles(t, style.True))
		p.link = l
		p.Resize(20, 5)
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "resize") {
				p.Resize(rapid.IntRange(1, 80).Draw(rt, "w"), rapid.IntRange(1, 30).Draw(rt, "h"))
			}
			l.term.Write(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes"))
			p.scrollLines(rapid.IntRange(-5, 5).Draw(rt, "scroll"))
			if why := uitest.BlockProblem(p.View(), p.w, p.h); why != "" {
				rt.Fatal(why)
			}
			p.memoOK = false
		}
	})
}

func TestThinLosesPlainLinesOnly(t *testing.T) {
	plain := bytes.Repeat([]byte("y\n"), 1000)
	data := append(append(append([]byte{}, plain...), "\x1b[?1049l\x1b[31mred\n"...), plain...)
	kept, lines := thinFlood(data, 100)
	if len(kept) > 130 || !bytes.Contains(kept, []byte("\x1b[?1049l\x1b[31mred\n")) || lines < 1900 {
		t.Errorf("%d bytes kept, %d lines lost: %q", len(kept), lines, kept)
	}
	if kept, lines := thinFlood([]byte("no end of line at all"), 4); string(kept) != "no end of line at all" || lines != 0 {
		t.Errorf("%q, %d", kept, lines)
	}
}
