package config

import (
	"slices"
	"testing"
)

func TestWithoutEffectNamesKeyAndLine(t *testing.T) {
	o := home(t, map[string]string{"config.yaml": `_config_version: 7
agent:
  disabled_toolsets: [web]
  max_turns: 5
display:
  bell: true
  theme: dusk
gateway:
  port: 1
`}, "HERMES_DISPLAY_LANGUAGE=de")
	c, problems := Load(o)
	if len(problems) > 0 {
		t.Fatalf("keys of the Python hermes are no mistakes:\n%s", texts(problems))
	}
	want := []Setting{
		{"agent.disabled_toolsets", "config.yaml:3"},
		{"display.bell", "config.yaml:6"},
		{"display.language", "environment"},
		{"gateway", "config.yaml:8"},
	}
	got := c.WithoutEffect()
	for i := range got { // a test does not care where the home is
		got[i].Where = got[i].Where[max(0, len(got[i].Where)-len(want[min(i, len(want)-1)].Where)):]
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestWithoutEffectIsEmptyByDefault(t *testing.T) {
	c, _ := Load(home(t, nil))
	if got := c.WithoutEffect(); len(got) > 0 {
		t.Errorf("nothing is set, and yet %v", got)
	}
}
