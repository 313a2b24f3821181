package execcode

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/core/tool"
)

// edge is one script with an odd end or odd output.
type edge struct {
	name, code string
	change     func(*Script)
	status     Status
	exit       int // -1: any
	output     string
	err        string
	not        string // not in the output
}

func timeout(d time.Duration) func(*Script) { return func(s *Script) { s.Limits.Timeout = d } }

func edges() []edge {
	return []edge{
		{name: "empty", code: " \n", status: Success},
		{name: "exit code", code: "import sys\nsys.exit(3)", status: Failure, exit: 3, err: "code 3"},
		{name: "exit with a message", code: `import sys; sys.exit("msg")`, status: Failure, exit: 1, output: "--- stderr ---\nmsg", err: "msg"},
		{name: "exit zero", code: "print('a'); exit()", status: Success, output: "a\n"},
		{name: "quit", code: "quit(2)", status: Failure, exit: 2},
		{name: "_exit", code: "import os\nos._exit(7)", status: Failure, exit: 7},
		{name: "uncaught exception", code: "print('before')\n\ndef f():\n    return 1 / 0\n\nf()", status: Failure, exit: 1, output: `script.py", line 4, in f`, err: "ZeroDivisionError: division by zero", not: "<hermes>"},
		{name: "traceback shows the source", code: "x = 1\nraise ValueError('why')", status: Failure, exit: 1, output: "raise ValueError('why')"},
		{name: "caught traceback shows the source", code: "import traceback\ntry:\n    1/0\nexcept Exception:\n    print(traceback.format_exc())", status: Success, output: "    1/0"},
		{name: "SIGSEGV", code: "import os, signal\nprint('x')\nos.kill(os.getpid(), signal.SIGSEGV)", status: Failure, exit: 139, output: "x", err: "segmentation fault"},
		{name: "kills itself", code: "import os\nos.kill(os.getpid(), 9)", status: Failure, exit: 137},
		{name: "abort", code: "import os\nos.abort()", status: Failure, exit: 134},
		{name: "syntax error", code: "print('a'\nx", status: Failure, exit: 1, output: "SyntaxError"},
		{name: "NUL", code: "print('\x00')", status: Failure, exit: 1, err: "NUL byte"},
		{name: "too long", code: strings.Repeat("#", maxCode+1), status: Failure, exit: 1, err: "1048577 bytes"},
		{name: "CRLF", code: "if True:\r\n    print('crlf')\r\n", status: Success, output: "crlf\n"},
		{name: "byte order mark", code: "\ufeffprint('bom')", status: Success, output: "bom\n"},
		{name: "coding cookie", code: "# -*- coding: latin-1 -*-\nprint('é')", status: Success, output: "é\n"},
		{name: "main guard", code: "if __name__ == '__main__':\n    print('main')", status: Success, output: "main\n"},
		{name: "future import", code: "from __future__ import annotations\ndef f(x: Nope): pass\nprint('ok')", status: Success, output: "ok\n"},
		{name: "input", code: "input()", status: Failure, exit: 1, err: "EOFError"},
		{name: "argv", code: "import sys\nprint(len(sys.argv))", status: Success, output: "1\n"},
		{name: "invalid UTF-8", code: `import os; os.write(1, b"a\xff\x00b")`, status: Success, output: "a\ufffd"},
		{name: "lone surrogate", code: `print("\ud800")`, status: Success, output: `\ud800`},
		{name: "output after close", code: "import sys\nprint('a')\nsys.stdout.close()\nprint('b')", status: Failure, exit: -1, output: "a\n", err: "closed file"},
		{name: "stderr of a success is left out", code: "import sys\nprint('o')\nprint('e', file=sys.stderr)", status: Success, output: "o\n", not: "e"},
		{name: "both floods", code: "import os, threading\ndef f(fd):\n    for _ in range(3000): os.write(fd, b'y' * 1000)\na = threading.Thread(target=f, args=(2,)); a.start(); f(1); a.join()", status: Success, output: "[output truncated at 50KB]"},
		{name: "one huge line", code: "print('z' * 5_000_000)", status: Success, output: "[output truncated at 50KB]"},
		{name: "stderr keeps its end", code: "import sys\nfor i in range(9000): print('noise', i, file=sys.stderr)\n1/0", status: Failure, exit: 1, output: "[output truncated at 10KB]", err: "ZeroDivisionError: division by zero"},
		{name: "SIGTERM ignored", code: "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf')\nwhile True: time.sleep(1)", change: timeout(time.Second), status: TimedOut, exit: 124, output: "deaf\n", err: "Script timed out after 1s and was killed."},
		{name: "stops itself", code: "import os, signal\nprint('a')\nos.kill(os.getpid(), signal.SIGSTOP)", change: timeout(time.Second), status: TimedOut, exit: 124, output: "a\n"},
		{name: "timeout", code: "print('part'); import time; time.sleep(60)", change: timeout(time.Second), status: TimedOut, exit: 124, output: "part\nScript timed out after 1s and was killed."},
		{name: "endless loop", code: "while 1: pass", change: timeout(time.Second), status: TimedOut, exit: 124, err: "timed out after 1s"},
		{name: "endless output", code: "while 1: print('y' * 100)", change: timeout(2 * time.Second), status: TimedOut, exit: 124, output: "[output truncated at 50KB]"},
		{name: "endless output without lines", code: "import os\nwhile 1: os.write(1, b'y' * 4096)", change: timeout(2 * time.Second), status: TimedOut, exit: 124, output: "[output truncated at 50KB]"},
		{name: "kills its parent", code: "import os, signal\ntry: os.kill(os.getppid(), 9)\nexcept OSError as e: print(e)\nprint('alive')", status: Success, output: "alive"},
		{name: "site packages on demand", code: "import sys\ntry: import no_such_module_x\nexcept ImportError as e: print(e)\nprint(any('site-packages' in p or 'dist-packages' in p for p in sys.path))", status: Success, output: "No module named 'no_such_module_x'\nTrue\n"},
		{name: "standard library", code: "import json, re, subprocess, threading, csv, datetime, pathlib\nprint(json.dumps({'a': 1}))", status: Success, output: "{\"a\": 1}\n"},
		{name: "subprocess", code: "import subprocess\nprint(subprocess.run('echo sub; exit 4', shell=True, capture_output=True, text=True))", status: Success, output: "returncode=4, stdout='sub\\n'"},
		{name: "open files are flushed", code: "f = open('out.txt', 'w')\nf.write('kept')", status: Success},
		{name: "temporary files", code: "import tempfile, os\nwith tempfile.NamedTemporaryFile() as f: print(os.path.dirname(f.name) == os.environ['TMPDIR'])", status: Success, output: "True\n"},
		{name: "recursion", code: "def f(): f()\nf()", status: Failure, exit: 1, err: "RecursionError"},
		{name: "multiprocessing", code: "import os\np = os.fork()\nif p == 0:\n    print('child'); os._exit(0)\nos.waitpid(p, 0)\nprint('parent')", status: Success, output: "child\nparent\n"},
		{name: "unknown argument", code: "from hermes_tools import terminal\nterminal('x', background=True)", status: Failure, exit: 1, err: "unexpected keyword argument 'background'"},
		{name: "a tool that is not there", code: "from hermes_tools import execute_code", status: Failure, exit: 1, err: "cannot import name 'execute_code'"},
		{name: "helpers", code: "from hermes_tools import json_parse, shell_quote, retry\nprint(json_parse('{\"a\": \"x\\ty\"}'), shell_quote(\"a'b\"))\nn = []\ndef f():\n    n.append(1)\n    if len(n) < 3: raise OSError\n    return 'third'\nprint(retry(f, delay=0))", status: Success, output: "{'a': 'x\\ty'} 'a'\"'\"'b'\nthird\n"},
	}
}

