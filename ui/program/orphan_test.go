package program

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"hermes/core/testwait"
)

// outlive is how long what the program had started may live after it was killed: two seconds by its
// promise, and what a loaded machine adds.
const outlive = 6 * time.Second

// orphans are what a killed program may leave behind: the children that it had, by number, and
// whatever runs with its home.
type orphans struct {
	home     string
	children []int
	killed   time.Time
}

// seen notes the children of a program that is about to be killed. The keeper of its commands is
// one of them.
func (o *orphans) seen(program int) {
	for pid, stat := range everyProcess("stat") {
		var parent int
		end := bytes.LastIndexByte(stat, ')')
		if _, err := fmt.Sscanf(string(stat[end+1:]), " %c %d", new(rune), &parent); err == nil && parent == program {
			o.children = append(o.children, pid)
		}
	}
	o.killed = time.Now()
}

// gone waits until none lives, for as long as one may.
func (o *orphans) gone(t testing.TB) {
	t.Helper()
	for {
		left := o.left()
		if len(left) == 0 {
			return
		}
		if time.Since(o.killed) > testwait.Within(outlive) {
			t.Errorf("%v after the program was killed there still is: %q", time.Since(o.killed), left)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (o *orphans) left() (left []string) {
	if runtime.GOOS != "linux" {
		return nil // nobody can be asked
	}
	mine := []byte("HOME=" + o.home + "\x00")
	for pid, env := range everyProcess("environ") {
		if bytes.Contains(env, mine) {
			left = append(left, told(pid))
		}
	}
	for _, pid := range o.children {
		if text := told(pid); text != "" {
			left = append(left, text)
		}
	}
	return left
}

// told is a living process's command line; "" when there is none.
func told(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(text, []byte{0}, []byte{' '}))
}

// everyProcess reads a file of each process.
func everyProcess(file string) map[int][]byte {
	paths, _ := filepath.Glob("/proc/[0-9]*/" + file)
	all := map[int][]byte{}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if data, gone := os.ReadFile(path); err == nil && gone == nil {
			all[pid] = data
		}
	}
	return all
}
