package docker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	capi "github.com/docker/docker/api/types/container"

	"hermes/core/testskip"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
)

func TestWhatTheEngineIsToldIsHardened(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.open("s", pool.Spec{Env: map[string]string{"SECRET": "canary-9f2"}})
	up(t, b)
	if got := output(t, b, "echo $SECRET"); got != "canary-9f2\n" {
		t.Errorf("the command's variable: %q", got)
	}
	got := inspect(t, b)
	if text := fmt.Sprintf("%+v %+v", got.Config, got.Config.Labels); strings.Contains(text, "canary") {
		t.Error("the engine knows a secret")
	}
	h := got.HostConfig
	if h.Privileged || fmt.Sprint(h.CapDrop) != "[ALL]" || len(h.CapAdd) != 6 || *h.PidsLimit != 1024 || h.Memory != 4<<30 || h.MemorySwap != h.Memory ||
		fmt.Sprint(h.SecurityOpt) != "[no-new-privileges:true]" || h.LogConfig.Type != "none" || !h.IpcMode.IsPrivate() || h.RestartPolicy.Name != "no" ||
		len(h.PortBindings) != 0 || h.PublishAllPorts || len(h.Binds) != 0 || h.NetworkMode != "bridge" {
		t.Errorf("%+v", h)
	}
	// Ownership and signals across users work with these capabilities.
	if got := output(t, b, `touch /root/f && chown 1000 /root/f && su worker -s /bin/sh -c 'sleep 100 & echo $!' >/root/p; kill -9 $(cat /root/p) && echo killed`); got != "killed\n" {
		t.Errorf("as root: %q", got)
	}
	if got := output(t, b, "mount -t tmpfs x /mnt 2>&1 || echo no; mknod /root/m b 8 0 2>&1 || echo no"); strings.Count(got, "no\n") != 2 {
		t.Errorf("more is allowed than should be: %q", got)
	}
}

func TestMemoryAndProcessLimitsAreNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.open("s", pool.Spec{Options: &Settings{Memory: 32 << 20, Pids: 64}})
	up(t, b)
	res := run(t, b, "exec tail -c 190000000 /dev/zero")
	if res.ExitCode != 137 || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "32 MB") {
		t.Errorf("exit code %d, warnings %q", res.ExitCode, res.Warnings)
	}
	s, err := b.Sample(t.Context())
	if err != nil || s.MemoryLimit != 32<<20 || s.PidsLimit != 64 || s.Pids < 1 || s.MemoryBytes <= 0 {
		t.Errorf("%v %+v", err, s)
	}
	busy, err := b.Spawn(runner.Spec{Command: "while :; do :; done"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the processor is seen to be busy", func() bool {
		s, err = b.Sample(t.Context())
		time.Sleep(200 * time.Millisecond)
		return err == nil && s.CPUPercent > 10
	})
	if err := busy.Kill(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnImageWithoutAShell(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, program, err := dockertest.Program("linux", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	a := dockertest.NewArchive()
	a.File("only", program, 0o755)
	b := r.open("s", pool.Spec{Options: &Settings{Image: dockertest.Import(t, "scratch", a.Bytes())}})
	up(t, b)
	_, err = b.Run(t.Context(), runner.Spec{Command: "echo hello"})
	var never *pool.NotStarted
	if err == nil || errors.As(err, &never) || !strings.Contains(err.Error(), "has no shell") {
		t.Errorf("a command line: %v", err)
	}
	res, err := b.Run(t.Context(), runner.Spec{Argv: []string{"/only", "--version"}})
	if err != nil || res.ExitCode != 0 || !strings.HasPrefix(string(res.Output), "hermes-runner") {
		t.Errorf("an argument vector: %v %+v %s", err, res, res.Output)
	}
	for _, w := range res.Warnings {
		t.Logf("warning: %s", w)
	}
}

func TestAnImageOfAnotherArchitecture(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) {
		o.Program = func(system, arch string) (Program, error) { return testProgram(system, "s390x") }
	})
	b := r.open("s", pool.Spec{})
	if err := b.Start(t.Context(), &steps{}); err == nil || !strings.Contains(err.Error(), "the image is for amd64: there is no runner for linux/s390x") {
		t.Errorf("%v", err)
	}
}

func TestAPrunedRunnerIsBroughtAgain(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	cli := dockertest.Engine(t)
	b := r.open("s", pool.Spec{})
	up(t, b)
	output(t, b, "echo kept >/root/x")
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Somebody empties the volume: through a container, for it is in use.
	volume := ""
	for _, m := range inspect(t, b).Mounts {
		if m.Destination == runnerDir {
			volume = m.Name
		}
	}
	made, err := cli.ContainerCreate(t.Context(), &capi.Config{Image: dockertest.Busybox(t), Cmd: []string{"rm", "/v/runner"}}, &capi.HostConfig{Binds: []string{volume + ":/v"}, NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := cli.ContainerStart(t.Context(), made.ID, capi.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	waited, _ := cli.ContainerWait(t.Context(), made.ID, capi.WaitConditionNotRunning)
	<-waited
	_ = cli.ContainerRemove(t.Context(), made.ID, capi.RemoveOptions{Force: true})
	up(t, b)
	if got := output(t, b, "cat /root/x"); got != "kept\n" {
		t.Error(got)
	}
}