// Every odd script has an honest result.
func TestEdges(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, c := range edges() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := script(t, c.code)
			if c.change != nil {
				c.change(&s)
			}
			began := time.Now()
			words, _, _ := strings.Cut(c.output, "\n")
			res := runUntilItSays(t, e, &s, words)
			if given := fmt.Sprintf("after %.0fs", s.Limits.Timeout.Seconds()); c.status == TimedOut {
				c.output, c.err = strings.Replace(c.output, "after 1s", given, 1), strings.Replace(c.err, "after 1s", given, 1)
			}
			if res.Status != c.status || c.exit >= 0 && res.ExitCode != c.exit {
				t.Errorf("%s, exit code %d; want %s, %d. %s %.500s", res.Status, res.ExitCode, c.status, c.exit, res.Error, res.Output)
			}
			if !strings.Contains(res.Output, c.output) || !strings.Contains(res.Error, c.err) || c.not != "" && strings.Contains(res.Output, c.not) {
				t.Errorf("output %.1500q\nerror %q", res.Output, res.Error)
			}
			if len(res.Output) > 70_000 || time.Since(began) > testwait.Within(s.Limits.Timeout+20*time.Second) {
				t.Errorf("%d bytes after %s", len(res.Output), time.Since(began))
			}
			left(t)
		})
	}
}

