package shell

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hermes/core/backend"
	"hermes/core/testwait"
	"hermes/core/tool"
)

func TestTerminal(t *testing.T) {
	t.Parallel()
	var res backend.Result
	var fail error
	f := &fake{exec: func(context.Context, backend.Request) (backend.Result, error) { return res, fail }}
	run := runner(t, f, nil)

	res = backend.Result{Backend: "here", Output: []byte("\x1b[31mred\x1b[0m\r\n10%\r100%\n")}
	want(t, run("terminal", map[string]any{"command": "x", "workdir": "sub", "pty": true}), false, "red\n100%")
	if f.got.Timeout != 180*time.Second || f.got.Dir != "sub" || f.got.Home != "/work" || f.got.PTY == nil || f.got.SpillDir != "spill" || f.got.CallID != "c1" {
		t.Errorf("asked for %+v", f.got)
	}
	res = backend.Result{Backend: "here"}
	if got := run("terminal", map[string]any{"command": "true"}); got.Text != "[no output, exit code 0]" || *got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	res = backend.Result{Backend: "here", ExitCode: 1}
	want(t, run("terminal", map[string]any{"command": "cat f | grep -q x"}), false, "[exit code 1: no matches]")
	want(t, run("terminal", map[string]any{"command": "grep x f && make"}), true, "[exit code 1]")
	res = backend.Result{Backend: "here", ExitCode: 137, Output: []byte("part")}
	want(t, run("terminal", map[string]any{"command": "make"}), true, "part\n[exit code 137: killed")
	res = backend.Result{Backend: "here", ExitCode: 124, TimedOut: true, Output: []byte("so far")}
	want(t, run("terminal", map[string]any{"command": "make", "timeout": 7}), true, "so far\n[ended after 7s: the timeout")
	res = backend.Result{Backend: "analytics", Warnings: []string{"the folder is gone"}, Output: []byte("x")}
	want(t, run("terminal", map[string]any{"command": "ls", "backend": "analytics"}), false, "x\n[ran in analytics]\n[warning: the folder is gone]")
	res = backend.Result{Backend: "here", Output: []byte("headtail"), Cut: 4, Truncated: true, Total: 1008, Spill: "spill/f"}
	if got := run("terminal", map[string]any{"command": "x"}); got.Text != "head\n[... 1000 of 1008 bytes left out; all of it: spill/f]\ntail" || got.Spill != "spill/f" {
		t.Errorf("%+v", got)
	}
	res.SpillCut = true
	if got := run("terminal", map[string]any{"command": "x"}); !strings.Contains(got.Text, "left out; the beginning of it: spill/f]") || !got.SpillCut {
		t.Errorf("%q", got.Text)
	}
	res = backend.Result{Backend: "here", Interrupted: true, ExitCode: 130, Output: []byte("half")}
	want(t, run("terminal", map[string]any{"command": "x"}), true, "half\n[stopped before it ended")
	fail = errors.New("no such back end: nowhere; there are here, analytics")
	want(t, run("terminal", map[string]any{"command": "x", "backend": "nowhere"}), true, "could not be run: no such back end")
	want(t, run("terminal", map[string]any{"command": "x", "timeout": 601}), true, "at most 600 seconds", "background=true")
	want(t, run("terminal", map[string]any{"command": "a\x00b"}), true, "NUL")
	want(t, run("terminal", map[string]any{"command": "npm run dev"}), true, "runs until it is stopped (npm run dev)", "background=true")
	for _, args := range []map[string]any{{"command": "npm run dev"}, {"command": "sleep 1 &"}, {"command": "x", "timeout": 601}} { // what it cannot do is no advice
		args["script"] = true
		if got := run("terminal", args); strings.Contains(got.Text, "background=true") || !strings.Contains(got.Text, "A script can leave nothing running") {
			t.Errorf("%v: %s", args, got.Text)
		}
	}
}

func TestTheBudgetLeavesRoomForWhatIsSaidAfterTheOutput(t *testing.T) {
	t.Parallel()
	for budget, want := range map[int]int{0: tool.DefaultMaxResult - 2000, 100_000: 98_000, 1000: 800} {
		if got := New(Options{Budget: budget}).budget; got != want {
			t.Errorf("budget %d: %d bytes of output, want %d", budget, got, want)
		}
	}
}

