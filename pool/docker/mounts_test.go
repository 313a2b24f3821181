package docker

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/pool"
)

// 20
func TestMountsThatAreRefused(t *testing.T) {
	home := t.TempDir()
	agent := filepath.Join(home, ".hermes")
	project := filepath.Join(home, "project")
	for _, dir := range []string{agent, project, filepath.Join(home, ".ssh"), filepath.Join(agent, "cache"), filepath.Join(home, ".aws"), filepath.Join(home, ".gnupg")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, to string) string {
		t.Helper()
		path := filepath.Join(project, name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	socket := filepath.Join(project, "x.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g := mountRules{home: home, agent: agent, local: true}
	for _, src := range []string{
		"/", "//", "/..", "/etc", "/etc/shadow", "/etc/../etc", "/proc", "/proc/1", "/sys", "/dev", "/dev/sda", "/run", "/run/docker.sock", "/var/run", "/var/run/docker.sock",
		"/var", "/var/lib", "/var/lib/docker", "/var/lib/docker/volumes", "/boot", home, "~", "~/", filepath.Dir(home), home + "/project/..", "~/.ssh", "~/.ssh/id_rsa", "~/.aws", "~/.gnupg",
		"~/.docker/config.json", "~/.kube", "~/.netrc", agent, agent + "/.env", agent + "/cache/../config.yaml", "~/.hermes",
		link("root", "/"), link("etc", "/etc"), link("docker", "/var/run/docker.sock"), link("keys", filepath.Join(home, ".ssh")), link("up", home), link("env", filepath.Join(agent, "state.db")),
		socket, project + "/missing", project + "/docker.sock", "relative/path", "./x", "", "-v", "/dev/null", "a",
	} {
		if m, err := g.checkMount(pool.Mount{Source: src, Target: "/mnt"}); err == nil {
			t.Errorf("%q is mounted: %+v", src, m)
		}
	}
	for _, target := range []string{"", "/", "/..", "relative", "/proc", "/proc/x", "/sys", "/dev/shm", "/x/../proc", runnerDir, runnerDir + "/runner"} {
		if m, err := g.checkMount(pool.Mount{Source: project, Target: target}); err == nil {
			t.Errorf("at %q: %+v", target, m)
		}
	}
}

func TestMountsThatAreGood(t *testing.T) {
	home := t.TempDir()
	agent := filepath.Join(home, ".hermes")
	project := filepath.Join(home, "project")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "link")
	if err := os.Symlink(project, other); err != nil {
		t.Fatal(err)
	}
	g := mountRules{home: home, agent: agent, local: true}
	for src, want := range map[string]string{
		"~/project": project, project + "/": project, other: project, "data-volume": "data-volume",
		"~/.hermes/cache/chromium": filepath.Join(agent, "cache/chromium"), // made, for it is ours
	} {
		m, err := g.checkMount(pool.Mount{Source: src, Target: "/mnt/", ReadOnly: true})
		if err != nil || m.Source != want || m.Target != "/mnt" || !m.ReadOnly {
			t.Errorf("%s: %v %+v", src, err, m)
		}
	}
	elsewhere := mountRules{home: home, agent: filepath.Join(t.TempDir(), "of-hermes"), local: true} // the data folder is called otherwise
	for _, src := range []string{"~/.hermes/cache/fonts", elsewhere.agent + "/cache/chromium"} {
		if _, err := elsewhere.checkMount(pool.Mount{Source: src, Target: "/mnt"}); err != nil {
			t.Errorf("%s is not made: %v", src, err)
		}
	}
	if _, err := g.checkMount(pool.Mount{Source: "/etc/ssl", Target: "/etc/ssl", ReadOnly: true}); err != nil {
		t.Error(err)
	}
	if _, err := g.checkMount(pool.Mount{Source: "/etc/ssl", Target: "/etc/ssl"}); err == nil {
		t.Error("certificates may be written")
	}
	// What is on another machine cannot be looked at, but its name can.
	far := mountRules{home: home, agent: agent}
	if m, err := far.checkMount(pool.Mount{Source: "/srv/not/here", Target: "/srv"}); err != nil || m.Source != "/srv/not/here" {
		t.Errorf("%v %+v", err, m)
	}
	if _, err := far.checkMount(pool.Mount{Source: "/etc", Target: "/x"}); err == nil {
		t.Error("/etc of another machine is mounted")
	}
	if _, err := g.checkMounts([]pool.Mount{{Source: project, Target: "/a"}, {Source: project, Target: "/a/"}}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("two in one place: %v", err)
	}
}

func TestAMountThatIsMissingAndOneThatIsThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := t.TempDir()
	b := r.open("missing", pool.Spec{Options: &Settings{Mounts: []pool.Mount{{Source: dir + "/none", Target: "/data"}}}})
	if err := b.Start(t.Context(), &steps{}); err == nil || !strings.Contains(err.Error(), "does not exist on this machine") {
		t.Errorf("%v", err)
	}
	b = r.open("there", pool.Spec{Workdir: "/work", Options: &Settings{Mounts: []pool.Mount{{Source: dir, Target: "/data"}, {Source: dir, Target: "/fixed", ReadOnly: true}}, Scratch: map[string]string{"/scratch": "size=1m"}, ReadOnly: true}})
	up(t, b)
	got := output(t, b, "echo x >/data/f && cat /fixed/f; echo y 2>&1 >/fixed/g || echo no; pwd; echo kept >here; touch /opt 2>&1; echo s >/scratch/s && cat /scratch/s; dd if=/dev/zero of=/scratch/big bs=1M count=3 2>&1 | grep -c space")
	if !strings.HasPrefix(got, "x\n") || !strings.Contains(got, "no\n/work\n") || !strings.Contains(got, "Read-only file system") || !strings.HasSuffix(got, "s\n1\n") {
		t.Errorf("%q", got)
	}
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	up(t, b)
	if got := output(t, b, "cat here"); got != "kept\n" {
		t.Errorf("after a stop: %q", got)
	}
}
