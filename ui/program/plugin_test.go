package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/core/testwait"
)

// plug puts a plugin into the home and enables it.
func (h *home) plug(t *testing.T, name string, files map[string]string) {
	t.Helper()
	h.place(t, name, files)
	if r := h.run("plugins", "enable", "-y", name); r.code != 0 {
		t.Fatalf("%+v", r)
	}
}

// place puts a plugin into the home.
func (h *home) place(t *testing.T, name string, files map[string]string) {
	t.Helper()
	folder := filepath.Join(h.dir, "plugins", name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// example are the files of a plugin of the documentation, and its program where that is compiled.
func example(t *testing.T, name string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/examples/plugins/" + name + "/*.*")
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	needs := "python3"
	if slices.ContainsFunc(paths, func(p string) bool { return filepath.Ext(p) == ".go" }) {
		needs = "go"
	}
	program, err := exec.LookPath(needs)
	if err != nil {
		testskip.Missing(t, needs)
	}
	if needs == "go" {
		built := filepath.Join(t.TempDir(), name)
		if out, err := exec.Command(program, "build", "-o", built, paths[0]).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		paths = append(paths, built)
	}
	out := map[string]string{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(p)] = string(data)
	}
	return out
}

func oneCall(name, args string) modeltest.Turn {
	return modeltest.Turn{Calls: []modeltest.Call{{ID: "call_" + name, Name: name, Args: args}}}
}

// The plugins of the documentation do what it says: a file is formatted after it was written, a
// generated one is kept, a note is asked about and kept.
func TestExamplePlugins(t *testing.T) {
	t.Parallel()
	h, s := homeWith(t, modeltest.Turn{Calls: []modeltest.Call{
		{ID: "c1", Name: "write_file", Args: `{"path":"a.go","content":"package a\nfunc  A( ) { }\n"}`},
		{ID: "c2", Name: "write_file", Args: `{"path":"gen.go","content":"package mine\n"}`},
		{ID: "c3", Name: "mcp__notes__add", Args: `{"text":"whales sleep"}`},
	}}, oneCall("mcp__notes__find", `{"word":"whales"}`), modeltest.Turn{Text: "done"})
	h.configure(serverSettings(s) + "approvals: {mode: 'off'}\n")
	h.plug(t, "notes", example(t, "notes"))
	h.plug(t, "gofmt", example(t, "gofmt"))
	if err := os.WriteFile(filepath.Join(h.work, "gen.go"), []byte("// Code generated. DO NOT EDIT.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := h.run("run", "go")
	if data, err := os.ReadFile(filepath.Join(h.work, "a.go")); err != nil || string(data) != "package a\n\nfunc A() {}\n" {
		t.Errorf("%q %v %+v", data, err, r)
	}
	if data, err := os.ReadFile(filepath.Join(h.work, "gen.go")); err != nil || !strings.Contains(string(data), "DO NOT EDIT") {
		t.Errorf("%q %v", data, err)
	}
	all := r.out + r.err
	for _, want := range []string{"gofmt changed a.go", "refused it: gen.go is generated", "whales sleep"} {
		if last := string(s.Requests()[len(s.Requests())-1].Body); !strings.Contains(all, want) && !strings.Contains(last, want) {
			t.Errorf("nobody was told %q: %+v", want, r)
		}
	}
}

// A plugin that lies takes nothing else down, and what its guard was to judge is refused.
func TestPluginsThatLie(t *testing.T) {
	t.Parallel()
	const manifest = "name: liar\napi: 1\ncommand: [sh, run.sh]\nhooks: [{on: pre_tool_call, tool: guard, matcher: write_file, timeout: 2s}]\n"
	const begins = `read l; printf '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}\n'; read l; read l; printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}\n'; `
	for name, script := range map[string]string{
		"ends at once": "echo no key >&2; exit 3\n", "silent": "sleep 1000\n", "ends at a call": begins + "read l; exit 1\n",
		"hangs": begins + "read l; sleep 1000\n", "floods": begins + "read l; yes '{\"jsonrpc\":\"2.0\",\"method\":\"x\"}'\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, s := homeWith(t, oneCall("write_file", `{"path":"a","content":"x"}`), oneCall("terminal", `{"command":"echo alive"}`), modeltest.Turn{Text: "done"})
			h.configure(serverSettings(s) + "approvals: {mode: 'off'}\n")
			h.plug(t, "liar", map[string]string{"plugin.yaml": manifest, "run.sh": script})
			began := time.Now()
			r := h.run("run", "--toolsets", "file,terminal", "go")
			took := time.Since(began)
			if _, err := os.Stat(filepath.Join(h.work, "a")); err == nil || r.code != 0 || !strings.Contains(r.err, "liar.guard") {
				t.Errorf("%v %+v", err, r)
			}
			if last := string(s.Requests()[2].Body); !strings.Contains(last, "alive") {
				t.Errorf("the next call did not run: %s", last)
			}
			if took > testwait.Within(30*time.Second) {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A plugin that changed since it was enabled does not run, and its guard is not got rid of by that.
func TestAChangedPluginWaits(t *testing.T) {
	t.Parallel()
	h, s := homeWith(t, oneCall("write_file", `{"path":"a","content":"x"}`), modeltest.Turn{Text: "done"})
	h.configure(serverSettings(s) + "approvals: {mode: 'off'}\n")
	h.plug(t, "guard", map[string]string{"plugin.yaml": "name: guard\napi: 1\ncommand: [touch, ran]\nhooks: [{on: pre_tool_call, tool: t}]\n"})
	if err := os.WriteFile(filepath.Join(h.dir, "plugins", "guard", "more"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := h.run("run", "go")
	if _, err := os.Stat(filepath.Join(h.dir, "plugins", "guard", "ran")); err == nil || !strings.Contains(r.err, "has changed since it was enabled") {
		t.Errorf("%v %+v", err, r)
	}
	if _, err := os.Stat(filepath.Join(h.work, "a")); err == nil {
		t.Error("what it was to judge ran")
	}
}