func TestMemoryStaysFlatUnderAFlood(t *testing.T) {
	e := newEngine(t)
	s := script(t, "import os\nfor _ in range(40000): os.write(1, b'y' * 10000)")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	res := e.Run(t.Context(), s)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if res.Status != Success || len(res.Output) > 60_000 {
		t.Fatalf("%s %s, %d bytes", res.Status, res.Error, len(res.Output))
	}
	if after.HeapAlloc > before.HeapAlloc+32<<20 {
		t.Errorf("400 MB of output left %d MB in memory", (after.HeapAlloc-before.HeapAlloc)>>20)
	}
}

// What escapes the process group ends with the script nevertheless, and does not hold it up.
func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for name, code := range map[string]string{
		"setsid":      "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n",
		"double fork": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)\n",
		"daemon":      "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n",
		"nohup":       "import os\nos.system('(setsid nohup sleep 600 >/dev/null 2>&1 &)')\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := script(t, code+"print('end')")
			began := time.Now()
			res := e.Run(t.Context(), s)
			if res.Status != Success || res.Output != "end\n" {
				t.Errorf("%+v", res)
			}
			if took := time.Since(began); took > testwait.Within(15*time.Second) {
				t.Errorf("held up for %s", took)
			}
			noneIn(t, s.Dir)
		})
	}
}

func TestAForkBombEnds(t *testing.T) {
	e := newEngine(t)
	for name, code := range map[string]string{
		"processes": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
		"shell":     "import os\nos.system('f(){ f|f& };f; sleep 60')\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := script(t, code)
			s.Limits.Timeout, s.Limits.Procs = 5*time.Second, 100
			if testing.Short() { // beside other packages: the load is that of ten programs
				s.Limits.Timeout, s.Limits.Procs = 2*time.Second, 10
			}
			res := e.Run(t.Context(), s)
			if res.Status == Success {
				t.Errorf("%+v", res)
			}
			t.Log(res.Status, res.Error, res.Seconds)
			noneIn(t, s.Dir)
		})
	}
}

func TestAnInterrupt(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for name, code := range map[string]string{
		"polite":        "import time\nprint('going')\ntime.sleep(60)",
		"deaf":          "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('going')\nwhile True: time.sleep(1)",
		"inside a call": "from hermes_tools import read_file\nprint('going')\nread_file('slow')",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := script(t, code)
			going, asked := make(chan struct{}), make(chan struct{})
			var once sync.Once
			s.Output = func(event.Stream, []byte) { once.Do(func() { close(going) }) }
			ended := make(chan struct{})
			s.Call = func(ctx context.Context, c tool.NestedCall) tool.NestedResult {
				close(asked)
				<-ctx.Done() // the call is told as well
				close(ended)
				return tool.NestedResult{}
			}
			var at time.Time
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				<-going
				if name == "inside a call" {
					<-asked
				}
				at = time.Now()
				cancel()
			}()
			res := e.Run(ctx, s)
			<-stopped
			if took := time.Since(at); took > testwait.Within(5*time.Second) {
				t.Errorf("took %s", took)
			}
			if res.Status != Interrupted || res.ExitCode != 130 || res.Output != "going\n[execution interrupted — user sent a new message]" {
				t.Errorf("%+v", res)
			}
			noneIn(t, s.Dir)
		})
	}
	t.Run("before it began", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if res := e.Run(ctx, script(t, "print(1)")); res.Status != Interrupted {
			t.Errorf("%+v", res)
		}
	})
}

// Call 51 is an error as a value, and exactly 50 are made, however many threads race for them.
func TestTheCallLimit(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	var made atomic.Int64
	count := func(ctx context.Context, c tool.NestedCall) tool.NestedResult {
		made.Add(1)
		return echo(ctx, c)
	}
	s := script(t, "from hermes_tools import read_file\nr = [read_file('x') for _ in range(51)]\nprint(sum('error' in x for x in r), r[-1])\nprint('goes on')")
	s.Call = count
	res := e.Run(t.Context(), s)
	if res.Status != Success || res.Calls != 50 || made.Load() != 50 ||
		res.Output != "1 {'error': 'Tool call limit reached (50). No more tool calls allowed in this execution.'}\ngoes on\n" {
		t.Errorf("%d made, %+v", made.Load(), res)
	}
	made.Store(0)
	s = script(t, `
import threading
from hermes_tools import read_file
errors = []
def f():
    for _ in range(20):
        if 'error' in read_file('x'): errors.append(1)
ts = [threading.Thread(target=f) for _ in range(10)]
[t.start() for t in ts]; [t.join() for t in ts]
print(len(errors))`)
	s.Call = count
	if res := e.Run(t.Context(), s); res.Output != "150\n" || res.Calls != 50 || made.Load() != 50 {
		t.Errorf("%d made, %+v", made.Load(), res)
	}
}

