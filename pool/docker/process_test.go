package docker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hermes/pool"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
)

const helperEnv = "HERMES_DOCKER_HELPER" // home, session, image, path of the runner

// helperMain is another hermes, when a test starts this program as one: it brings a back end up,
// runs what it reads line by line, and says what came of it.
func helperMain() bool {
	args := strings.Split(os.Getenv(helperEnv), "|")
	if len(args) != 4 {
		return false
	}
	program := func(string, string) (Program, error) {
		data, err := os.ReadFile(args[3])
		return Program{SHA256: sha(data), Data: func() []byte { return data }}, err
	}
	k := New(Options{Home: args[0], Grace: 2 * time.Second, Program: program})
	b, err := k.Open(args[1], pool.Spec{Name: "default", Options: &Settings{Image: args[2]}})
	if err == nil {
		err = b.Start(context.Background(), &steps{})
	}
	if err != nil {
		fmt.Println("failed:", err)
		return true
	}
	fmt.Println("up", b.(*Backend).conn.id)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		res, err := b.Run(context.Background(), runner.Spec{Command: lines.Text()})
		fmt.Printf("ran %q %v\n", res.Output, err)
	}
	_ = b.Remove(context.Background())
	return true
}

// other is another process of the same data folder.
type other struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startOther(t *testing.T, home, session string) *other {
	t.Helper()
	path := t.TempDir() + "/runner"
	_, data, err := dockertest.Program("linux", "amd64")
	if err == nil {
		err = os.WriteFile(path, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+strings.Join([]string{home, session, dockertest.Busybox(t), path}, "|"))
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal("another process cannot be started", err1, err2)
	}
	o := &other{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(o.kill)
	return o
}

// line is the next thing that it says.
func (o *other) line() string {
	o.out.Scan()
	return o.out.Text()
}

func (o *other) run(command string) string {
	_, _ = io.WriteString(o.in, command+"\n")
	return o.line()
}

// kill is SIGKILL: nothing of it can tidy up.
func (o *other) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}
