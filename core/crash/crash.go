// Package crash is the only way to start a goroutine in this program. A panic in any goroutine runs
// the registered hooks (which give the terminal back to the shell), writes a crash file, says on
// standard error where it is, and ends the process with exit code 2. Standard library only.
package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"
)

var (
	mu    sync.Mutex
	dir   string
	hooks = map[int]func(){}
	next  int
	exit  = os.Exit
	clean = func(text string) string { return text }
)

// SetDir sets the folder for crash files; empty means the system's temporary folder.
func SetDir(d string) {
	mu.Lock()
	defer mu.Unlock()
	dir = d
}

// SetClean sets what takes secrets out of crash files.
func SetClean(f func(text string) string) {
	mu.Lock()
	defer mu.Unlock()
	clean = f
}

// OnPanic registers a hook that runs before the process ends, and returns a function that removes
// it.
func OnPanic(hook func()) (remove func()) {
	mu.Lock()
	defer mu.Unlock()
	id := next
	next++
	hooks[id] = hook
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(hooks, id)
	}
}

// Go runs f in a goroutine that is guarded against panics. Name says in crash files who it was.
func Go(name string, f func()) {
	go func() {
		defer Guard(name)
		f()
	}()
}

// Guard is deferred at the top of main and of goroutines that a library starts. It returns at once
// when there is no panic.
func Guard(name string) {
	r := recover()
	if r == nil {
		return
	}
	reportCrash(name, r, debug.Stack())
}

func reportCrash(name string, reason any, stack []byte) {
	mu.Lock()
	run := make([]func(), 0, len(hooks))
	for _, h := range hooks {
		run = append(run, h)
	}
	where, plain := dir, clean
	mu.Unlock()
	for _, h := range run {
		runHook(h)
	}
	name, cause := plain(name), plain(fmt.Sprint(reason))
	stack = []byte(plain(string(stack)))
	path, err := writeReport(where, name, cause, stack)
	if err != nil {
		fmt.Fprintf(os.Stderr, "hermes: crashed in %s: %v\n(no crash file: %v)\n%s", name, cause, err, stack)
	} else {
		fmt.Fprintf(os.Stderr, "hermes: crashed in %s: %v\nYour conversations are saved. Details: %s\n", name, cause, path)
	}
	exit(2)
}

// runHook keeps a hook that panics itself from hiding the first panic.
func runHook(h func()) {
	defer func() { _ = recover() }()
	h()
}

func writeReport(where, name string, cause any, stack []byte) (string, error) {
	if where == "" {
		where = os.TempDir()
	}
	if err := os.MkdirAll(where, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(where, "crash-"+time.Now().UTC().Format("20060102T150405.000")+".txt")
	text := fmt.Sprintf("hermes crashed in %s at %s\n\n%v\n\n%s", name, time.Now().Format(time.RFC3339), cause, stack)
	return path, os.WriteFile(path, []byte(text), 0o600)
}
