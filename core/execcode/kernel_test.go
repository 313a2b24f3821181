package execcode

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/core/testwait"
)

// inKernel returns a function that runs code in one kernel.
func inKernel(t *testing.T, e *Engine, change func(*Script)) func(code string) Result {
	dir := t.TempDir()
	return func(code string) Result {
		s := script(t, code)
		s.Dir, s.Kernel = dir, true
		if change != nil {
			change(&s)
		}
		return e.Run(t.Context(), s)
	}
}

func TestAKernelKeepsVariables(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	run := inKernel(t, e, nil)
	if res := run("import math\nx = 41\nprint('set')"); res.Status != Success || res.Output != "set\n" || res.Kernel != "new" {
		t.Fatalf("%+v", res)
	}
	if res := run("x += 1\nprint(x, math.pi > 3)"); res.Output != "42 True\n" || res.Kernel != "kept" {
		t.Fatalf("%+v", res)
	}
	if res := run("1/0"); res.Status != Failure || res.ExitCode != 1 || res.Kernel != "kept" || !strings.Contains(res.Output, "ZeroDivisionError") {
		t.Fatalf("%+v", res)
	}
	if res := run("import sys\nsys.exit(3)"); res.ExitCode != 3 || res.Kernel != "kept" {
		t.Fatalf("an exit ends the script, not the kernel: %+v", res)
	}
	if res := run("from hermes_tools import read_file\nprint(x, read_file('a')['args'])"); res.Output != "42 {'path': 'a'}\n" || res.Calls != 1 {
		t.Fatalf("%+v", res)
	}
	res := e.Run(t.Context(), Script{Session: "other", Code: "print('x' in globals())", Dir: t.TempDir(), Kernel: true, Tools: specs(), Call: echo})
	if res.Output != "False\n" {
		t.Errorf("another session sees the variables: %+v", res)
	}
	s := script(t, "print('x' in globals())")
	if res := e.Run(t.Context(), s); res.Output != "False\n" || res.Kernel != "" {
		t.Errorf("a script without session sees the variables: %+v", res)
	}
}

func TestResetDropsVariables(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	reset := false
	run := inKernel(t, e, func(s *Script) { s.Reset = reset })
	run("x = 1")
	reset = true
	if res := run("print('x' in globals())"); res.Output != "False\n" || res.Kernel != "new" {
		t.Errorf("%+v", res)
	}
}

// An interrupt or a timeout ends the script; a kernel that hears it keeps its variables.
func TestAKernelSurvivesATimeout(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	var limit time.Duration
	run := inKernel(t, e, func(s *Script) { s.Limits.Timeout = limit })
	long, short := testwait.Hang, testwait.Within(time.Second)
	limit = long
	run("x = 7")
	limit = short
	if res := run("import time\nprint('a')\ntime.sleep(3600)"); res.Status != TimedOut || res.Kernel != "kept" || !strings.HasPrefix(res.Output, "a\n") {
		t.Fatalf("%+v", res)
	}
	limit = long
	if res := run("print(x)"); res.Output != "7\n" {
		t.Fatalf("%+v", res)
	}
	limit = short
	if res := run("from hermes_tools import read_file\nwhile True: read_file('x')"); res.Status != TimedOut || res.Kernel != "kept" {
		t.Fatalf("in the middle of calls: %+v", res)
	}
	limit = long
	if res := run("from hermes_tools import read_file\nprint(x, read_file('y')['args'])"); res.Output != "7 {'path': 'y'}\n" {
		t.Fatalf("the line is out of step: %+v", res)
	}
}

// One that does not hear it is killed, and says that the variables are gone.
func TestADeafKernelIsLost(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	limit := testwait.Hang
	run := inKernel(t, e, func(s *Script) { s.Limits.Timeout = limit })
	run("x = 7")
	limit = testwait.Within(time.Second)
	res := run("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)")
	if res.Status != TimedOut || res.Kernel != "lost" || len(res.Warnings) == 0 {
		t.Fatalf("%+v", res)
	}
	limit = testwait.Hang
	if res := run("print('x' in globals())"); res.Output != "False\n" || res.Kernel != "new" {
		t.Errorf("%+v", res)
	}
}

func TestAKernelThatDies(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	run := inKernel(t, e, nil)
	if res := run("import os\nprint('a', flush=True)\nos._exit(9)"); res.Status != Failure || res.ExitCode != 9 || res.Kernel != "lost" || !strings.HasPrefix(res.Output, "a\n") {
		t.Errorf("%+v", res)
	}
}