func TestInterruptKeepsThePartialOutput(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	f := &fake{exec: func(context.Context, backend.Request) (backend.Result, error) {
		cancel()
		return backend.Result{Backend: "here", Interrupted: true, Output: []byte("half")}, nil
	}}
	reg, err := tool.NewRegistry(Terminal(New(Options{Pool: f})))
	if err != nil {
		t.Fatal(err)
	}
	got := reg.Run(ctx, "terminal", tool.Call{Args: []byte(`{"command":"x"}`)})
	if !got.Interrupted || !strings.HasPrefix(got.Text, "half\n") {
		t.Errorf("%+v", got)
	}
}

func TestNeverEnds(t *testing.T) {
	t.Parallel()
	for command, refused := range map[string]bool{
		"sleep 100 &": true, "(sleep 5; echo) &": true, "make & make2 & wait": false, "echo 'a & b'": false, "a && b": false, "cmd 2>&1": false,
		"nohup ./x": true, "/usr/bin/nohup x": true, "setsid x": true, "nohup --help": false, "x; disown": true, "echo nohup": false,
		"npm run dev": true, "npm start": true, "yarn dev": true, "npm test": false, "npm run build": false, "npm run dev --help": false,
		"npx vite": true, "npx -y vite": true, "vite build": false, "vite --version": false, "uvicorn app:app --reload": true, "python -m uvicorn a:b": true,
		"python3 -m http.server 8000": true, "python3 -m http.server --help": false, "python script.py": false, "cd web && PORT=1 npm run dev": true,
		"docker compose up": true, "docker compose up -d": false, "docker-compose up": true, "docker ps": false, "env A=b flask run": true,
		"python manage.py runserver": true, "python manage.py migrate": false, "tail -f log": true, "tail -n 5 log": false, "timeout 5 tail -f log": false,
		"git commit -m 'npm run dev'": false, "for i in 1 2; do sleep 1 & done": true, "if then": false, "": false, "node server.js": false,
		"sudo redis-server": true, "watch ls": true, `n"p"m run dev`: true, "next build": false, "poetry run uvicorn x:y": true, "php -S localhost:80": true,
	} {
		if got := neverEnds(command); (got != "") != refused {
			t.Errorf("%q: %q", command, got)
		}
	}
}

func FuzzNeverEnds(f *testing.F) {
	f.Add("a & b")
	f.Add("env -i sudo npx\npython -m")
	f.Add("$(x) \"$y\" 'z' &")
	f.Fuzz(func(_ *testing.T, command string) {
		neverEnds(command)
		exitMeaning(command, 1)
	})
}

func FuzzReadable(f *testing.F) {
	f.Add([]byte("\x1b]0;title\x07a\rb\x1b[2Jc\x9b1m"))
	f.Add([]byte("\xff\xfe\x00\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Readable(data)
		if !utf8.ValidString(s) {
			t.Fatalf("%q", s)
		}
		for _, r := range s {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("control character %U in %q", r, s)
			}
		}
	})
}

func TestProcess(t *testing.T) {
	t.Parallel()
	f := &fake{}
	run := runner(t, f, nil)
	want(t, run("process", map[string]any{"action": "list"}), false, "No background processes")
	want(t, run("process", map[string]any{"action": "poll"}), true, `no process ""`)
	want(t, run("terminal", map[string]any{"command": "serve", "background": true, "timeout": 9999}), false, "as p1")
	if f.got.Timeout != 0 {
		t.Error("a background process must not time out")
	}
	f.print("p1", "one\n")
	want(t, run("process", map[string]any{"action": "list"}), false, "p1\trunning for")
	want(t, run("process", map[string]any{"action": "poll", "session_id": "p1"}), false, "p1 running", "one")
	want(t, run("process", map[string]any{"action": "poll", "session_id": "p1"}), false, "nothing new")
	f.print("p1", "two\n")
	if got := run("process", map[string]any{"action": "poll", "session_id": "p1"}); strings.Contains(got.Text, "one") || !strings.Contains(got.Text, "two") {
		t.Error(got.Text)
	}
	want(t, run("process", map[string]any{"action": "log", "session_id": "p1", "offset": 0, "limit": 3}), false, "one\n[up to byte 3 of 8]")
	want(t, run("process", map[string]any{"action": "log", "session_id": "p1", "offset": -4}), false, "two\n[up to byte 8 of 8]")
	want(t, run("process", map[string]any{"action": "wait", "session_id": "p1", "timeout": 1}), false, "still running after 1s")
	want(t, run("process", map[string]any{"action": "write", "session_id": "p1"}), true, "needs data")
	want(t, run("process", map[string]any{"action": "write", "session_id": "p1", "data": "a"}), false, "1 bytes written")
	want(t, run("process", map[string]any{"action": "submit", "session_id": "p1", "data": "b"}), false)
	want(t, run("process", map[string]any{"action": "close", "session_id": "p1"}), false, "closed")
	if p := f.procs["p1"]; p.in != "ab\n" || !p.eof {
		t.Errorf("input %q %v", p.in, p.eof)
	}
	want(t, run("process", map[string]any{"action": "write", "session_id": "p1", "data": "c"}), true, "input is closed")
	got := run("process", map[string]any{"action": "kill", "session_id": "p1"})
	want(t, got, false, "ended with exit code 137")
	if *got.ExitCode != 137 {
		t.Error(*got.ExitCode)
	}
	want(t, run("process", map[string]any{"action": "submit", "session_id": "p1"}), true, "takes no input")
	want(t, run("process", map[string]any{"action": "dance"}), true, `"list" | "poll"`)
}