// Threads run calls at the same time, and each gets its own reply.
func TestThreadsCallInParallel(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := script(t, `
import threading
from hermes_tools import read_file
bad = []
def f(i):
    for j in range(4):
        if read_file(f'{i}-{j}')['args']['path'] != f'{i}-{j}': bad.append((i, j))
ts = [threading.Thread(target=f, args=(i,)) for i in range(10)]
[t.start() for t in ts]; [t.join() for t in ts]
print(bad)`)
	var now, most atomic.Int64
	together := make(chan struct{})
	meet := sync.OnceFunc(func() { close(together) })
	s.Call = func(ctx context.Context, c tool.NestedCall) tool.NestedResult {
		if n := now.Add(1); n == 10 {
			meet()
		}
		defer now.Add(-1)
		select {
		case <-together: // nobody goes on before ten are here
		case <-ctx.Done():
		}
		most.Store(max(most.Load(), now.Load()))
		return echo(ctx, c)
	}
	if res := e.Run(t.Context(), s); res.Status != Success || res.Output != "[]\n" || res.Calls != 40 {
		t.Errorf("%+v, %d at a time", res, most.Load())
	}
}

func TestAThreadInACallAtTheEnd(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := script(t, "import threading\nfrom hermes_tools import read_file\nthreading.Thread(target=lambda: print(read_file('late')['args'])).start()")
	if res := e.Run(t.Context(), s); res.Status != Success || res.Output != "{'path': 'late'}\n" {
		t.Errorf("%+v", res)
	}
}

func TestAForkedChildCallsNoTools(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := script(t, `
import os
from hermes_tools import read_file
p = os.fork()
if p == 0:
    try: read_file('child')
    except RuntimeError as e: print(e)
    os._exit(0)
os.waitpid(p, 0)
print(read_file('parent')['args'])`)
	if res := e.Run(t.Context(), s); res.Calls != 1 || !strings.Contains(res.Output, "forked process") || !strings.Contains(res.Output, "{'path': 'parent'}") {
		t.Errorf("%+v", res)
	}
}

// raw scripts speak to the channel past the generated functions.
func TestHostileFrames(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	const head = `
import os
def ask(b):
    os.write(3, b)
    out = b''
    while not out.endswith(b'\n'):
        p = os.read(3, 65536)
        if not p: return 'closed'
        out += p
    return out.decode().strip()
`
	for name, c := range map[string]struct{ code, want string }{
		"malformed":             {`print(ask(b'{nope\n'))`, "not a request"},
		"array":                 {`print(ask(b'[1,2]\n'))`, "not a request"},
		"deep":                  {`print(ask(b'{"id":1,"tool":"read_file","args":' + b'[' * 100000 + b'\n')[:400])`, "not a request"},
		"NUL":                   {`print(ask(b'\x00\x00\n'))`, "not a request"},
		"no id":                 {`print(ask(b'{"tool":"read_file","args":{}}\n'))`, "needs an id"},
		"args are a list":       {`print(ask(b'{"id":1,"tool":"read_file","args":[]}\n'))`, "args is an object"},
		"unknown tool":          {`print(ask(b'{"id":1,"tool":"nope","args":{}}\n'))`, `"error":"Tool \"nope\" is not available in execute_code. Available: read_file, terminal"`},
		"itself":                {`print(ask(b'{"id":1,"tool":"execute_code","args":{"code":"1"}}\n'))`, "not available in execute_code"},
		"background":            {`print(ask(b'{"id":1,"tool":"terminal","args":{"command":"x","background":true}}\n'))`, "foreground only"},
		"background not wanted": {`print(ask(b'{"id":1,"tool":"terminal","args":{"command":"x","background":false}}\n'))`, `"tool":"terminal"`},
		"good after bad":        {`ask(b'nope\n'); print(ask(b'{"id":7,"tool":"read_file","args":{"path":"a"}}\n'))`, `{"id":7,"result":`},
		"a gigabyte":            {"try:\n    for _ in range(1024): os.write(3, b'x' * 1048576)\nexcept OSError as e: print('refused', e)", "refused"},
		"closed":                {`os.close(3); print('still here')`, "still here"},
	} {
		t.Run(name, func(t *testing.T) {
			res := e.Run(t.Context(), script(t, head+c.code))
			if res.Status != Success || !strings.Contains(res.Output, c.want) {
				t.Errorf("%s %s %.600s", res.Status, res.Error, res.Output)
			}
		})
	}
}

