package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func loadText(t *testing.T, text string, env ...string) (*Config, []Problem) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Options{Home: home, Env: append([]string{"HOME=/home/me"}, env...)})
}

// The example of the first request, and every key beside it.
func TestPlacesOfTheWholeSection(t *testing.T) {
	c, problems := loadText(t, `
terminal:
  backend: docker
  idle_ttl: 20m
  max_backends_per_session: 3
  fallback: error
  backends:
    default: {image: "python:3.12", workdir: /workspace, extra_mounts: [], env: {A: b}}
    analytics: {image: sci, memory: 4g, cpus: 2, engine: "ssh://me@far"}
    browser:
      image: chrome
      extra_mounts: ["~/.hermes/cache/chromium:/root/.cache/chromium", "/data:/data:ro"]
      env: {CHROMIUM_FLAGS: "--no-sandbox"}
      forward_env: [TOKEN, MISSING]
      user: "1000:1000"
      network: none
      memory: 512
      pids: 99
      shm: 1g
      gpus: all
      tmpfs: ["/scratch:size=1g", /run]
      read_only: true
      pull: never
      shell: /bin/bash
      idle_ttl: 5m
      timeout: 10m
    gpu-box: {kind: ssh, host: box, user: me, port: 2222, key_file: ~/.ssh/id, workdir: /w, allowed_commands: ["git *"], denied_commands: [sudo *]}
    here: {kind: local}
    bare: {workdir: /x}
`, "TOKEN=secret")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	def, places := c.Places()
	if def != "default" || len(places) != 6 {
		t.Errorf("default %q of %d", def, len(places))
	}
	b := places["browser"]
	want := []Mount{{"/home/me/.hermes/cache/chromium", "/root/.cache/chromium", false}, {"/data", "/data", true}}
	if !reflect.DeepEqual(b.Mounts, want) {
		t.Errorf("mounts %+v", b.Mounts)
	}
	if b.Memory != 512<<20 || b.Shm != 1<<30 || b.Pids != 99 || !b.ReadOnly || b.Pull != "never" || b.Timeout != 10*time.Minute || b.Network != "none" || b.GPUs != "all" {
		t.Errorf("%+v", b)
	}
	if !reflect.DeepEqual(b.Env, map[string]string{"CHROMIUM_FLAGS": "--no-sandbox", "TOKEN": "secret"}) {
		t.Errorf("env %v", b.Env)
	}
	if !reflect.DeepEqual(b.Scratch, map[string]string{"/scratch": "size=1g", "/run": ""}) {
		t.Errorf("tmpfs %v", b.Scratch)
	}
	if g := places["gpu-box"]; g.Kind != "ssh" || g.KeyFile != "/home/me/.ssh/id" || g.Port != 2222 || g.AllowedCommands[0] != "git *" {
		t.Errorf("%+v", g)
	}
	if p := places["bare"]; p.Kind != "docker" || p.Image != c.Terminal.DockerImage || p.Timeout != c.Terminal.Timeout {
		t.Errorf("bare: %+v", p)
	}
	if places["here"].Kind != "local" || places["analytics"].Memory != 4<<30 {
		t.Error("kinds or sizes")
	}
}

