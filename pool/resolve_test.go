package pool

import (
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	names := []string{"default", "analytics"}
	const missing = "backend 'xxx' not found. Available: default, analytics"
	for _, c := range []struct{ requested, selected, name, warning string }{
		{"", "", "default", ""},
		{"analytics", "", "analytics", ""},
		{"", "analytics", "analytics", ""},
		{"default", "analytics", "default", ""},
		{"xxx", "", "default", missing},
		{"xxx", "analytics", "default", missing},
		{"", "xxx", "default", missing},
	} {
		name, warning := resolve(c.requested, c.selected, "default", names)
		if name != c.name || warning != c.warning {
			t.Errorf("resolve(%q, %q) = %q, %q; want %q, %q", c.requested, c.selected, name, warning, c.name, c.warning)
		}
	}
}

func TestMayReplace(t *testing.T) {
	for _, c := range []struct {
		failed, def Spec
		want        bool
	}{
		{Spec{Name: "a", Kind: "docker"}, Spec{Name: "default", Kind: "docker"}, true},
		{Spec{Name: "a", Kind: "docker"}, Spec{Name: "default", Kind: "local"}, false},
		{Spec{Name: "a", Kind: "local"}, Spec{Name: "default", Kind: "local"}, false},
		{Spec{Name: "default", Kind: "docker"}, Spec{Name: "default", Kind: "docker"}, false},
	} {
		if got := mayReplace(c.failed, c.def); got != c.want {
			t.Errorf("%s on %s may be replaced by %s: %v", c.failed.Name, c.failed.Kind, c.def.Kind, got)
		}
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"default": true, "a": true, "gpu-box_2": true, "0a": true, strings.Repeat("a", 32): true,
		"": false, "-a": false, "_a": false, "A": false, "a b": false, "a/b": false, "ä": false, "a\n": false, strings.Repeat("a", 33): false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

func TestConfigDefaults(t *testing.T) {
	c, err := Config{Default: "here", Backends: map[string]Spec{"b": {Kind: "docker"}, "a": {}}, Scrub: []string{"X"}}.normal()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.names(), " "); got != "here a b" {
		t.Errorf("names %q", got)
	}
	if h, b := c.Backends["here"], c.Backends["b"]; h.Kind != "local" || b.Kind != "docker" || h.Scrub[0] != "X" || h.IdleTTL != defaultIdleTTL {
		t.Errorf("%+v, %+v", h, b)
	}
	if _, err := (Config{Backends: map[string]Spec{"Bad": {}}}).normal(); err == nil {
		t.Error("a bad name is taken")
	}
}
