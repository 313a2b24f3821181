package program

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/docker"
	"hermes/pool/docker/dockertest"
)

// These tests run the whole program with containers of a real engine: a scripted model names the
// back ends, and what is asked of the engine is asked beside the program.

// boxes is a home whose default back end is a container of busybox.
type boxes struct {
	*home
	model    *modeltest.Server
	image    string
	backends string
}

// Back ends as config.yaml lists them; IMAGE stands for busybox. WHERE tells commands where they
// are.
const (
	defaultBox = "    default: {image: IMAGE, env: {WHERE: first}}\n"
	twoBoxes   = defaultBox + "    analytics: {image: IMAGE, env: {WHERE: second}}\n"
	brokenBox  = "    broken: {image: \"127.0.0.1:1/none:1\"}\n"
)

// newBoxes makes a home with these back ends. Nothing of it outlives the test.
func newBoxes(t *testing.T, backends string) *boxes {
	t.Helper()
	testskip.Long(t, "the whole program with real containers")
	b := &boxes{home: newHome(t, ""), image: dockertest.Busybox(t)}
	t.Cleanup(b.none)
	b.backends = backends
	return b
}

// plays gives the home a model that answers so, and the settings; terminal is more of them, below
// terminal:.
func (b *boxes) plays(terminal string, turns ...modeltest.Turn) {
	b.t.Helper()
	b.model = modeltest.New(b.t, turns...)
	b.configure(serverSettings(b.model) + "terminal:\n  backend: docker\n" + terminal + "  backends:\n" + strings.ReplaceAll(b.backends, "IMAGE", `"`+b.image+`"`))
}

// containers are those of this home, as the engine knows them.
func (b *boxes) containers() []backend.Leftover {
	b.t.Helper()
	k := docker.New(docker.Options{Home: b.dir})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list, err := k.Leftovers(ctx, []pool.Spec{{}})
	if err != nil {
		b.t.Error(err)
	}
	if err := k.Close(ctx); err != nil {
		b.t.Error(err)
	}
	return list
}

// none fails when something runs, and removes what is kept with the runner's volume.
func (b *boxes) none() {
	b.t.Helper()
	for _, c := range b.containers() {
		if c.State != "exited" {
			b.t.Errorf("%s is left over, %s", c.Name, c.State)
		}
	}
	k := docker.New(docker.Options{Home: b.dir})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := k.Prune(ctx, []pool.Spec{{}}, true); err != nil {
		b.t.Error(err)
	}
	if err := k.Close(ctx); err != nil {
		b.t.Error(err)
	}
}

// processes are the command lines in a container of this home; "" when it has none of that back
// end.
func (b *boxes) processes(backend string) string {
	b.t.Helper()
	for _, c := range b.containers() {
		if c.Backend == backend && c.State == "running" {
			out, err := exec.Command("docker", "top", c.ID, "-eo", "pid,args").CombinedOutput()
			if err != nil {
				b.t.Errorf("docker top: %v %s", err, out)
			}
			return string(out)
		}
	}
	return ""
}

// in is a call of terminal in a back end; "" names none.
func in(backend, command string) modeltest.Call {
	args := map[string]any{"command": command}
	if backend != "" {
		args["backend"] = backend
	}
	return calling("terminal", args)
}

func calling(name string, args map[string]any) modeltest.Call {
	raw, _ := json.Marshal(args)
	return modeltest.Call{Name: name, Args: string(raw)}
}

// happening is an event of --output jsonl with the fields that matter here.
type happening struct {
	At   time.Time `json:"at"`
	Type string    `json:"type"`
	Data struct {
		Name   string             `json:"name"` // of a back end
		To     event.BackendState `json:"to"`
		Result chat.ToolResult    `json:"result"`
		Label  string             `json:"label"` // of progress
		Done   int64              `json:"done"`
		Unit   string             `json:"unit"`
	} `json:"data"`
	raw []byte
}

// finished is what a run said.
type finished struct {
	code   int
	errs   string
	events []happening
}

