package local

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/backend"
	"hermes/core/confine"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/conformance"
)

// engines are what every test of the sandbox is run with.
var engines = []confine.Engine{confine.OfKernel, confine.Bubblewrap}

// sandboxed skips where an engine is not to be had, unless it must not.
func sandboxed(t testing.TB, e confine.Engine) {
	t.Helper()
	if err := confine.Probe(e); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func confined(mode string, e confine.Engine) conformance.Maker {
	return func(t testing.TB) conformance.Place {
		p := newPool(t, pool.Config{Backends: map[string]pool.Spec{
			"here": {Options: &Settings{Sandbox: mode, SandboxEngine: string(e)}},
		}})
		return conformance.Place{Pool: p, Backend: "here", Grace: grace, Fresh: t.TempDir, Sweeps: true, Ends: e == confine.Bubblewrap}
	}
}

func TestConformanceInASandbox(t *testing.T) {
	testskip.Long(t, "the whole table in each sandbox")
	for _, e := range engines {
		t.Run(string(e), func(t *testing.T) {
			sandboxed(t, e)
			conformance.RunBehaviour(t, confined("project", e))
		})
	}
}

// us is this very process.
var us = strconv.Itoa(os.Getpid())

// cell is one pool with a project to work in and a secret beside it.
type cell struct {
	t                      testing.TB
	pool                   backend.Pool
	project, outside, home string
	lasting                bool
	patience               time.Duration // with a command
}

func newCell(t testing.TB, mode string, e confine.Engine) *cell {
	sandboxed(t, e)
	base, err := os.MkdirTemp("/var/lib", "hermes-sandbox-") // not below a temporary folder, which is open
	if err != nil {
		if base, err = os.MkdirTemp(os.Getenv("HOME"), "hermes-sandbox-"); err != nil {
			testskip.Missing(t, err)
		}
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	c := &cell{t: t, project: filepath.Join(base, "project"), outside: filepath.Join(base, "outside"), home: filepath.Join(base, "home")}
	t.Setenv("HOME", c.home)
	for _, dir := range []string{c.project, c.outside, c.home, filepath.Join(c.home, ".ssh"), filepath.Join(c.home, ".hermes"), filepath.Join(c.home, ".cache")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(c.home, ".ssh", "id"), filepath.Join(c.home, ".hermes", ".env"), filepath.Join(c.home, "notes"), filepath.Join(c.outside, "file")} {
		if err := os.WriteFile(file, []byte("canary-4720\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.pool = newPool(t, pool.Config{Backends: map[string]pool.Spec{"here": {
		Workdir: c.project,
		Options: &Settings{Sandbox: mode, SandboxEngine: string(e), Hide: []string{filepath.Join(c.home, ".hermes")}},
	}}})
	return c
}

func (c *cell) run(command string) (string, int) {
	c.t.Helper()
	res, err := c.pool.Exec(context.Background(), backend.Request{Session: "s", Backend: "here", Command: command, Timeout: max(c.patience, 20*time.Second), Lasting: c.lasting})
	if err != nil {
		c.t.Fatal(err)
	}
	return string(res.Output), res.ExitCode
}

func (c *cell) works(command, want string) {
	c.t.Helper()
	if out, code := c.run(command); code != 0 || !strings.Contains(out, want) {
		c.t.Errorf("%s: exit %d, %q", command, code, out)
	}
}

func (c *cell) refused(command string) {
	c.t.Helper()
	if out, code := c.run(command); code == 0 || strings.Contains(out, "canary-4720") {
		c.t.Errorf("%s: exit %d, %q", command, code, out)
	}
}

func TestProjectSandbox(t *testing.T) {
	testskip.Long(t, "real sandboxes")
	for _, e := range engines {
		t.Run(string(e), func(t *testing.T) { projectSandbox(newCell(t, "project", e)) })
	}
}

func projectSandbox(c *cell) {
	c.works("echo made > file && cat file && mkdir -p a/b && mv file a/b && rm -r a && echo done", "done")
	c.works("f=$(mktemp) && echo x > $f && rm $f && echo > $HOME/.cache/x && cat /etc/passwd | head -1", "root")
	c.works("cat $HOME/notes "+c.outside+"/file; ls / >/dev/null && ls -d /proc/self", "canary-4720")
	for _, command := range []string{
		"echo x > " + c.outside + "/new", "echo x >> " + c.outside + "/file", "rm " + c.outside + "/file", "mv " + c.outside + "/file .", "ln " + c.outside + "/file here",
		"ln -s " + c.outside + " link && echo x > link/new", "echo x > $HOME/.bashrc", "echo x > /etc/hermes-test", "cat $HOME/.ssh/id", "cat $HOME/.hermes/.env", "cp -r $HOME/.ssh copy && cat copy/id",
		"cat /proc/" + us + "/environ", "tr x x < /proc/" + us + "/maps", "kill -9 " + us, "echo x > /proc/sys/kernel/hostname", "echo h > /proc/sysrq-trigger", "mount -t tmpfs x /mnt", "chroot / true", "cat /etc/shadow", "unshare -r true", "sh -c 'cd $HOME/.ssh && cat id'",
	} {
		c.refused(command)
	}
	if data, _ := os.ReadFile(filepath.Join(c.outside, "file")); string(data) != "canary-4720\n" {
		c.t.Errorf("%q", data)
	}
	// What comes into the home folder later can be read too, and what is hidden stays so.
	if err := os.WriteFile(filepath.Join(c.home, "later"), []byte("fresh"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.works("cat $HOME/later", "fresh")
	c.refused("cat $HOME/.ssh/id")
	socket(c)
}

func TestStrictSandbox(t *testing.T) {
	for _, e := range engines {
		t.Run(string(e), func(t *testing.T) { strictSandbox(newCell(t, "strict", e)) })
	}
}

func strictSandbox(c *cell) {
	c.works("echo made > file && cat file && cat /etc/hostname >/dev/null; ls /usr >/dev/null && echo done", "done")
	for _, command := range []string{
		"cat $HOME/notes", "cat " + c.outside + "/file", "echo x > " + c.outside + "/new", "ls $HOME", "cat $HOME/.ssh/id", "cat /etc/shadow", "cat /proc/" + us + "/environ", "kill -9 " + us,
	} {
		c.refused(command)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c.refused("bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "'")
	socket(c)
}

// socket makes sure that no Unix socket can be reached, an engine's among them.
func socket(c *cell) {
	path := filepath.Join(c.project, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer l.Close()
	for _, s := range []string{path, "/var/run/docker.sock"} {
		command := python + ` -c 'import socket; print("begun", flush=True); s = socket.socket(socket.AF_UNIX); s.connect("` + s + `"); print("connected")'`
		if free, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil && s == path {
			c.t.Fatalf("not even without a sandbox: %v, %q", err, free)
		}
		if out, code := c.run(command); code == 0 || !strings.Contains(out, "begun") || strings.Contains(out, "connected") {
			c.t.Errorf("%s: exit %d, %q", s, code, out)
		}
	}
}

// With a view of its own, what other programs run by themselves is fixed for a command, unless it
// was allowed to change that.
func TestWhatRunsLaterIsFixed(t *testing.T) {
	c := newCell(t, "project", confine.Bubblewrap)
	hook, tasks := filepath.Join(c.project, ".git", "hooks", "pre-push"), filepath.Join(c.project, ".vscode", "tasks.json")
	for _, file := range []string{hook, tasks} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("mine\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.lasting = true
	c.works("git init -q .", "")
	c.lasting = false
	c.works("git config branch.x.remote origin && git config branch.x.remote && echo x > f && git add f", "origin")
	for _, command := range []string{
		"echo x > .git/hooks/pre-push", "echo x > .git/hooks/post-merge", "rm .git/hooks/pre-push", "mv .git/hooks .git/h2", "mv .git .git2", "rm -r .git", "echo x > .vscode/tasks.json", "ln -sf /tmp/x .vscode/tasks.json",
	} {
		c.refused(command)
	}
	for _, file := range []string{hook, tasks} {
		if data, err := os.ReadFile(file); string(data) != "mine\n" {
			t.Errorf("%s: %q %v", file, data, err)
		}
	}
	c.lasting = true
	c.works("git init -q . && echo wanted > .git/hooks/pre-push && cat .git/hooks/pre-push", "wanted")
}

// A link in the place of what is held fixed makes nothing outside of the project visible or
// writable: a repository can bring one.
func TestFixedPlacesThatLeadElsewhere(t *testing.T) {
	for _, mode := range []string{"project", "strict"} {
		t.Run(mode, func(t *testing.T) {
			c := newCell(t, mode, confine.Bubblewrap)
			for link, to := range map[string]string{".envrc": filepath.Join(c.home, "notes"), ".husky": filepath.Join(c.outside, "hooks"), ".vscode": c.outside, ".git": c.outside} {
				if err := os.Symlink(to, filepath.Join(c.project, link)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(c.outside, "hooks"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(c.outside, "tasks.json"), []byte("canary-4720\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			c.refused("echo x > " + filepath.Join(c.home, ".bashrc"))
			c.refused("echo x > " + filepath.Join(c.outside, "new"))
			c.refused("echo x > " + filepath.Join(c.outside, "hooks", "new"))
			if mode == "strict" {
				c.refused("cat .envrc")
				c.refused("cat " + filepath.Join(c.outside, "tasks.json"))
			}
		})
	}
}

// A folder that is swapped for a link while the sandbox is made, over and over, never becomes a way
// out.
func TestFixedPlacesThatAreSwapped(t *testing.T) {
	testskip.Long(t, "races for seconds")
	c := newCell(t, "project", confine.Bubblewrap)
	place, link := filepath.Join(c.project, ".vscode"), filepath.Join(c.project, "link")
	if err := errors.Join(os.Mkdir(place, 0o755), os.WriteFile(filepath.Join(place, "tasks.json"), []byte("mine\n"), 0o644), os.WriteFile(filepath.Join(c.outside, "tasks.json"), []byte("canary-4720\n"), 0o644), os.Symlink(c.outside, link)); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, place, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()
	ran := 0
	for range 40 {
		_, err := c.pool.Exec(t.Context(), backend.Request{
			Session: "s", Backend: "here", Timeout: 20 * time.Second,
			Command: "echo x > .vscode/new; echo x > link/new; echo x > " + filepath.Join(c.outside, "new"),
		})
		switch {
		case err == nil:
			ran++
		case !strings.Contains(err.Error(), "nothing runs"): // a place that was another at each try is refused
			t.Error(err)
		}
	}
	close(stop)
	<-done
	if ran < 20 {
		t.Errorf("only %d of 40 commands ran: this proved little", ran)
	}
	if _, err := os.Stat(filepath.Join(c.outside, "new")); err == nil {
		t.Error("written outside of the project")
	}
}

// ctrl+c is for the command, and for nothing that stands between.
func TestInterruptAtATerminalInASandbox(t *testing.T) {
	for _, e := range engines {
		t.Run(string(e), func(t *testing.T) {
			c := newCell(t, "project", e)
			ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
			defer cancel()
			p, err := c.pool.Start(ctx, backend.Request{
				Session: "s", Backend: "here", PTY: &backend.Size{Rows: 24, Cols: 80},
				Command: `trap 'echo heard; exit 7' INT; echo up; while :; do sleep 0.1; done`,
			})
			if err != nil {
				t.Fatal(err)
			}
			for {
				data, _, _, err := c.pool.Output("s", p.ID, 0, 0)
				if err != nil || ctx.Err() != nil {
					t.Fatal(err, ctx.Err(), string(data))
				}
				if strings.Contains(string(data), "up") {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if err := c.pool.Write("s", p.ID, []byte{3}, false); err != nil {
				t.Fatal(err)
			}
			p, err = c.pool.Wait(ctx, "s", p.ID, 0)
			data, _, _, _ := c.pool.Output("s", p.ID, 0, 0)
			if err != nil || p.ExitCode != 7 || !strings.Contains(string(data), "heard") {
				t.Errorf("%v, exit code %d, %q", err, p.ExitCode, data)
			}
		})
	}
}

// A sandbox that is asked for and not to be had is an error before anything runs.
func TestNoCommandWithoutTheSandbox(t *testing.T) {
	dir := t.TempDir()
	kind := New()
	kind.probe = func(confine.Mode, confine.Engine) (confine.Engine, error) { return "", os.ErrPermission }
	b, err := kind.Open("", pool.Spec{Workdir: dir, Options: &Settings{Sandbox: "strict"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "terminal.sandbox") {
		t.Errorf("%v", err)
	}
	if err := kind.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkWarmCall(b *testing.B) {
	for _, kind := range [][2]string{{"off", ""}, {"project", "landlock"}, {"strict", "landlock"}, {"project", "bubblewrap"}, {"strict", "bubblewrap"}} {
		b.Run(strings.TrimSpace(kind[0]+" "+kind[1]), func(b *testing.B) {
			place := confined(kind[0], confine.Engine(kind[1]))(b)
			r := backend.Request{Session: "s", Backend: "here", Command: "true"}
			for b.Loop() {
				if _, err := place.Pool.Exec(context.Background(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSandboxOfANormalUser runs the tests above as nobody, when they are run as root.
func TestSandboxOfANormalUser(t *testing.T) {
	testskip.Long(t, "runs the sandbox tests as another user")
	for _, e := range engines {
		sandboxed(t, e)
	}
	if os.Geteuid() != 0 {
		t.Skip("not root: the tests above said it")
	}
	const nobody = 65534
	base, err := os.MkdirTemp("/var/lib", "hermes-nobody-")
	if err != nil {
		testskip.Missing(t, err)
	}
	defer os.RemoveAll(base)
	self, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(base, "local.test"), self, 0o755)
	}
	for _, dir := range []string{base, filepath.Join(base, "home"), filepath.Join(base, "tmp")} {
		if err == nil && dir != base {
			err = os.Mkdir(dir, 0o700)
		}
		if err == nil {
			err = os.Chown(dir, nobody, nobody)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(base, "local.test"), "-test.run", "^Test(Project|Strict)Sandbox$|^TestConformanceInASandbox$|^TestAttributes|^TestNoSetIDBits$")
	cmd.Dir = base
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "TMPDIR=" + filepath.Join(base, "tmp"), "HERMES_TEST_REQUIRE=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: false}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
