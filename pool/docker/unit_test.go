package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"hermes/pool"
)

func TestNamesAndLabels(t *testing.T) {
	a, b := identity{"o", "s", "x"}, identity{"o", "sx", ""}
	if a.containerName() == b.containerName() || !strings.HasPrefix(a.containerName(), "hermes-x-") || len(a.containerName()) != len("hermes-x-")+12 {
		t.Errorf("%s %s", a.containerName(), b.containerName())
	}
	rapid.Check(t, func(t *rapid.T) {
		one, two := rapid.String().Draw(t, "one"), rapid.String().Draw(t, "two")
		s1, s2 := safeLabel(one), safeLabel(two)
		if len(s1) > maxLabel || strings.Trim(s1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != "" {
			t.Fatalf("%q", s1)
		}
		if one != two && s1 == s2 {
			t.Fatalf("%q and %q are both %q", one, two, s1)
		}
	})
}

func TestOwnerIsKept(t *testing.T) {
	home := t.TempDir()
	one, two := openFolder(home), openFolder(home)
	if one != two || one.temporary || len(one.owner) != 16 {
		t.Errorf("%+v %+v", one, two)
	}
	if other := openFolder(t.TempDir()); other.owner == one.owner {
		t.Error("two folders have one owner")
	}
	nowhere := openFolder("")
	defer os.RemoveAll(nowhere.dir)
	if !nowhere.temporary || nowhere.owner == one.owner {
		t.Errorf("%+v", nowhere)
	}
}

func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "x.use")
	a, err := tryLock(path, unix.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tryLock(path, unix.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	if a.isAlone() || b.isAlone() {
		t.Error("neither is alone")
	}
	b.unlock()
	if !a.isAlone() {
		t.Error("it is alone now")
	}
	if _, err := tryLock(path, unix.LOCK_EX); !errors.Is(err, errHeld) {
		t.Errorf("after asking it is still held: %v", err)
	}
	a.erase()
	if _, err := os.Stat(path); err == nil {
		t.Error("its file is there")
	}
	c, err := tryLock(path, unix.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := takeLock(ctx, path, unix.LOCK_SH); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	c.unlock()
}

// Whatever an engine says: numbers never go back, are never beyond the whole, and the last one is
// the whole.
func TestProgressNeverGoesBack(t *testing.T) {
	status := []string{"Pulling fs layer", "Waiting", "Downloading", "Verifying Checksum", "Download complete", "Extracting", "Pull complete", "Already exists", "Digest: x"}
	rapid.Check(t, func(t *rapid.T) {
		var last reported
		clock := time.Unix(0, 0)
		p := newProgress(func(label string, done, total int64) {
			if done < last.done || total < last.total || (total > 0 && done > total) || done < 0 {
				t.Fatalf("%d of %d after %+v", done, total, last)
			}
			last = reported{label, done, total}
		})
		p.now = func() time.Time { return clock }
		for range rapid.IntRange(0, 60).Draw(t, "lines") {
			clock = clock.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "ms")) * time.Millisecond)
			line := fmt.Sprintf(`{"status":%q,"id":"l%d","progressDetail":{"current":%d,"total":%d}}`, rapid.SampledFrom(status).Draw(t, "status"),
				rapid.IntRange(0, 4).Draw(t, "layer"), rapid.Int64Range(-5, 1000).Draw(t, "current"), rapid.Int64Range(-5, 1000).Draw(t, "total"))
			if _, err := p.addLine([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		p.reportState(true)
		if last.done != last.total || last.done == 0 {
			t.Fatalf("the last: %+v", last)
		}
	})
}

func TestProgressIsThrottled(t *testing.T) {
	told, clock := 0, time.Unix(100, 0)
	p := newProgress(func(string, int64, int64) { told++ })
	p.now = func() time.Time { return clock }
	for i := range 1000 {
		clock = clock.Add(time.Millisecond)
		_, _ = p.addLine(fmt.Appendf(nil, `{"status":"Downloading","id":"a","progressDetail":{"current":%d,"total":1000}}`, i))
	}
	if told != 10 {
		t.Errorf("told %d times in a second", told)
	}
}

func TestErrorsInTheStream(t *testing.T) {
	for _, line := range []string{`{"error":"boom"}`, `{"errorDetail":{"message":"boom"},"error":"x"}`} {
		_, err := newProgress(func(string, int64, int64) {}).addLine([]byte(line))
		var e *pullError
		if !errors.As(err, &e) || e.text != "boom" {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := newProgress(func(string, int64, int64) {}).addLine([]byte("garbage")); err == nil {
		t.Error("garbage is taken")
	}
}

func FuzzProgress(f *testing.F) {
	f.Add([]byte(`{"status":"Downloading","id":"a","progressDetail":{"current":1,"total":2}}`))
	f.Fuzz(func(_ *testing.T, line []byte) {
		p := newProgress(func(string, int64, int64) {})
		_, _ = p.addLine(line)
		p.reportState(true)
	})
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte(`{"Endpoints":{"docker":{"Host":"tcp://h:1"}}}`), "ssh://a@b:1/x")
	f.Add([]byte("root:x:0:0:root:/root:/bin/sh\n"), "device=1,2")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		_, _ = parseContext(data, tlsFiles{})
		_, _ = parseHelper(data)
		_, _, _ = lookupUser(data, text)
		_, _ = lookupGroup(data, text)
		_, _ = parseGPUs(text)
		_, _ = registryKey(text)
		_, _ = checkTarget(text)
		if argv, err := sshCommand(text); err == nil && (argv[0] != "ssh" || !slices.Contains(argv, "--")) {
			t.Errorf("%q: %q", text, argv)
		}
		var c configFile
		_ = json.Unmarshal(data, &c)
		for _, a := range c.Auths {
			_, _ = decodeAuth(a)
		}
	})
}

func TestEndpoints(t *testing.T) { // not parallel: the environment is the process'
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	for _, name := range []string{"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"} {
		t.Setenv(name, "")
	}
	find := func(address, want string) endpoint {
		t.Helper()
		e, err := findEndpoint(address)
		if err != nil || e.host != want {
			t.Errorf("%q: %v %+v, want %s", address, err, e, want)
		}
		return e
	}
	find("", "unix:///var/run/docker.sock")
	find("ssh://me@host", "ssh://me@host")

	sum := hash0("lab")
	meta := filepath.Join(dir, "contexts", "meta", sum)
	certs := filepath.Join(dir, "contexts", "tls", sum, "docker")
	for path, text := range map[string]string{
		filepath.Join(dir, "config.json"): `{"currentContext":"lab"}`,
		filepath.Join(meta, "meta.json"):  `{"Name":"lab","Endpoints":{"docker":{"Host":"tcp://lab:2376","SkipTLSVerify":true}}}`,
		filepath.Join(certs, "ca.pem"):    "x",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if e := find("", "tcp://lab:2376"); e.tls.ca != filepath.Join(certs, "ca.pem") || !e.tls.trusting {
		t.Errorf("%+v", e)
	}
	t.Setenv("DOCKER_CONTEXT", "default")
	find("", "unix:///var/run/docker.sock")
	t.Setenv("DOCKER_CONTEXT", "absent")
	if _, err := findEndpoint(""); err == nil || !strings.Contains(err.Error(), `docker context "absent"`) {
		t.Errorf("%v", err)
	}
	t.Setenv("DOCKER_HOST", "tcp://elsewhere:1")
	t.Setenv("DOCKER_CERT_PATH", certs)
	t.Setenv("DOCKER_TLS_VERIFY", "1")
	if e := find("", "tcp://elsewhere:1"); e.tls.ca == "" || e.tls.trusting {
		t.Errorf("%+v", e)
	}
	for _, bad := range []string{"nonsense", "gopher://x", "unix://"} {
		if _, err := findEndpoint(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestSSHCommands(t *testing.T) {
	for address, want := range map[string]string{
		"ssh://h":                 "-- h docker system dial-stdio",
		"ssh://me@h:22/run/d.sck": "-l me -p 22 -- h docker --host unix:///run/d.sck system dial-stdio",
	} {
		argv, err := sshCommand(address)
		if got := strings.Join(argv, " "); err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %v %s", address, err, got)
		}
	}
	for _, bad := range []string{"ssh://", "ssh://-oProxyCommand=x", "ssh://me:pw@h", "ssh://h/a b", "ssh://h/$(id)", "ssh://h?x=1", "ssh://-l@h"} {
		if argv, err := sshCommand(bad); err == nil {
			t.Errorf("%s: %q", bad, argv)
		}
	}
}

func TestPlans(t *testing.T) {
	f := facts{image: image.InspectResponse{ID: "sha256:1"}, volume: "v", grace: "10s", socket: "s", machineMemory: 6 << 30}
	plan := func(s pool.Spec) *plan {
		t.Helper()
		s.Name = "my_box"
		p, err := newPlan(specOf(s), f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan(pool.Spec{})
	if p.host.Memory != 3<<30 || p.config.WorkingDir != "/workspace" || p.config.Hostname != "my-box" || p.host.NanoCPUs != 0 {
		t.Errorf("%+v %+v", p.host, p.config)
	}
	p = plan(pool.Spec{Options: &Settings{Memory: -1, Pids: -1, CPUs: 1.5, GPUs: "device=0,2", Shm: 1 << 20, Network: "none", Scratch: map[string]string{"/tmp": "size=1m"}}})
	if p.host.Memory != 0 || *p.host.PidsLimit != -1 || p.host.NanoCPUs != 1.5e9 || p.host.ShmSize != 1<<20 || p.host.NetworkMode != "none" ||
		len(p.host.DeviceRequests) != 1 || p.host.Tmpfs["/tmp"] != "nosuid,nodev,size=1m" {
		t.Errorf("%+v", p.host)
	}
	if d := p.changedParts(labelsOf(p)); d != nil {
		t.Errorf("drift from itself: %v", d)
	}
	if d := plan(pool.Spec{}).changedParts(labelsOf(p)); !slices.Equal(d, []string{"gpus", "limits", "network", "tmpfs"}) {
		t.Errorf("%v", d)
	}
	for _, bad := range []pool.Spec{
		{Options: &Settings{Network: "host"}},
		{Options: &Settings{Network: "container:x"}},
		{Options: &Settings{Network: "ns:/x"}},
		{Options: &Settings{GPUs: "many"}},
		{Options: &Settings{GPUs: "0"}},
		{Options: &Settings{GPUs: "device="}},
		{Workdir: "relative"},
		{Options: &Settings{Scratch: map[string]string{"/proc/x": ""}}},
		{Options: &Settings{Scratch: map[string]string{"rel": ""}}},
		{Options: &Settings{Mounts: []pool.Mount{{Source: "/", Target: "/x"}}}},
	} {
		if _, err := newPlan(specOf(bad), f); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

func labelsOf(p *plan) map[string]string {
	labels := map[string]string{}
	for name, sum := range p.hashedParts(hardening) {
		labels[labelPart+name] = sum
	}
	return labels
}

func TestUsers(t *testing.T) {
	file := []byte("root:x:0:0::/:/bin/sh\nweb:x:33:44::/:/bin/sh\nbroken:x\n")
	for name, want := range map[string]string{"web": "33 44 true", "33": "33 44 true", "1000": "1000 0 true", "nobody": "0 0 false", "broken": "0 0 false"} {
		u, g, ok := lookupUser(file, name)
		if got := fmt.Sprint(u, g, ok); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Both kinds of control groups, as an engine tells them.
func TestSamples(t *testing.T) {
	now := time.Unix(100, 0)
	var s capi.StatsResponse
	s.Read = now.Add(time.Second)
	s.CPUStats.CPUUsage.TotalUsage = 1_500_000_000
	s.MemoryStats.Usage, s.MemoryStats.Limit = 100, 1<<63
	s.MemoryStats.Stats = map[string]uint64{"total_inactive_file": 30, "inactive_file": 10}
	s.PidsStats.Current, s.PidsStats.Limit = 7, 1<<64-1
	got := sampleOf(usage{now, 1_000_000_000}, s)
	if got != (pool.Sample{CPUPercent: 50, MemoryBytes: 70, Pids: 7}) {
		t.Errorf("v1: %+v", got)
	}
	s.MemoryStats.Stats = map[string]uint64{"inactive_file": 10}
	if got := sampleOf(usage{now, 2_000_000_000}, s); got.MemoryBytes != 90 || got.CPUPercent != 0 {
		t.Errorf("v2: %+v", got)
	}
}

func hash0(text string) string { return sha([]byte(text)) }
