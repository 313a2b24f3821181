package kinds

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"hermes/core/config"
	"hermes/pool"
	"hermes/pool/docker"
	"hermes/pool/ssh"
)

func loadText(t *testing.T, text string, env ...string) (*config.Config, []config.Problem) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Options{Home: home, Env: append([]string{"HOME=/home/me"}, env...)})
}

func container(p config.Place) *docker.Settings { return p.Options.(*docker.Settings) }

func host(p config.Place) *ssh.Settings { return p.Options.(*ssh.Settings) }

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
	b, box := places["browser"], container(places["browser"])
	want := []pool.Mount{
		{Source: "/home/me/.hermes/cache/chromium", Target: "/root/.cache/chromium"},
		{Source: "/data", Target: "/data", ReadOnly: true},
	}
	if !reflect.DeepEqual(box.Mounts, want) {
		t.Errorf("mounts %+v", box.Mounts)
	}
	if box.Memory != 512<<20 || box.Shm != 1<<30 || box.Pids != 99 || !box.ReadOnly || box.Pull != docker.PullNever ||
		b.Timeout != 10*time.Minute || box.Network != "none" || box.GPUs != "all" {
		t.Errorf("%+v", box)
	}
	if !reflect.DeepEqual(b.Env, map[string]string{"CHROMIUM_FLAGS": "--no-sandbox", "TOKEN": "secret"}) {
		t.Errorf("env %v", b.Env)
	}
	if !reflect.DeepEqual(box.Scratch, map[string]string{"/scratch": "size=1g", "/run": ""}) {
		t.Errorf("tmpfs %v", box.Scratch)
	}
	if g := host(places["gpu-box"]); places["gpu-box"].Kind != "ssh" || g.KeyFile != "/home/me/.ssh/id" || g.Port != 2222 || g.AllowedCommands[0] != "git *" {
		t.Errorf("%+v", g)
	}
	if p := places["bare"]; p.Kind != "docker" || container(p).Image == "" || p.Timeout != c.Terminal.Timeout {
		t.Errorf("bare: %+v", p)
	}
	if places["here"].Kind != "local" || container(places["analytics"]).Memory != 4<<30 {
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
	if _, places := c.Places(); len(places) != 7 || container(places["far"]).Engine == "" {
		t.Errorf("%d back ends", len(places))
	}
	for _, k := range config.Schema() {
		if name, ok := strings.CutPrefix(k.Name, "terminal.backends.<name>."); ok && !strings.Contains(string(data), name) {
			t.Errorf("the document says nothing of %s", name)
		}
	}
}

// What the Python program's keys say counts for the default back end, and only where it says
// nothing itself.
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
	d, box, other := places["default"], container(places["default"]), container(places["other"])
	if box.Image != "old" || box.Network != "none" || box.Shm != 1<<30 || box.CPUs != 3 || box.Memory != 5120<<20 ||
		d.User == "" || box.Mounts[0].Target != "/b" {
		t.Errorf("%+v", box)
	}
	if !reflect.DeepEqual(d.Env, map[string]string{"A": "own", "B": "2", "TOKEN": "t"}) {
		t.Errorf("env %v", d.Env)
	}
	if other.Network != "" || len(other.Mounts) != 0 || other.Memory != 0 {
		t.Errorf("it reaches another: %+v", other)
	}
	c, _ = loadText(t, "terminal: {backend: ssh, ssh_user: me}\n", "TERMINAL_SSH_HOST=far", "TERMINAL_SSH_PORT=2200")
	_, places = c.Places()
	if far := host(places["default"]); far.Host != "far" || far.Port != 2200 || places["default"].User != "me" {
		t.Errorf("%+v", far)
	}
}

func TestProblemsOfBackEnds(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		unusable   string // back end that must say so
	}{
		"size":          {"    a: {image: x, memory: 4x}", `config.yaml:4:27: expected a size, found "4x": write a number with a unit (512m, 4g) or megabytes (4096); until it is mended no command runs in that back end`, "a"},
		"kind":          {"    a: {kind: dokcer}", `config.yaml:4:15: not one of the choices: "dokcer": did you mean "docker"?; until it is mended no command runs in that back end`, "a"},
		"pull":          {"    a: {image: x, pull: sometimes}", `config.yaml:4:25: not one of the choices: "sometimes": write one of missing, always, never`, ""},
		"key":           {"    a: {image: x, memroy: 4g}", `config.yaml:4:19: unknown key "memroy": did you mean "memory"?; until it is mended no command runs in that back end`, "a"},
		"mount":         {"    a: {image: x, extra_mounts: [data:/data]}", `config.yaml:4: back end a cannot be used: the mount "data:/data" has a relative path on the host's side: begin it with / or ~/: until then it refuses every command`, "a"},
		"mount mode":    {"    a: {image: x, extra_mounts: ['/d:/d:rx']}", `config.yaml:4: back end a cannot be used: the mount "/d:/d:rx" ends with "rx": write host:container, host:container:ro or host:container:rw: until then it refuses every command`, "a"},
		"no host":       {"    a: {kind: ssh}", "config.yaml:4: back end a cannot be used: it is of kind ssh and has no host: until then it refuses every command", "a"},
		"tmpfs":         {"    a: {image: x, tmpfs: [run]}", `config.yaml:4: back end a cannot be used: the tmpfs "run" does not begin with /: until then it refuses every command`, "a"},
		"useless":       {"    a: {kind: local, memory: 4g}", `config.yaml:4:30: does nothing for back end a, which is of kind local: "memory": remove it, or give the back end another kind`, ""},
		"name":          {"    A b: {image: x}", `config.yaml:4:5: not a name for a back end: "A b": use up to 32 of a-z, 0-9, dash and underscore; until it is mended no command runs`, ""},
		"negative":      {"    a: {image: x, cpus: -1}", `config.yaml:4:25: too small: "-1": the least is 0; until it is mended no command runs in that back end`, "a"},
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

// What a kind marks as restricting refuses the back end when it cannot be read.
func TestUnreadableKeysOfKindsRefuse(t *testing.T) {
	all := config.Restrictions()
	if len(all) < 60 {
		t.Fatalf("%d settings restrict something", len(all))
	}
	for _, r := range all {
		key, below := strings.CutPrefix(r.Key, "terminal.backends.<name>.")
		text := "terminal:\n  backends:\n    box:\n      " + key + ": {a: {b: {c: 1}}}\n"
		if !below {
			if key, below = strings.CutPrefix(r.Key, "terminal."); !below || r.Refuses != config.InPlace {
				continue
			}
			text = "terminal:\n  backend: docker\n  " + key + ": {a: {b: {c: 1}}}\n"
		}
		if r.Type == "mapping" {
			text = strings.Replace(text, "{a: {b: {c: 1}}}", "[a]", 1)
		}
		c, problems := loadText(t, text)
		refused := false
		_, places := c.Places()
		for _, p := range places {
			refused = refused || strings.Contains(p.Problem, "cannot be read")
		}
		if !refused || len(problems) == 0 {
			t.Errorf("%s: %v\n%s", r.Key, problems, text)
		}
	}
}
