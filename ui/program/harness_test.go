package program

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hermes/core/config"
	"hermes/core/provider/modeltest"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/core/testwait"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
	"hermes/ui/cli"
)

// The tests of this package boot the whole program: real settings, store, tools and commands. Only
// the model is scripted, and only where there is one. TestMain is also the program itself, for
// tests that need a process of their own.
func TestMain(m *testing.M) {
	time.Local = time.UTC //nolint:gosmopolitan // pictures show the time of day
	setRoot()
	testscript.Main(tests{m}, map[string]func(){"hermes": func() { os.Exit(Main("")) }, "mcpserver": serveTools, "ordersserver": serveOrders})
}

// rootName is the variable that tells the programs which these tests start where they come from.
const rootName = "HERMES_TESTED_BELOW"

// setRoot makes nothing above these tests count as what drives the program: they may run in a call
// of another Hermes. A program that a tested one starts is driven all the same.
func setRoot() {
	root, err := strconv.Atoi(os.Getenv(rootName))
	if err != nil || filepath.Base(os.Args[0]) != "hermes" {
		root = os.Getpid()
		_ = os.Setenv(rootName, strconv.Itoa(root))
	}
	driven = func() bool { return runner.InsideBelow(root) }
}

// tests are those of this package, which leave no images behind.
type tests struct{ m *testing.M }

// Run implements testscript's TestingM.
func (t tests) Run() int { return dockertest.Main(t.m) }

// patience is how long anything here may take before it counts as hanging.
const patience = testwait.Hang

// home is a fresh HERMES_HOME with a folder to work in.
type home struct {
	t    testing.TB
	dir  string
	work string
}

// newHome makes a home with a config.yaml; an empty one means none, and the offline model.
func newHome(t testing.TB, settings string) *home {
	t.Helper()
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home"), work: filepath.Join(t.TempDir(), "work")}
	for _, dir := range []string{h.dir, h.work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if settings != "" {
		h.configure(settings)
	}
	return h
}

// homeWith makes a home whose model is a scripted server.
func homeWith(t testing.TB, turns ...modeltest.Turn) (*home, *modeltest.Server) {
	t.Helper()
	s := modeltest.NewScript(t, modeltest.Script{Turns: turns})
	return newHome(t, serverSettings(s)), s
}

// serverSettings is a config.yaml that names a scripted server.
func serverSettings(s *modeltest.Server) string {
	return "model:\n  provider: scripted\n  default: test-model\nproviders:\n  scripted:\n    base_url: " + s.URL + "\n    api_key: secret\n"
}

func (h *home) configure(settings string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(settings), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// env is the environment of the program: nothing of the machine's own but its programs. A model
// server that somebody runs here must not answer for the offline one, so a home without a
// configured model names that.
func (h *home) env() []string {
	env := []string{"HOME=" + h.dir, "HERMES_HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0", rootName + "=" + os.Getenv(rootName)}
	settings, err := os.ReadFile(filepath.Join(h.dir, "config.yaml"))
	if err != nil || !bytes.Contains(settings, []byte("base_url")) {
		env = append(env, "HERMES_MODEL=offline")
	}
	return env
}

// result is how a command line ended.
type result struct {
	code     cli.Exit
	out, err string
}

// run is the command line in this process.
func (h *home) run(args ...string) result {
	h.t.Helper()
	return h.runCtx(h.t.Context(), args...)
}

func (h *home) runCtx(ctx context.Context, args ...string) result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if len(args) > 0 && args[0] == "run" {
		args = append(args, "--cwd", h.work)
	}
	var out, errs bytes.Buffer
	code := cli.Main(ctx, commands(""), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, h.env())
	if ctx.Err() == context.DeadlineExceeded {
		h.t.Fatalf("hermes %s hangs; so far %s%s", strings.Join(args, " "), &out, &errs)
	}
	return result{cli.Exit(code), out.String(), errs.String()}
}

// start is what the command line would hand to the workbench.
func (h *home) start() cli.Start {
	o := config.Options{Home: h.dir, Env: h.env()}
	c, problems := config.Load(o)
	return cli.Start{Config: c, Options: o, Problems: problems, Session: session.Config{Source: "tui"}, Cwd: h.work}
}

// sessions opens the home's store, as the next process would.
func (h *home) sessions() (*session.Service, *store.Store) {
	h.t.Helper()
	st, err := store.Open(h.t.Context(), filepath.Join(h.dir, "workbench.db"), store.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = st.Close() })
	return session.New(st, nil), st
}

// eventually waits for a condition that nothing announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came: %s", what)
		}
	}
}