func TestWhichProcessCallsOnlyRead(t *testing.T) {
	t.Parallel()
	spec := Process(New(Options{})).Spec()
	for action, reads := range map[string]bool{"list": true, "poll": true, "log": true, "wait": true, "kill": false, "write": false, "submit": false, "close": false} {
		if spec.Means([]byte(`{"action":"`+action+`"}`)).Reads != reads {
			t.Error(action)
		}
	}
}

func TestNotifyAndWatch(t *testing.T) {
	t.Parallel()
	told := make(chan string, 16)
	f := &fake{}
	run := runner(t, f, func(session, process, text string) { told <- session + " " + process + " " + text })
	run("terminal", map[string]any{"command": "serve\nmore", "background": true, "watch_patterns": []string{"ready", "error"}})
	f.print("p1", "starting\nnot yet rea")
	f.print("p1", "dy on :80\n")
	for range watchStrikes + 2 {
		f.print("p1", "error again\n")
	}
	f.end("p1", 3)
	var all []string
	for range 3 {
		select {
		case s := <-told:
			all = append(all, s)
		case <-time.After(testwait.Hang):
			t.Fatalf("only told %q", all)
		}
	}
	text := strings.Join(all, "\n")
	for _, part := range []string{`s p1 [Background process p1 printed "ready": not yet ready on :80]`, `"error" too often`, "ended with exit code 3: serve ..."} {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
	if len(told) > 0 {
		t.Errorf("told too much: %q", <-told)
	}
}

func TestWatchNeedsSomebodyToTell(t *testing.T) {
	t.Parallel()
	run := runner(t, &fake{}, nil)
	want(t, run("terminal", map[string]any{"command": "x", "background": true, "notify_on_complete": true}), true, "do not work here")
}

func TestTheTimeoutIsASetting(t *testing.T) {
	t.Parallel()
	f := &fake{exec: func(context.Context, backend.Request) (backend.Result, error) { return backend.Result{}, nil }}
	for _, tt := range []struct {
		setting time.Duration
		args    string
		want    time.Duration // 0: refused
	}{
		{0, `{"command":"x"}`, 180 * time.Second},
		{0, `{"command":"x","timeout":600}`, 600 * time.Second},
		{0, `{"command":"x","timeout":601}`, 0},
		{20 * time.Second, `{"command":"x"}`, 20 * time.Second},
		{time.Hour, `{"command":"x"}`, time.Hour},
		{time.Hour, `{"command":"x","timeout":3600}`, time.Hour},
	} {
		f.got = backend.Request{}
		reg, err := tool.NewRegistry(Terminal(New(Options{Pool: f, Timeout: tt.setting})))
		if err != nil {
			t.Fatal(err)
		}
		got := reg.Run(context.Background(), "terminal", tool.Call{Args: []byte(tt.args)})
		if f.got.Timeout != tt.want || got.IsError != (tt.want == 0) || tt.want != 0 && !f.got.Merge {
			t.Errorf("setting %s, %s: %s, %s", tt.setting, tt.args, f.got.Timeout, got.Text)
		}
	}
}
