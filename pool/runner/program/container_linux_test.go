package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool/conformance"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

// inside is where containers of these tests find the program.
const inside = "/.hermes/runner"

// engine skips, or with HERMES_TEST_REQUIRE fails, where there is no Docker Engine.
func engine(t testing.TB) {
	t.Helper()
	out, err := exec.Command("docker", "version", "-f", "{{.Server.Version}}").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("HERMES_TEST_REQUIRE") != "" {
		t.Fatalf("no Docker Engine: %v: %s", err, out)
	}
	t.Skipf("no Docker Engine: %v", err)
}

// image imports an image that is gone when the test ends: busybox with all its names, or nothing at
// all.
func image(t testing.TB, withShell bool) string {
	t.Helper()
	engine(t)
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	add := func(h tar.Header, content []byte) {
		h.Size = int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(content)
	}
	for _, dir := range []string{"bin/", "usr/", "etc/", ".hermes/"} {
		add(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}, nil)
	}
	if withShell {
		busybox, err := os.ReadFile("/bin/busybox")
		if err != nil {
			if os.Getenv("HERMES_TEST_REQUIRE") != "" {
				t.Fatal(err)
			}
			t.Skip("no static busybox: ", err)
		}
		add(tar.Header{Name: "bin/busybox", Mode: 0o755}, busybox)
		names, _ := exec.Command("/bin/busybox", "--list").Output()
		for name := range strings.FieldsSeq(string(names)) {
			if name != "busybox" {
				add(tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox", Mode: 0o777}, nil)
			}
		}
	}
	_ = w.Close()
	name := fmt.Sprintf("hermes-runner-test:%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd := exec.Command("docker", "import", "-", name)
	cmd.Stdin = &data
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("docker import: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "rmi", "-f", name).CombinedOutput(); err != nil {
			t.Errorf("docker rmi: %v: %s", err, out)
		}
	})
	return name
}

var serial struct {
	sync.Mutex
	n int
}

// container is the command that runs the program as a container's main process, hardened; it is
// gone when the test ends.
func container(t testing.TB, image string, flags, serve []string) (cmd *exec.Cmd, name string) {
	t.Helper()
	serial.Lock()
	serial.n++
	name = fmt.Sprintf("hermes-runner-test-%d-%d", os.Getpid(), serial.n)
	serial.Unlock()
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "-f", name).Run() })
	args := append([]string{
		"run", "-i", "--rm", "--name", name, "--network", "none", "--read-only", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--log-driver", "none", "-v", program(t) + ":" + inside + ":ro", "--entrypoint", inside,
	}, flags...)
	return exec.Command("docker", append(append(args, image, "serve"), serve...)...), name
}

func runIn(t testing.TB, c *wire.Client, command string) runner.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := c.Run(ctx, runner.Spec{Command: command})
	if err != nil {
		t.Fatalf("%.80q: %v", command, err)
	}
	return res
}

