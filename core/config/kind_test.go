package config

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/event"
)

// Kinds as a program registers them: two that share a key, and one that is this machine.
type (
	hereTerminal struct {
		Sandbox string `key:"sandbox" refuses:"local" oneof:"off|project|strict" live:"yes" doc:"what it may"`
	}
	boxOptions struct {
		Image string `key:"image" refuses:"place" short:"yes" doc:"made from this"`
		Size  Size   `key:"size" refuses:"place" min:"0" live:"yes" doc:"how big"`
	}
	boxTerminal struct {
		Volumes []string          `key:"docker_volumes" refuses:"place" live:"yes" instead:"mounts" doc:"folders"`
		Env     map[string]string `key:"docker_env" refuses:"place" secret:"yes" doc:"variables"`
		CPU     float64           `key:"container_cpu" min:"0" doc:"processors"`
		Network bool              `key:"docker_network" refuses:"place" doc:"whether"`
	}
	podOptions struct {
		Image string `key:"image" doc:"the same, elsewhere"`
		Node  string `key:"node" doc:"where it is"`
	}
)

func TestMain(m *testing.M) {
	Register(Kind{Name: "local", Traits: event.Traits{Local: true}, Terminal: hereTerminal{Sandbox: "off"}})
	Register(Kind{
		Name: "docker", ImpliedBy: "image", CommonKeys: "idle_ttl", Options: boxOptions{}, Terminal: boxTerminal{Network: true},
		Python: "docker_orphan_reaper", Resolve: func(r *Resolving) {
			if o := r.Options.(*boxOptions); o.Size == 13 {
				r.Wrong("size", "", "%s brings bad luck", o.Size)
			}
		},
	})
	Register(Kind{Name: "pod", ImpliedBy: "node", Options: podOptions{}})
	goleak.VerifyTestMain(m)
}

// loadText reads a config.yaml.
func loadText(t *testing.T, text string) (*Config, []Problem) {
	t.Helper()
	return Load(home(t, map[string]string{"config.yaml": text}))
}

func TestKeysOfKinds(t *testing.T) {
	c, problems := loadText(t, `
terminal:
  docker_network: false
  docker_orphan_reaper: true
  backends:
    a: debian
    b: {kind: pod, image: alpine, node: n1}
    c: {node: n2}
    d: {kind: docker, size: 4m}
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, places := c.Places()
	if a, ok := places["a"].Options.(*boxOptions); !ok || a.Image != "debian" {
		t.Errorf("a is %+v", places["a"])
	}
	if b, ok := places["b"].Options.(*podOptions); !ok || b.Image != "alpine" || b.Node != "n1" {
		t.Errorf("a key of two kinds does not reach the second: %+v", places["b"].Options)
	}
	if places["c"].Kind != "pod" || places["d"].Options.(*boxOptions).Size != 4<<20 {
		t.Errorf("c is %+v, d is %+v", places["c"], places["d"])
	}
	if c.Terminal.KindOptions["docker"].(*boxTerminal).Network {
		t.Error("docker_network is not what the file says")
	}
	if got, err := c.Get("terminal.backends.d"); err != nil || len(got) == 0 {
		t.Errorf("%v, %v", got, err)
	}
	if v := values(c)["terminal.backends.d.size"]; v.Value != "4m" || v.Origin != "config.yaml:9" || !v.Live {
		t.Errorf("%+v", v)
	}
}

func TestProblemsOfKindsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"a: {kind: pod, idle_ttl: 3}":                `config.yaml:3:30: does nothing for back end a, which is of kind pod: "idle_ttl": remove it, or give the back end another kind`,
		"a: {kind: pod, size: 3}":                    `config.yaml:3:26: does nothing for back end a, which is of kind pod: "size": remove it, or give the back end another kind`,
		"a: {image: x, sise: 3}":                     `config.yaml:3:19: unknown key "sise": did you mean "size"?; until it is mended no command runs in that back end`,
		"a: {image: x, size: 13b}":                   `config.yaml:3: back end a cannot be used: 13b brings bad luck: until then it refuses every command`,
		"a: {kind: pot}":                             `config.yaml:3:15: not one of the choices: "pot": did you mean "pod"?; until it is mended no command runs in that back end`,
		"default: {image: x}\n  docker_volumes: [x]": `config.yaml:4:19: not used by this program: "docker_volumes": terminal.backends.default has keys of its own for mounts`,
	} {
		_, problems := loadText(t, "terminal:\n  backends:\n    "+text+"\n")
		if got := texts(problems); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// A kind that is registered later counts from then on, and is forgotten again.
func TestAKindComesAndGoes(t *testing.T) {
	forget := Register(Kind{Name: "late", ImpliedBy: "anchor", Options: struct {
		Anchor string `key:"anchor" live:"yes" doc:"text for the lists"`
	}{}})
	listed := func() (n int) {
		for _, k := range Schema() {
			if strings.Contains(k.Name, "anchor") || strings.Contains(k.Doc, "late with anchor") {
				n++
			}
		}
		return n
	}
	if _, problems := loadText(t, "terminal: {backends: {a: {anchor: x}}}"); len(problems) > 0 || listed() != 2 {
		t.Errorf("%v, listed %d times", problems, listed())
	}
	paths, _ := Options{Home: t.TempDir()}.Paths()
	if err := Set(paths, "terminal.backends.a.anchor", "deep"); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(paths.ConfigFile); !strings.Contains(string(data), "anchor: deep") {
		t.Errorf("written: %s", data)
	}
	forget()
	if _, problems := loadText(t, "terminal: {backends: {a: {anchor: x}}}"); len(problems) != 1 || listed() != 0 {
		t.Errorf("%v, listed %d times", problems, listed())
	}
}

// The same key means the same in every kind.
func TestAKeyHasOneType(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second type is taken")
		}
		forgetKind("odd")
	}()
	Register(Kind{Name: "odd", Options: struct {
		Image int `key:"image"`
	}{}})
}

func sandbox(c *Config) string { return values(c)["terminal.sandbox"].Value }

func values(c *Config) map[string]Value {
	out := map[string]Value{}
	for _, v := range c.Values() {
		out[v.Key] = v
	}
	return out
}