// turn runs `hermes run` in a process of its own.
func (b *boxes) turn(env []string, args ...string) finished {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "hermes", append([]string{"run", "--yes", "--output", "jsonl", "go"}, args...)...)
	cmd.Env, cmd.Dir = append(b.env(), env...), b.work
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if ctx.Err() != nil {
		b.t.Fatalf("hermes run hangs: %s%s", out, &errs)
	}
	o := finished{errs: errs.String()}
	if err != nil {
		o.code = cmd.ProcessState.ExitCode()
	}
	for l := range strings.Lines(string(out)) {
		e := happening{raw: []byte(l)}
		if err := json.Unmarshal(e.raw, &e); err != nil {
			b.t.Fatalf("%v in %s", err, l)
		}
		o.events = append(o.events, e)
	}
	return o
}

// results are those of the calls, in the order in which they ended.
func (o finished) results() (all []chat.ToolResult) {
	for _, e := range o.events {
		if e.Type == "ToolEnded" {
			all = append(all, e.Data.Result)
		}
	}
	return all
}

// states are the states that a back end went through.
func (o finished) states(name string) (all []event.BackendState) {
	for _, e := range o.events {
		if e.Type == "BackendChanged" && e.Data.Name == name {
			all = append(all, e.Data.To)
		}
	}
	return all
}

// rest is the shortest time between a failure of a back end and its next try; an hour when there
// was none.
func (o finished) rest(name string) time.Duration {
	least, failed := time.Hour, time.Time{}
	for _, e := range o.events {
		if e.Type != "BackendChanged" || e.Data.Name != name {
			continue
		}
		if e.Data.To == event.BackendFailed {
			failed = e.At
		} else if !failed.IsZero() {
			least, failed = min(least, e.At.Sub(failed)), time.Time{}
		}
	}
	return least
}

// has says whether some event of a kind holds a part.
func (o finished) has(kind, part string) bool {
	return slices.ContainsFunc(o.events, func(e happening) bool { return e.Type == kind && strings.Contains(string(e.raw), part) })
}

// heard are the results that the model got, in the order of its calls.
func heard(s *modeltest.Server) (texts []string) {
	all := s.Requests()
	if len(all) == 0 {
		return nil
	}
	for _, m := range all[len(all)-1].Messages {
		if m.Role == "tool" {
			texts = append(texts, m.Text())
		}
	}
	return texts
}

// within waits for a condition of the engine, which announces nothing, and says how long that took.
func within(t *testing.T, most time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	for !ok() {
		if time.Since(begun) > testwait.Within(most) {
			t.Fatalf("after %v never came: %s", most, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return time.Since(begun)
}

// pythonImage is busybox with this machine's Python: the program, the libraries that it names, and
// its standard library.
func pythonImage(t *testing.T) string {
	t.Helper()
	files := exec.Command("sh", "-ec", `python=$(python3 -I -S -c 'import os, sys; print(os.path.realpath(sys.executable))')
		lib=$("$python" -I -S -c 'import os; print(os.path.dirname(os.__file__))')
		echo "$python"; find "$lib" \( -name test -o -name idlelib -o -name __pycache__ -o -name dist-packages -o -name site-packages -o -name lib2to3 -o -name ensurepip \
			-o -name tkinter -o -name 'config-*' \) -prune -o -type f -print
		{ ldd "$python"; for so in "$lib"/lib-dynload/*.so; do ldd "$so"; done; } | grep -o '/[^ ]*' | sort -u`)
	list, err := files.Output()
	if err != nil {
		t.Fatal(err)
	}
	a := dockertest.NewArchive()
	seen := map[string]bool{}
	var program string
	for path := range strings.Lines(string(list)) {
		path = strings.TrimSpace(path)
		data, err := os.ReadFile(path)
		if err != nil || seen[path] {
			continue
		}
		if program == "" {
			program = path
		}
		seen[path] = true
		a.File(strings.TrimPrefix(path, "/"), data, 0o755)
	}
	shell, err := exec.LookPath("busybox")
	if err != nil {
		dockertest.Missing(t, "%v", err)
	}
	data, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	a.File("bin/busybox", data, 0o755)
	for _, name := range []string{"sh", "cat", "echo", "test", "mkdir", "rm", "id"} {
		a.Link("bin/"+name, "busybox")
	}
	a.Link("bin/python3", program)
	a.Dir("tmp", 0o1777)
	return dockertest.Import(t, "python", a.Bytes(), "ENV PATH=/bin")
}
