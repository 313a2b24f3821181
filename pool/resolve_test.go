package pool

import (
	"strings"
	"testing"
	"time"
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
		name, warning := resolveName(c.requested, c.selected, "default", names)
		if name != c.name || warning != c.warning {
			t.Errorf("resolve(%q, %q) = %q, %q; want %q, %q", c.requested, c.selected, name, warning, c.name, c.warning)
		}
	}
}

// Falling back is never a way to reach more.
func TestRefuse(t *testing.T) {
	box := func(change func(*Spec)) Spec {
		s := Spec{Name: "a", Kind: "docker", Options: &settings{Image: "i"}}
		if change != nil {
			change(&s)
		}
		return s
	}
	def := func(change func(*Spec)) Spec {
		s := box(change)
		s.Name = "default"
		return s
	}
	data := Mount{Source: "/data", Target: "/data"}
	ro := Mount{Source: "/data", Target: "/d", ReadOnly: true}
	for name, c := range map[string]struct {
		failed, def Spec
		policy      Fallback
		want        string // part of the reason; "" when it may
	}{
		"alike":             {box(nil), def(nil), FallbackDefault, ""},
		"policy":            {box(nil), def(nil), FallbackError, "terminal.fallback is error"},
		"itself":            {def(nil), def(nil), FallbackDefault, "it is the default"},
		"this machine":      {box(nil), Spec{Name: "default", Kind: "local"}, FallbackDefault, "is this machine"},
		"far host":          {box(nil), Spec{Name: "default", Kind: "ssh"}, FallbackDefault, "is of kind ssh"},
		"ssh to container":  {Spec{Name: "a", Kind: "ssh"}, def(nil), FallbackDefault, ""},
		"ssh with a list":   {Spec{Name: "a", Kind: "ssh", Options: &settings{Limited: true}}, def(nil), FallbackDefault, "limits what commands may run"},
		"cut off":           {box(func(s *Spec) { own(s).Network = "none" }), def(nil), FallbackDefault, "has the network bridge and 'a' has none"},
		"bridge by name":    {box(func(s *Spec) { own(s).Network = "bridge" }), def(nil), FallbackDefault, ""},
		"other network":     {box(nil), def(func(s *Spec) { own(s).Network = "office" }), FallbackDefault, "has the network office"},
		"same network":      {box(func(s *Spec) { own(s).Network = "office" }), def(func(s *Spec) { own(s).Network = "office" }), FallbackDefault, ""},
		"host network":      {box(nil), def(func(s *Spec) { own(s).Network = "host" }), FallbackDefault, "has the network host"},
		"less network":      {box(nil), def(func(s *Spec) { own(s).Network = "none" }), FallbackDefault, ""},
		"a mount more":      {box(nil), def(func(s *Spec) { own(s).Mounts = []Mount{data} }), FallbackDefault, "can write /data and 'a' cannot"},
		"a mount less":      {box(func(s *Spec) { own(s).Mounts = []Mount{data} }), def(nil), FallbackDefault, ""},
		"same mount":        {box(func(s *Spec) { own(s).Mounts = []Mount{data} }), def(func(s *Spec) { own(s).Mounts = []Mount{data} }), FallbackDefault, ""},
		"more than reading": {box(func(s *Spec) { own(s).Mounts = []Mount{ro} }), def(func(s *Spec) { own(s).Mounts = []Mount{data} }), FallbackDefault, "can write /data"},
		"only reading":      {box(func(s *Spec) { own(s).Mounts = []Mount{data} }), def(func(s *Spec) { own(s).Mounts = []Mount{ro} }), FallbackDefault, ""},
		"a part of it":      {box(func(s *Spec) { own(s).Mounts = []Mount{data} }), def(func(s *Spec) { own(s).Mounts = []Mount{{Source: "/data/x/../y", Target: "/d"}} }), FallbackDefault, ""},
		"a way out of it":   {box(func(s *Spec) { own(s).Mounts = []Mount{data} }), def(func(s *Spec) { own(s).Mounts = []Mount{{Source: "/data/../etc2", Target: "/d"}} }), FallbackDefault, "can write"},
		"the whole of it":   {box(func(s *Spec) { own(s).Mounts = []Mount{{Source: "/data/x"}} }), def(func(s *Spec) { own(s).Mounts = []Mount{data} }), FallbackDefault, "can write /data"},
		"looks like it":     {box(func(s *Spec) { own(s).Mounts = []Mount{data} }), def(func(s *Spec) { own(s).Mounts = []Mount{{Source: "/database"}} }), FallbackDefault, "/database"},
		"other machine":     {box(func(s *Spec) { o := own(s); o.Mounts, o.Engine = []Mount{data}, "ssh://far" }), def(func(s *Spec) { own(s).Mounts = []Mount{data} }), FallbackDefault, "can write /data"},
	} {
		c.failed.about, c.def.about = describe(c.failed, false), describe(c.def, false)
		got := refuseFallback(c.policy, c.failed, c.def)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
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
	c, err := Config{Default: "here", Backends: map[string]Spec{"b": {Kind: "docker"}, "a": {}}, IdleTTL: time.Minute}.withDefaults(map[string]Kind{"local": &fakeKind{}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.backendNames(), " "); got != "here a b" {
		t.Errorf("names %q", got)
	}
	if h, b := c.Backends["here"], c.Backends["b"]; h.Kind != "local" || b.Kind != "docker" || h.IdleTTL != time.Minute {
		t.Errorf("%+v, %+v", h, b)
	}
	if _, err := (Config{Backends: map[string]Spec{"Bad": {}}}).withDefaults(nil); err == nil {
		t.Error("a bad name is taken")
	}
}
