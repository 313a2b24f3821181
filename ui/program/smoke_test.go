package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tmux is a real terminal: a shell with job control in a pane of 120x40 cells.
type tmux struct {
	t      *testing.T
	h      *home
	socket string
	said   int // sentinels so far
}

func startTmux(t *testing.T) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
			t.Fatalf("%v: the smoke test needs it", err)
		}
		t.Skip("tmux is not here; HERMES_TEST_REQUIRE=1 makes this a failure")
	}
	dir, err := os.MkdirTemp("", "hermes") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	x := &tmux{t: t, h: newHome(t, ""), socket: filepath.Join(dir, "tmux")}
	t.Cleanup(func() {
		_, _ = x.try("kill-server")
		_ = os.RemoveAll(dir)
	})
	shell := []string{"cd", quote(x.h.work), "&&", "exec", "env", "-i"}
	for _, pair := range append(x.h.env(), "EDITOR="+editor(t), "TERM=screen-256color", "PS1=sh> ") {
		shell = append(shell, quote(pair))
	}
	x.do("-f", os.DevNull, "new-session", "-d", "-x", "120", "-y", "40", strings.Join(append(shell, "sh", "-i"), " "))
	x.shows("sh>")
	return x
}

// editor is a script that changes a file as a person with an editor would.
func editor(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "editor")
	script := "#!/bin/sh\nprintf '\\033[?1000l\\033[?1002l\\033[?1006l\\033[?2004l'\nprintf ' and in the editor' >> \"$1\"\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // a script must be executable
		t.Fatal(err)
	}
	return path
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (x *tmux) try(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	return string(out), err
}

func (x *tmux) do(args ...string) string {
	x.t.Helper()
	out, err := x.try(args...)
	if err != nil {
		x.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

func (x *tmux) picture() string { return x.do("capture-pane", "-p") }

func (x *tmux) shows(part string) {
	x.t.Helper()
	x.until(part, func(p string) bool { return strings.Contains(p, part) })
}

func (x *tmux) until(what string, ok func(picture string) bool) {
	x.t.Helper()
	for deadline := time.Now().Add(patience); !ok(x.picture()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("the terminal never showed %s:\n%s", what, x.picture())
		}
	}
}

func (x *tmux) typed(text string) { x.do("send-keys", "-l", text) }
func (x *tmux) keys(keys ...string) {
	x.do(append([]string{"send-keys"}, keys...)...)
}

// shell runs a line in the shell once that waits for one, and returns its exit code.
func (x *tmux) shell(line string) string {
	x.t.Helper()
	x.until("a prompt", func(p string) bool { return strings.HasSuffix(strings.TrimSpace(p), "sh>") })
	x.said++
	mark := fmt.Sprintf("[%d:", x.said)
	x.typed(line + "; echo " + quote(mark) + "$?]")
	x.keys("Enter")
	return x.sentinel(mark)
}

// sentinel waits for what shell prints and returns the code in it.
func (x *tmux) sentinel(mark string) string {
	x.t.Helper()
	code := ""
	x.until("the end of the command", func(p string) bool {
		for _, row := range strings.Split(p, "\n") {
			if rest, ok := strings.CutPrefix(row, mark); ok {
				code = strings.TrimRight(rest, "] ")
				return true
			}
		}
		return false
	})
	return code
}

// modes are alternate screen, mouse reports and their form, as the terminal has them.
func (x *tmux) modes() string {
	return strings.TrimSpace(x.do("display-message", "-p", "#{alternate_on}#{mouse_button_flag}#{mouse_sgr_flag}"))
}

func (x *tmux) wantModes(want, when string) {
	x.t.Helper()
	x.until("the modes "+want+" "+when, func(string) bool { return x.modes() == want })
}

// open starts the program from the shell and returns what its end will print, and its process.
func (x *tmux) open() (mark string, process int) {
	x.t.Helper()
	return x.openUntil("asks for risky things")
}

// openUntil is open at a level that the status row says in other words.
func (x *tmux) openUntil(level string) (mark string, process int) {
	x.t.Helper()
	x.shell("stty -g > before; clear")
	_ = os.Remove(filepath.Join(x.h.work, "pid"))
	x.said++
	mark = fmt.Sprintf("[%d:", x.said)
	x.typed(`sh -c 'echo $$ > pid; exec hermes'; echo ` + quote(mark) + "$?]")
	x.keys("Enter")
	x.shows(level)
	pid, err := os.ReadFile(filepath.Join(x.h.work, "pid"))
	if err == nil {
		process, err = strconv.Atoi(strings.TrimSpace(string(pid)))
	}
	if err != nil {
		x.t.Fatal(err)
	}
	return mark, process
}

// sane fails unless the terminal is as it was before open.
func (x *tmux) sane(when string) {
	x.t.Helper()
	x.wantModes("000", when)
	if code := x.shell("stty -g | cmp - before"); code != "0" {
		x.t.Errorf("%s the terminal's settings are not what they were:\n%s", when, x.picture())
	}
}

func TestInARealTerminal(t *testing.T) {
	x := startTmux(t)
	x.open()
	x.wantModes("111", "while it runs")

	x.do("resize-window", "-x", "80", "-y", "24")
	x.shows("1 Sessions │ 2 Chat")
	x.do("resize-window", "-x", "120", "-y", "40")
	x.shows("3 Overview") // "3 Output" stood in the row of tabs before

	x.do("set-buffer", strings.Repeat("a pasted line\n", 10))
	x.do("paste-buffer", "-p")
	x.shows("10 lines")
	if p := x.picture(); strings.Contains(p, "You") || strings.Count(p, "a pasted line") > 1 {
		t.Errorf("the paste is no chip:\n%s", p)
	}
	x.keys("C-u")
	x.until("an empty composer", func(p string) bool { return !strings.Contains(p, "10 lines") })

	x.typed("written here")
	x.shows("❯ written here")
	x.keys("C-g")
	x.shows("❯ written here and in the editor")
	x.wantModes("111", "after the editor")
	x.keys("C-u")

	x.keys("C-z")
	x.wantModes("000", "while it is suspended")
	x.shows("sh>")
	x.sane("while it is suspended,")
	x.typed("fg")
	x.keys("Enter")
	x.wantModes("111", "after fg")
	x.typed("$ echo $((40+2))")
	x.shows("❯ $ echo")
	x.keys("Enter")
	x.shows("✓ $ ")

	x.keys("C-c")
	x.shows("ctrl+c again quits")
	x.keys("C-c")
	x.sane("after ctrl+c twice")
}

func TestEndsInARealTerminal(t *testing.T) {
	x := startTmux(t)
	mark, _ := x.open()
	x.keys("C-c")
	x.shows("ctrl+c again quits")
	x.keys("C-c")
	if code := x.sentinel(mark); code != "0" {
		t.Errorf("ctrl+c twice ends with code %s", code)
	}
	x.sane("after ctrl+c twice")
	mark, process := x.open()
	if err := syscall.Kill(process, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := x.sentinel(mark); code != "0" {
		t.Errorf("SIGTERM ends with code %s", code)
	}
	x.sane("after SIGTERM")
}
