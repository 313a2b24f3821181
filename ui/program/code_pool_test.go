package program

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/execcode"
	"hermes/core/provider/modeltest"
	"hermes/core/tool"
	"hermes/pool"
	"hermes/pool/local"
)

// A script in a back end calls tools over the pool's channel, as one beside the agent does over its
// own.
func TestAScriptInABackEnd(t *testing.T) {
	t.Parallel()
	needPython(t)
	kind := local.New()
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{})
	defer box.Close()
	p, err := pool.New(pool.Config{}, map[string]pool.Kind{local.Name: kind}, bus)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := kind.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	e := execcode.New(execcode.Options{Env: func() []string { return nil }, Pool: p})
	defer e.Close()
	script := execcode.Script{
		Session: "s", CallID: "c", Backend: "default", Dir: t.TempDir(), Limits: execcode.Limits{Timeout: patience},
		Tools: []tool.Spec{{Name: "read_file", Schema: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}`)}},
		Call: func(_ context.Context, c tool.NestedCall) tool.NestedResult {
			return tool.NestedResult{Data: c.Args}
		},
	}
	run := func(code string) execcode.Result {
		script.Code = code
		return e.Run(t.Context(), script)
	}
	res := run("import threading\nfrom hermes_tools import read_file\ngot = {}\ndef f(i): got[i] = read_file(str(i))['path']\nts = [threading.Thread(target=f, args=(i,)) for i in range(8)]\n[t.start() for t in ts]; [t.join() for t in ts]\nprint(all(got[i] == str(i) for i in range(8)))")
	if res.Status != execcode.Success || strings.TrimSpace(res.Output) != "True" || res.Calls != 8 || res.Isolation != "backend default" {
		t.Errorf("%+v", res)
	}
	if res := run("print('a')\n1/0"); res.Status != execcode.Failure || res.ExitCode != 1 || res.Error != "ZeroDivisionError: division by zero" {
		t.Errorf("%+v", res)
	}
	for _, limit := range []time.Duration{time.Second, 8 * time.Second, 30 * time.Second} { // a busy machine starts Python late
		script.Limits.Timeout = limit
		if res = run("import time\nprint('part')\ntime.sleep(60)"); strings.HasPrefix(res.Output, "part\n") {
			break
		}
	}
	if res.Status != execcode.TimedOut || !strings.HasPrefix(res.Output, "part\n") {
		t.Errorf("%+v", res)
	}
	script.Limits.Timeout = patience
	script.Kernel = true
	if res := run("x = 5"); res.Status != execcode.Success || res.Kernel != "new" {
		t.Errorf("%+v", res)
	}
	if res := run("print(x)"); res.Output != "5\n" || res.Kernel != "kept" {
		t.Errorf("%+v", res)
	}
	for _, env := range box.Drain() {
		if ended, ok := env.Event.(event.ProcessEnded); ok {
			t.Errorf("a script is told as a process in the background: %.60s", ended.Command)
			break
		}
	}
}

// A container without Python: the answer names a back end that has one.
func TestAScriptWhereThereIsNoPython(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, defaultBox+"    here: {kind: local}\n    other: {image: IMAGE}\n")
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{calling("execute_code", map[string]any{"code": "print(1)"})}}, modeltest.Turn{Text: "done"})
	if o := b.turn(nil); o.code != 0 {
		t.Fatalf("code %d: %s", o.code, o.errs)
	}
	got := heard(b.model)[0]
	for _, want := range []string{"there is no python3 in back end 'default'", "There is one in: here", "not up: other"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}