// The whole table of behaviours, with busybox ash, on a read-only root, as PID 1, without a
// capability.
func TestConformanceInAContainer(t *testing.T) {
	busybox := image(t, true)
	shared := t.TempDir()
	command := func(t testing.TB) *exec.Cmd {
		cmd, _ := container(t, busybox, []string{"-v", shared + ":" + shared}, nil)
		return cmd
	}
	fresh := func(t testing.TB) string {
		dir, err := os.MkdirTemp(shared, "")
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	conformance.RunBehaviour(t, maker(command, "", fresh))
}

func TestInAContainerWithoutAShell(t *testing.T) {
	cmd, _ := container(t, image(t, false), []string{"--user", "1234:1234"}, nil)
	c := connect(t, spawn(t, cmd), wire.Options{SHA256: fileHash(t)})
	if i := c.Info(); i.PID != 1 || i.Shell != "" || i.UID != 1234 || i.Home != "/" || i.Dir != "/" {
		t.Errorf("%+v", i)
	}
	res, err := c.Run(context.Background(), runner.Spec{Argv: []string{inside, "hash"}})
	if err != nil || strings.TrimSpace(string(res.Output)) != fileHash(t) || len(res.Warnings) > 0 {
		t.Errorf("argument vector: %q, %v, %v", res.Output, res.Warnings, err)
	}
	if _, err = c.Run(context.Background(), runner.Spec{Command: "true"}); err == nil || !strings.Contains(err.Error(), "neither bash nor sh") {
		t.Errorf("command: %v", err)
	}
}

func TestTheImagesEnvironmentIsSeen(t *testing.T) {
	cmd, _ := container(t, image(t, true), []string{"-e", "OF_IMAGE=x y", "-w", "/usr"}, nil)
	c := connect(t, spawn(t, cmd), wire.Options{})
	if out := string(runIn(t, c, "echo $OF_IMAGE; pwd; echo $HOME $$").Output); !strings.HasPrefix(out, "x y\n/usr\n/") {
		t.Errorf("%q", out)
	}
}

func TestTheFirstProcessCollectsOrphans(t *testing.T) {
	cmd, _ := container(t, image(t, true), nil, nil)
	c := connect(t, spawn(t, cmd), wire.Options{})
	for range 20 {
		runIn(t, c, "(setsid sh -c 'sleep 0.05' &) ; (sh -c 'exit 3' &)")
	}
	zombies := "sleep 0.2; grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l"
	for deadline := time.Now().Add(patience); strings.TrimSpace(string(runIn(t, c, zombies).Output)) != "0"; {
		if time.Now().After(deadline) {
			t.Fatal("zombies are left")
		}
	}
	if res := runIn(t, c, "exit 7"); res.ExitCode != 7 {
		t.Errorf("exit code %d: the end of a command was taken by somebody else", res.ExitCode)
	}
}

func TestAtTheLimitOfProcesses(t *testing.T) {
	cmd, _ := container(t, image(t, true), []string{"--pids-limit", "64", "--user", "1000:1000"}, nil)
	c := connect(t, spawn(t, cmd), wire.Options{Grace: 500 * time.Millisecond})
	p, err := c.Start(runner.Spec{Command: "while :; do sleep 1000 & done"})
	if err != nil {
		t.Fatal(err)
	}
	full := false
	for deadline := time.Now().Add(patience); !full && time.Now().Before(deadline); {
		_, err := c.Run(context.Background(), runner.Spec{Argv: []string{"/bin/sleep", "0.3"}})
		full = err != nil && strings.Contains(err.Error(), "limit of processes")
		if err != nil && !full {
			t.Fatal(err)
		}
		if _, ended := p.Exit(); ended { // ash gives up where it cannot fork; what it started is there all the same
			break
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := p.Output(0, 0); !full && !strings.Contains(string(out), "fork") {
		t.Errorf("the limit was not reached: %q", out)
	}
	for range 20 {
		_, _ = c.Run(context.Background(), runner.Spec{Argv: []string{"/bin/true"}})
	}
	if cause := lost(c); cause != nil {
		t.Errorf("the program did not survive it: %v", cause)
	}
}

func lost(c *wire.Client) error {
	select {
	case cause := <-c.Gone():
		return cause
	default:
		return nil
	}
}

func TestStoppingAContainerIsFast(t *testing.T) {
	testskip.Long(t, "real containers")
	for _, flags := range [][]string{nil, {"--init"}} {
		cmd, name := container(t, image(t, true), flags, nil)
		f := spawn(t, cmd)
		c := connect(t, f, wire.Options{})
		if _, err := c.Start(runner.Spec{Command: "trap '' TERM; while :; do sleep 1; done"}); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if out, err := exec.Command("docker", "stop", "-t", "10", name).CombinedOutput(); err != nil {
			t.Fatalf("docker stop: %v: %s", err, out)
		}
		if took := time.Since(begun); took > testwait.Within(7*time.Second) {
			t.Errorf("%v: docker stop took %v", flags, took)
		}
		receive(t, "the loss", c.Gone())
	}
}

func TestAContainerEndsWithItsClient(t *testing.T) {
	testskip.Long(t, "real containers")
	for _, flags := range [][]string{nil, {"--init"}} {
		cmd, name := container(t, image(t, true), flags, []string{"-grace", "1s"})
		f := spawn(t, cmd)
		c := connect(t, f, wire.Options{})
		if _, err := c.Start(runner.Spec{Command: "trap '' TERM; while :; do sleep 1; done"}); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		_ = f.cmd.Process.Kill() // as if it were we: the engine sees the stream end
		for running(t, name) {
			if time.Since(begun) > patience {
				t.Fatalf("%v: the container still runs", flags)
			}
		}
		if took := time.Since(begun); took > testwait.Within(5*time.Second) {
			t.Errorf("%v: the container ended %v after the kill", flags, took)
		}
	}
}

func running(t testing.TB, name string) bool {
	out, err := exec.Command("docker", "ps", "-q", "-f", "name=^"+name+"$").Output()
	if err != nil {
		t.Fatal(err)
	}
	return len(bytes.TrimSpace(out)) > 0
}

func TestASecondHermesJoinsThroughExec(t *testing.T) {
	testskip.Long(t, "real containers")
	cmd, name := container(t, image(t, true), []string{"--user", "1000:1000"}, []string{"-socket", "hermes-test", "-grace", "5s"})
	first := spawn(t, cmd)
	_ = connect(t, first, wire.Options{})
	second := spawn(t, exec.Command("docker", "exec", "-i", name, inside, "join", "hermes-test"))
	c := connect(t, second, wire.Options{})
	if c.Info().PID != 1 {
		t.Errorf("process %d answers", c.Info().PID)
	}
	_ = first.cmd.Process.Kill() // the container's own stream is lost, the second one's is not
	time.Sleep(6 * time.Second)  // longer than the grace
	if out := string(runIn(t, c, "echo $$ here").Output); !strings.HasSuffix(out, " here\n") {
		t.Errorf("%q", out)
	}
	stranger := exec.Command("docker", "exec", "-i", "--user", "2000", name, inside, "join", "hermes-test")
	if out, err := stranger.CombinedOutput(); err == nil || !strings.Contains(string(out), "another user") {
		t.Errorf("another user: %q, %v", out, err)
	}
}
