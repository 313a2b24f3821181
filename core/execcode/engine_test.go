package execcode

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/childenv"
	"hermes/core/testskip"
	"hermes/core/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// probed is what a first engine found out, so that not every test does.
var probed = sync.OnceValues(func() (*Engine, error) {
	e := New(Options{Env: cleanEnv})
	_, err := e.Probe(context.Background(), "")
	return e, err
})

func cleanEnv() []string {
	env, _ := childenv.Rule{}.Clean(os.Environ())
	return env
}

// newEngine returns an engine whose kernels end with the test. It skips without Python.
func newEngine(t testing.TB) *Engine {
	t.Helper()
	first, err := probed()
	if err != nil {
		testskip.Missing(t, err)
	}
	e := New(Options{Env: cleanEnv})
	t.Cleanup(e.Close)
	level := *first.levels.known
	e.pythons.seen, e.levels.known, e.levels.when = maps.Clone(first.pythons.seen), &level, first.levels.when
	return e
}

// spec is a tool that scripts may call.
func spec(name, props string, required ...string) tool.Spec {
	req, _ := json.Marshal(required)
	return tool.Spec{Name: name, Description: name, Schema: json.RawMessage(fmt.Sprintf(
		`{"type":"object","additionalProperties":false,"required":%s,"properties":{%s}}`, req, props))}
}

func specs() []tool.Spec {
	return []tool.Spec{
		spec("read_file", `"path":{"type":"string"},"offset":{"type":"integer","default":1},"limit":{"type":"integer","default":500}`, "path"),
		spec("terminal", `"command":{"type":"string"},"background":{"type":"boolean","default":false},"timeout":{"type":"integer","default":180}`, "command"),
	}
}

// echo answers every call with its arguments.
func echo(_ context.Context, c tool.NestedCall) tool.NestedResult {
	data, _ := json.Marshal(map[string]any{"tool": c.Name, "args": c.Args})
	return tool.NestedResult{ToolResult: chat.ToolResult{Name: c.Name}, Data: data}
}

func script(t testing.TB, code string) Script {
	t.Helper()
	return Script{Session: "s", Code: code, Dir: t.TempDir(), Tools: specs(), Call: echo, Limits: Limits{Timeout: 60 * time.Second}}
}

func TestAScript(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	var calls atomic.Int64
	s := script(t, "from hermes_tools import read_file\nfor i in range(50):\n    r = read_file(f'f{i}', limit=3)\nprint(r)\n")
	s.Call = func(ctx context.Context, c tool.NestedCall) tool.NestedResult {
		calls.Add(1)
		return echo(ctx, c)
	}
	res := e.Run(t.Context(), s)
	if res.Status != Success || res.Calls != 50 || calls.Load() != 50 || !strings.Contains(res.Output, `'args': {'path': 'f49', 'limit': 3}`) {
		t.Errorf("%+v", res)
	}
	t.Log(res.Isolation, res.Seconds)
}