func TestAnInterruptedKernel(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := script(t, "x = 1\nimport time\nprint('going')\ntime.sleep(60)")
	s.Dir, s.Kernel = dir, true
	var once sync.Once
	s.Output = func(event.Stream, []byte) { once.Do(cancel) }
	if res := e.Run(ctx, s); res.Status != Interrupted || res.Kernel != "new" {
		t.Fatalf("%+v", res)
	}
	s.Code, s.Output = "print(x)", nil
	if res := e.Run(t.Context(), s); res.Output != "1\n" || res.Kernel != "kept" {
		t.Errorf("%+v", res)
	}
}

// The one that was not used for the longest time makes room for the fifth.
func TestAtMostFourKernels(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	run := func(session, code string) Result {
		return e.Run(t.Context(), Script{Session: session, Code: code, Dir: "/", Kernel: true, Tools: specs(), Call: echo})
	}
	for i := range 5 {
		if res := run(fmt.Sprint("s", i), "x = 1"); res.Status != Success {
			t.Fatalf("%+v", res)
		}
	}
	if n := len(e.kernels.all); n != 4 {
		t.Errorf("%d kernels", n)
	}
	for session, want := range map[string]string{"s4": "kept", "s0": "new"} {
		if res := run(session, "pass"); res.Kernel != want {
			t.Errorf("%s: %+v", session, res)
		}
	}
	e.Forget("s4")
	if res := run("s4", "pass"); res.Kernel != "new" {
		t.Errorf("a forgotten session: %+v", res)
	}
}

func TestAnIdleKernelEnds(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	run := inKernel(t, e, func(s *Script) { s.Limits.Idle = 200 * time.Millisecond })
	run("x = 1")
	deadline := time.Now().Add(testwait.Hang)
	for {
		e.kernels.mu.Lock()
		n := len(e.kernels.all)
		e.kernels.mu.Unlock()
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it still runs")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Scripts for one kernel wait for each other.
func TestOneScriptAtATimeInAKernel(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	dir := t.TempDir()
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			s := script(t, "n = globals().get('n', 0) + 1\nprint(n)")
			s.Dir, s.Kernel = dir, true
			if res := e.Run(context.Background(), s); res.Status != Success {
				t.Errorf("%+v", res)
			}
		})
	}
	wait.Wait()
	s := script(t, "print(n)")
	s.Dir, s.Kernel = dir, true
	if res := e.Run(t.Context(), s); res.Output != "6\n" {
		t.Errorf("%+v", res)
	}
}

// Without the kernel's mechanisms everything still works, and the result says what there was.
func TestLesserIsolation(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is only one level here")
	}
	full := newEngine(t).levels.known
	for _, iso := range append(isolationSteps(*full), Isolation{Seccomp: true}) {
		t.Run(iso.String(), func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			e.levels.known, e.levels.fixed = &iso, true
			s := script(t, "import os, time\nfrom hermes_tools import read_file\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)\nprint(read_file('a')['args'])")
			res := e.Run(t.Context(), s)
			if res.Status != Success || res.Output != "{'path': 'a'}\n" || res.Isolation != iso.String() {
				t.Errorf("%+v", res)
			}
			noneIn(t, s.Dir)
			limit := testwait.Hang
			run := inKernel(t, e, func(s *Script) { s.Limits.Timeout = limit })
			run("x = 1")
			limit = time.Second
			run("import time; time.sleep(600)")
			limit = testwait.Hang
			if res := run("print(x)"); res.Output != "1\n" {
				t.Errorf("%+v", res)
			}
			s = script(t, "import os\nos._exit(5)")
			if res := e.Run(t.Context(), s); res.ExitCode != 5 {
				t.Errorf("%+v", res)
			}
		})
	}
}

// Strict scripts have no network, begin in an empty folder and change nothing else.
func TestStrict(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	if e.levels.known.Landlock == 0 || !e.levels.known.Seccomp {
		testskip.Missing(t, fmt.Sprintf("this kernel gives only %s", e.levels.known))
	}
	s := script(t, "import os, socket\nprint(os.listdir('.'), os.getcwd() == os.environ['PWD'])\nopen('a', 'w').write('x')\nfor f in (lambda: open(DIR + '/b', 'w'), lambda: socket.socket(), lambda: os.mkdir('/tmp/hermes-strict')):\n    try: f(); print('allowed')\n    except OSError as e: print(e.strerror)")
	s.Mode = Strict
	s.Code = strings.Replace(s.Code, "DIR", fmt.Sprintf("%q", s.Dir), 1)
	if res := e.Run(t.Context(), s); res.Output != "[] True\nPermission denied\nPermission denied\nPermission denied\n" {
		t.Errorf("%+v", res)
	}
}
