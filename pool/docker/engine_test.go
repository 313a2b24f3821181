package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"golang.org/x/sys/unix"

	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
)

// 18
func TestTheEngineRestartsInTheMiddleOfACall(t *testing.T) {
	testskip.Long(t, "real containers")
	d := dockertest.StartDaemon(t)
	ref := d.Busybox()
	r := newRig(t, func(o *Options) { o.Grace = 20 * time.Second })
	b := r.open("s", pool.Spec{Options: &Settings{Image: ref, Engine: d.Host, Network: "none"}})
	up(t, b)
	id := b.conn.id
	failed := make(chan error, 1)
	go func() {
		_, err := b.Run(context.Background(), runner.Spec{Command: "echo ran >>/root/runs; sleep 300"})
		failed <- err
	}()
	eventually(t, "the command runs", func() bool { return output(t, b, "cat /root/runs 2>/dev/null") == "ran\n" })
	d.Stop(unix.SIGKILL)
	if got := lost(t, b); !strings.Contains(got, "connection to the Docker daemon was lost") {
		t.Errorf("cause %q", got)
	}
	select {
	case err := <-failed:
		var never *pool.NotStarted
		if err == nil || errors.As(err, &never) || !strings.Contains(err.Error(), "connection to the Docker daemon was lost; the command may still have run") {
			t.Errorf("the command's error: %v", err)
		}
	case <-time.After(testwait.Hang):
		t.Fatal("the command did not return")
	}
	// A start meanwhile waits for the engine, for it was there a moment ago.
	began := make(chan error, 1)
	go func() { began <- b.Start(context.Background(), &steps{}) }()
	time.Sleep(300 * time.Millisecond)
	d.Start()
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	if got := output(t, b, "cat /root/runs"); got != "ran\n" || b.conn.id != id {
		t.Errorf("after the engine came back: %q, same container %v", got, b.conn.id == id)
	}
	if err := b.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	_, _ = r.kind.Prune(t.Context(), nil, true)
	cli, err := b.engine.connectClient(t.Context())
	if err == nil {
		err = cli.VolumeRemove(t.Context(), b.kind.volumeName(mustProgram(t)), true)
	}
	if err != nil {
		t.Error(err)
	}
}

func mustProgram(t testing.TB) Program {
	t.Helper()
	p, err := testProgram("linux", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnEngineThatIsNotThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.open("s", pool.Spec{Options: &Settings{Engine: "unix://" + filepath.Join(t.TempDir(), "none.sock")}})
	begun := time.Now()
	err := b.Start(t.Context(), &steps{})
	var unreachable *Unreachable
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "is it running?") {
		t.Errorf("%v", err)
	}
	if took := time.Since(begun); took > testwait.Within(5*time.Second) {
		t.Errorf("it took %v to say so", took)
	}
	b.use.unlock() // nothing can be removed there
	b.use = nil
	b.engine, _ = r.kind.engineAt("")
}

// closedDoor is a socket that this user may not write to.
type closedDoor struct{}

func (closedDoor) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", unix.EACCES)}
}

func TestAnEngineOfAnotherGroupSaysWhatToJoin(t *testing.T) {
	t.Parallel()
	cli, err := client.NewClientWithOpts(client.WithHTTPClient(&http.Client{Transport: closedDoor{}}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = cli.Ping(t.Context())
	e := &engine{at: endpoint{host: "unix:///var/run/docker.sock"}}
	want := "the Docker engine at unix:///var/run/docker.sock does not let this user in: join the group docker, or use a rootless engine"
	if got := e.explainError(err); err == nil || got.Error() != want {
		t.Errorf("%v is explained as %v", err, got)
	}
}

// fake is an engine of some API version that answers a ping and nothing else.
func fake(t *testing.T, minimum, maximum string) string {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", maximum)
		w.Header().Set("Ostype", "linux")
		path := r.URL.Path
		if path == "/_ping" {
			return
		}
		version := strings.TrimPrefix(strings.Split(path, "/")[1], "v")
		if version < minimum || version > maximum { // two digits after the point, all of them
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"message":"client version %s is not between %s and %s"}`, version, minimum, maximum)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"No such thing: reached with `+version+`"}`)
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return "unix://" + l.Addr().String()
}

// 22: engines much older and much newer than the client.
func TestTheVersionOfTheAPIIsNegotiated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ minimum, maximum, used string }{{"1.12", "1.41", "1.41"}, {"1.44", "1.99", "1.51"}, {"1.24", "1.30", "1.30"}} {
		k := New(Options{Home: t.TempDir(), Program: testProgram})
		b, err := k.Open("s", pool.Spec{Name: "default", Options: &Settings{Image: "x", Pull: PullNever, Engine: fake(t, c.minimum, c.maximum)}})
		if err != nil {
			t.Fatal(err)
		}
		box := b.(*Backend)
		if err := box.engine.awaitEngine(t.Context()); err != nil {
			t.Error(err)
		}
		cli, _ := box.engine.connectClient(t.Context())
		if _, err := cli.ContainerInspect(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "reached with "+c.used) {
			t.Errorf("%s to %s: %v", c.minimum, c.maximum, err)
		}
		if err := k.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// 23: an engine that takes connections and never answers holds nobody longer than they want.
func TestAHungEngine(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	k := New(Options{Home: t.TempDir(), Program: testProgram})
	k.Sweep([]pool.Spec{{Options: &Settings{Engine: "unix://" + l.Addr().String()}}}, nil)
	b, err := k.Open("s", pool.Spec{Name: "default", Options: &Settings{Image: "x", Engine: "unix://" + l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(context.Context) error{
		"start": func(ctx context.Context) error { return b.Start(ctx, &steps{}) },
		"stop":  b.Stop,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		begun := time.Now()
		err := f(ctx)
		cancel()
		if took := time.Since(begun); err == nil || took > testwait.Within(5*time.Second) {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
	defer cancel()
	if err := b.Remove(ctx); err != nil { // nothing was made there: the end of the program is not held for it
		t.Error(err)
	}
	if err := k.Close(ctx); err != nil {
		t.Error(err)
	}
}

// An engine behind ssh: the system's ssh is a script here, the rest is real.
func TestAnEngineBehindSSH(t *testing.T) { // not parallel: PATH is the process'
	r := newRig(t)
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >>" + dir + "/calls\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nexec \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	b := r.open("s", pool.Spec{Options: &Settings{Engine: "ssh://me@far.invalid:2222"}})
	up(t, b)
	if got := output(t, b, "echo far; head -c 3000000 /dev/zero | wc -c"); got != "far\n3000000\n" {
		t.Error(got)
	}
	calls, err := os.ReadFile(dir + "/calls")
	if err != nil || !strings.Contains(string(calls), "-l me -p 2222 -- far.invalid docker system dial-stdio") {
		t.Errorf("%v %s", err, calls)
	}
	if err := b.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\necho 'Permission denied (publickey).' >&2\nexit 255\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	k := New(Options{Home: t.TempDir(), Program: testProgram})
	denied, err := k.Open("s", pool.Spec{Name: "default", Options: &Settings{Image: "x", Engine: "ssh://me@far.invalid"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := denied.Start(t.Context(), &steps{}); err == nil || !strings.Contains(err.Error(), "Permission denied (publickey)") {
		t.Errorf("%v", err)
	}
	if err := k.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