func TestADuplicateIDIsRefused(t *testing.T) {
	e := newEngine(t)
	s := script(t, `
import os
for _ in range(2): os.write(3, b'{"id":5,"tool":"read_file","args":{}}\n')
out = b''
while out.count(b'\n') < 1: out += os.read(3, 65536)
print(out.decode(), flush=True)
while out.count(b'\n') < 2: out += os.read(3, 65536)`)
	free := make(chan struct{})
	var once sync.Once
	s.Output = func(event.Stream, []byte) { once.Do(func() { close(free) }) } // the second call was answered while the first one waits
	s.Call = func(ctx context.Context, c tool.NestedCall) tool.NestedResult {
		<-free
		return echo(ctx, c)
	}
	if res := e.Run(t.Context(), s); res.Calls != 1 || !strings.Contains(res.Output, "the id 5 is in use") {
		t.Errorf("%+v", res)
	}
}

// A call with too much in it fails, whichever way it is made, and what comes after it works.
func TestACallThatIsTooLarge(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := script(t, `
from hermes_tools import read_file
import os
print(read_file('x' * 100_000_000))
print(read_file('\x01' * 10_000_000))
os.write(3, b'{"id": 77, "args": {"path": "')
for _ in range(100): os.write(3, b'x' * 1000000)
os.write(3, b'"}}\n')
print(os.read(3, 65536).decode(), end='')
print(read_file('after')['args'])`)
	s.Limits.Timeout = time.Minute
	want := "{'error': 'path of read_file has more than 16 MB: give it less'}\n" +
		"{'error': 'a call with more than 16 MB: give it less'}\n" +
		"{\"id\":77,\"error\":\"a call with more than 16 MB: give it less\"}\n{'path': 'after'}\n"
	if res := e.Run(t.Context(), s); res.Output != want || res.Calls != 1 {
		t.Errorf("%s %s %.900s", res.Status, res.Error, res.Output)
	}
}

// A failing call is a value; one that is too large says so.
func TestRepliesOfCalls(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := script(t, "from hermes_tools import read_file\nfor n in ('fails', 'text', 'json', 'large', 'exit'): print(repr(read_file(n))[:120])")
	s.Call = func(_ context.Context, c tool.NestedCall) tool.NestedResult {
		var a struct{ Path string }
		_ = json.Unmarshal(c.Args, &a)
		r := tool.NestedResult{ToolResult: chat.ToolResult{Name: c.Name}}
		switch a.Path {
		case "fails":
			r.Text, r.IsError = "no such file", true
		case "text":
			r.Text = "just text"
		case "json":
			r.Text = `{"data":{"web":[]}}`
		case "large":
			r.Data = json.RawMessage(`"` + strings.Repeat("x", maxReply) + `"`)
		case "exit":
			r.Data, r.IsError = json.RawMessage(`{"output":"","exit_code":2}`), true
		}
		return r
	}
	want := "{'error': 'no such file'}\n{'content': 'just text'}\n{'data': {'web': []}}\n{'error': 'the result of read_file has more than 16 MB: ask for less of it'}\n{'output': '', 'exit_code': 2}\n"
	if res := e.Run(t.Context(), s); res.Output != want {
		t.Errorf("%s", res.Output)
	}
}

// Arguments of the kinds that Python has beside those of JSON.
func TestArguments(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := script(t, "import pathlib\nfrom hermes_tools import read_file\nprint(read_file(pathlib.Path('a/b'))['args'])\nprint(read_file('é\\n\\x00\\U0001F600')['args'])\ntry: read_file(object())\nexcept TypeError as e: print('no', e)\nprint(read_file('after')['args'])")
	res := e.Run(t.Context(), s)
	if res.Status != Success || !strings.Contains(res.Output, "{'path': 'a/b'}") || !strings.Contains(res.Output, `{'path': 'é\n\x00😀'}`) ||
		!strings.Contains(res.Output, "no a tool cannot be given a object") || !strings.Contains(res.Output, "{'path': 'after'}") {
		t.Errorf("%+v", res)
	}
}

func TestTwoScriptsAtOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			s := script(t, fmt.Sprintf("from hermes_tools import read_file\nfor _ in range(5): r = read_file('s%d')\nprint(r['args']['path'])", i))
			if res := e.Run(context.Background(), s); res.Output != fmt.Sprintf("s%d\n", i) {
				t.Errorf("%+v", res)
			}
		})
	}
	wait.Wait()
}
