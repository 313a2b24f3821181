package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/childenv"
	"hermes/core/execcode"
	"hermes/core/socketpair"
	"hermes/core/tool"
	"hermes/core/tool/file"
)

// fifty is a script of fifty calls; fiftyFloor does the same with what Python brings, against an
// echo.
const (
	fifty      = "from hermes_tools import read_file\nfor i in range(50): read_file('some/file.txt')\n"
	fiftyFloor = `import json, socket
s = socket.socket(fileno=3)
for i in range(50):
    s.sendall((json.dumps({"id": i, "tool": "read_file", "args": {"path": "some/file.txt"}}) + "\n").encode())
    b = b""
    while not b.endswith(b"\n"): b += s.recv(8192)
    json.loads(b)
`
	roundTrips = `from hermes_tools import read_file
import time
t = []
for i in range(1000):
    a = time.perf_counter(); read_file('x'); t.append(time.perf_counter() - a)
print(sorted(t)[500])
`
	roundTripsFloor = `import json, socket, time
s = socket.socket(fileno=3)
t = []
for i in range(1000):
    a = time.perf_counter()
    s.sendall((json.dumps({"id": i, "tool": "read_file", "args": {"path": "x"}}) + "\n").encode())
    b = b""
    while not b.endswith(b"\n"): b += s.recv(8192)
    json.loads(b)
    t.append(time.perf_counter() - a)
print(sorted(t)[500])
`
)

// rig runs scripts whose calls are answered at once.
type rig struct {
	b      *testing.B
	e      *execcode.Engine
	python string
	dir    string
	tools  []tool.Spec
}

func newRig(b *testing.B, iso *execcode.Isolation) rig {
	b.Helper()
	e := execcode.New(execcode.Options{Isolation: iso, Env: func() []string {
		env, _ := childenv.Rule{}.Clean(os.Environ())
		return env
	}})
	b.Cleanup(e.Close)
	report, err := e.Probe(context.Background(), "")
	must(b, err)
	return rig{b: b, e: e, python: report.Python, dir: b.TempDir(), tools: []tool.Spec{file.Read(file.New(file.Options{})).Spec()}}
}

func (r rig) run(code string) string {
	r.b.Helper()
	res := r.e.Run(context.Background(), execcode.Script{
		Session: "bench", Code: code, Dir: r.dir, Tools: r.tools, Limits: execcode.Limits{Calls: 2000},
		Call: func(context.Context, tool.NestedCall) tool.NestedResult {
			return tool.NestedResult{ToolResult: chat.ToolResult{}, Data: json.RawMessage(`{"content":"fifty bytes or so of a file's text","lines":1}`)}
		},
	})
	if res.Status != execcode.Success {
		r.b.Fatalf("%+v", res)
	}
	return strings.TrimSpace(res.Output)
}

// plain runs Python as anybody would, with an echo behind descriptor 3.
func (r rig) plain(code string) string {
	r.b.Helper()
	ours, theirs, err := socketpair.Make()
	must(r.b, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		in := bufio.NewReader(ours)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var req map[string]any
			if json.Unmarshal(line, &req) != nil {
				return
			}
			if _, err := fmt.Fprintf(ours, `{"id":%v,"result":{"content":"fifty bytes or so of a file's text","lines":1}}`+"\n", req["id"]); err != nil {
				return
			}
		}
	}()
	cmd := exec.Command(r.python, "-I", "-S", "-c", code)
	cmd.ExtraFiles = []*os.File{theirs}
	out, err := cmd.Output()
	must(r.b, err)
	_ = theirs.Close()
	<-ended
	_ = ours.Close()
	return strings.TrimSpace(string(out))
}

func BenchmarkScriptEmpty(b *testing.B) {
	r := newRig(b, nil)
	mine, floor := versus(31, func() { r.run("pass") }, func() {
		must(b, exec.Command(r.python, "-I", "-S", "-c", "pass").Run())
	})
	gate{"script: empty, kept in as far as can be", "python3 -I -S -c pass", 2}.times(b, mine, floor)
}

func BenchmarkScriptFiftyCalls(b *testing.B) {
	r := newRig(b, nil)
	mine, floor := versus(31, func() { r.run(fifty) }, func() { r.plain(fiftyFloor) })
	gate{"script: 50 calls", "python3, its json and socket, 50 echoes", 1.5}.times(b, mine, floor)
}

func BenchmarkScriptRoundTrip(b *testing.B) {
	r := newRig(b, nil)
	seconds := func(s string) time.Duration {
		f, err := strconv.ParseFloat(s, 64)
		must(b, err)
		return time.Duration(f * float64(time.Second))
	}
	var mine, floor []time.Duration
	for range 5 {
		mine = append(mine, seconds(r.run(roundTrips)))
		floor = append(floor, seconds(r.plain(roundTripsFloor)))
	}
	gate{"script: one call, p50 of 1,000", "Python's json and socket, an echo", 0}.times(b, median(mine), median(floor))
}

func BenchmarkScriptIsolation(b *testing.B) {
	kept, bare := newRig(b, nil), newRig(b, &execcode.Isolation{})
	mine, floor := versus(31, func() { kept.run("pass") }, func() { bare.run("pass") })
	gate{"script: empty, kept in", "the same with a process group only", 0}.times(b, mine, floor)
}

// BenchmarkScriptTokens compares what reaches the model: four characters are a token.
func BenchmarkScriptTokens(b *testing.B) {
	r := newRig(b, nil)
	for i := range 50 {
		must(b, os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("f%02d.txt", i)), []byte(strings.Repeat("a line of some file in a project\n", 60)), 0o600))
	}
	reg, err := tool.NewRegistry(file.Read(file.New(file.Options{})))
	must(b, err)
	direct := 0
	for i := range 50 {
		args := fmt.Sprintf(`{"path":"f%02d.txt"}`, i)
		res := reg.Run(context.Background(), "read_file", tool.Call{Session: "s", Cwd: r.dir, Args: json.RawMessage(args)})
		direct += len(args) + len("read_file") + len(res.Text)
	}
	code := "from hermes_tools import read_file\nfor i in range(50):\n    t = read_file(f'f{i:02d}.txt')['content']\n    print(i, t.count('some'))\n"
	res := r.e.Run(context.Background(), execcode.Script{
		Code: code, Dir: r.dir, Tools: r.tools,
		Call: func(ctx context.Context, c tool.NestedCall) tool.NestedResult {
			var out tool.NestedResult
			out.ToolResult = reg.Run(ctx, c.Name, tool.Call{Session: "s", Cwd: r.dir, Args: c.Args, Data: func(v any) { out.Data, _ = json.Marshal(v) }})
			return out
		},
	})
	raw, err := json.Marshal(res)
	must(b, err)
	if res.Calls != 50 || res.Status != execcode.Success {
		b.Fatalf("%s", raw)
	}
	args, _ := json.Marshal(map[string]string{"code": code})
	mine := len(args) + len(raw)
	gate{"script: tokens of 50 files read and counted", "the same calls made directly", 0}.row(b, fmt.Sprint(mine/4), fmt.Sprint(direct/4), float64(mine)/float64(direct))
}