// The document's example is taken as it is.
func TestTheExampleOfTheDocument(t *testing.T) {
	data, err := os.ReadFile("../../docs/backends.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	c, problems := loadText(t, text)
	for _, p := range problems {
		t.Error(p)
	}
	if _, places := c.Places(); len(places) != 7 || places["far"].Engine == "" {
		t.Errorf("%d back ends", len(places))
	}
	for _, f := range fields(reflect.TypeFor[Backend]()) {
		if !strings.Contains(string(data), f.name) && f.name != "kind" {
			t.Errorf("the document says nothing of %s", f.name)
		}
	}
}

// What the Python program's keys say counts for the default back end, and only where it says nothing itself.
func TestKeysOfThePythonProgram(t *testing.T) {
	c, problems := loadText(t, `
terminal:
  backend: docker
  docker_image: old
  docker_volumes: ["/a:/b"]
  docker_env: {A: 1, B: 2}
  docker_forward_env: [TOKEN]
  docker_network: false
  docker_shm_size: 1g
  docker_run_as_host_user: true
  container_cpu: 2
  container_memory: 5120
  container_disk: 51200
  backends:
    default: {env: {A: own}, cpus: 3}
    other: {image: x}
`, "TOKEN=t")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, places := c.Places()
	d, other := places["default"], places["other"]
	if d.Image != "old" || d.Network != "none" || d.Shm != 1<<30 || d.CPUs != 3 || d.Memory != 5120<<20 || d.User == "" || d.Mounts[0].Target != "/b" {
		t.Errorf("%+v", d)
	}
	if !reflect.DeepEqual(d.Env, map[string]string{"A": "own", "B": "2", "TOKEN": "t"}) {
		t.Errorf("env %v", d.Env)
	}
	if other.Network != "" || len(other.Mounts) != 0 || other.Memory != 0 {
		t.Errorf("it reaches another: %+v", other)
	}
	c, _ = loadText(t, "terminal: {backend: ssh, ssh_user: me}\n", "TERMINAL_SSH_HOST=far", "TERMINAL_SSH_PORT=2200")
	if _, places := c.Places(); places["default"].Host != "far" || places["default"].Port != 2200 || places["default"].User != "me" {
		t.Errorf("%+v", places["default"])
	}
}

func TestProblemsOfBackEnds(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		unusable   string // back end that must say so
	}{
		"size":          {"    a: {image: x, memory: 4x}", `config.yaml:4:27: expected a size, found "4x": write a number with a unit (512m, 4g) or megabytes (4096)`, ""},
		"kind":          {"    a: {kind: dokcer}", `config.yaml:4:15: not one of the choices: "dokcer": did you mean "docker"?`, ""},
		"pull":          {"    a: {image: x, pull: sometimes}", `config.yaml:4:25: not one of the choices: "sometimes": write one of missing, always, never`, ""},
		"key":           {"    a: {image: x, memroy: 4g}", `config.yaml:4:19: unknown key "memroy": did you mean "memory"?`, ""},
		"mount":         {"    a: {image: x, extra_mounts: [data:/data]}", `config.yaml:4: back end a cannot be used: the mount "data:/data" has a relative path on the host's side: begin it with / or ~/: until then it refuses every command`, "a"},
		"mount mode":    {"    a: {image: x, extra_mounts: ['/d:/d:rx']}", `config.yaml:4: back end a cannot be used: the mount "/d:/d:rx" ends with "rx": write host:container, host:container:ro or host:container:rw: until then it refuses every command`, "a"},
		"no host":       {"    a: {kind: ssh}", "config.yaml:4: back end a cannot be used: it is of kind ssh and has no host: until then it refuses every command", "a"},
		"tmpfs":         {"    a: {image: x, tmpfs: [run]}", `config.yaml:4: back end a cannot be used: the tmpfs "run" does not begin with /: until then it refuses every command`, "a"},
		"useless":       {"    a: {kind: local, memory: 4g}", `config.yaml:4:30: does nothing for back end a, which is of kind local: "memory": remove it, or give the back end another kind`, ""},
		"name":          {"    A b: {image: x}", `config.yaml:4:5: not a name for a back end: "A b": use up to 32 of a-z, 0-9, dash and underscore`, ""},
		"negative":      {"    a: {image: x, cpus: -1}", `config.yaml:4:25: too small: "-1": the least is 0`, ""},
		"python's args": {"    a: {image: x}\n  docker_extra_args: [--network=none]\n  backend: docker", `config.yaml:5:22: not used by this program: "docker_extra_args": terminal.backends.default has keys of its own for network, user, memory, tmpfs and the rest`, ""},
	} {
		cfg, problems := loadText(t, "\nterminal:\n  backends:\n"+c.text+"\n")
		if len(problems) != 1 || problems[0].String() != c.want {
			t.Errorf("%s:\n got %v\nwant [%s]", name, problems, c.want)
		}
		_, places := cfg.Places()
		if got := places["a"].Problem != ""; got != (c.unusable == "a") {
			t.Errorf("%s: unusable %v", name, got)
		}
	}
}

// A back end that shows no kind never becomes this machine beside a default that is none.
func TestKindOfWhatShowsNone(t *testing.T) {
	for text, want := range map[string]string{
		"terminal: {backends: {a: {workdir: /x}}}":                                      "local",
		"terminal: {backend: docker, backends: {a: {workdir: /x}}}":                     "docker",
		"terminal: {backend: b, backends: {a: {workdir: /x}, b: {image: i}}}":           "docker",
		"terminal: {backend: b, backends: {a: {workdir: /x}, b: {host: h}}}":            "ssh",
		"terminal: {backend: b, backends: {a: {workdir: /x}, b: {}}}":                   "local",
		"terminal: {backend: dokcer, backends: {a: {workdir: /x}}}":                     "dokcer",
		"terminal: {backend: docker, backends: {a: {host: h}}}":                         "ssh",
		"terminal: {backend: docker, backends: {a: {kind: local, image: not-counted}}}": "local",
	} {
		c, _ := loadText(t, text)
		if _, places := c.Places(); places["a"].Kind != want {
			t.Errorf("%s: %s, want %s", text, places["a"].Kind, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"4g": 4 << 30, "512m": 512 << 20, "512": 512 << 20, "1.5g": 3 << 29, "64k": 64 << 10, "100b": 100, "2GiB": 2 << 30, "2 GB": 2 << 30, "1t": 1 << 40,
		"0": 0, "none": NoLimit, "Unlimited": NoLimit, "1_024": 1 << 30,
	} {
		if got, ok := ParseSize(text); !ok || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
		if again, ok := ParseSize(want.String()); !ok || again != want {
			t.Errorf("%s does not come back from %q", text, want)
		}
	}
	for _, text := range []string{"", "g", "4x", "-4g", "4gg", "4gigabytes", "NaN", "Infg", "99999999t", "0x10"} {
		if got, ok := ParseSize(text); ok {
			t.Errorf("%q is taken as %d", text, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"4g", "512m", "none", "1.5 GiB", "", "e9k"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := ParseSize(text)
		if again, back := ParseSize(s.String()); ok && (!back || again != s) {
			t.Errorf("%q is %d, written %q, read back as %d", text, s, s, again)
		}
	})
}

func FuzzParseMount(f *testing.F) {
	for _, seed := range []string{"/a:/b", "~/a:/b:ro", "a:b", "::", "/a:/b/../..:rw"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, bad := ParseMount(text)
		if (bad == "") != (m.Target != "") && bad == "" {
			t.Errorf("%q: %+v, %q", text, m, bad)
		}
		if bad == "" && (m.Target[0] != '/' || strings.Contains(m.Target, "/../")) {
			t.Errorf("%q: target %q", text, m.Target)
		}
	})
}
