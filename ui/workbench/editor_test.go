package workbench

import (
	"slices"
	"testing"
)

func TestSettingLine(t *testing.T) {
	const settings = `# mine
model:
  default: x
terminal:
  timeout: 60
  backends:
    default: {image: a}
    analytics:
      image: b
`
	for name, want := range map[string]int{"default": 7, "analytics": 8, "other": 6, "": 0} {
		if got := settingLine([]byte(settings), "terminal", "backends", name); got != want {
			t.Errorf("%q stands on line %d, want %d", name, got, want)
		}
	}
	for _, broken := range []string{"", "a: [", "just words", "terminal: 5", "terminal: {backends: [default]}"} {
		settingLine([]byte(broken), "terminal", "backends", "default") // does not fall over
	}
	if got := settingLine([]byte("terminal:\n  timeout: 1\n"), "terminal", "backends", "x"); got != 1 {
		t.Errorf("without back ends: line %d", got)
	}
}

func TestEditorsAreToldOfTheLine(t *testing.T) {
	t.Setenv("VISUAL", "")
	for env, want := range map[string][]string{
		"": {"vi", "+7", "f"}, "nano -w": {"nano", "-w", "+7", "f"}, "/usr/bin/hx": {"/usr/bin/hx", "f:7"}, "code --wait": {"code", "--wait", "--goto", "f:7"}, "own": {"own", "f"},
	} {
		t.Setenv("EDITOR", env)
		if got := editorCommand("f", 7).Args; !slices.Equal(got, want) {
			t.Errorf("EDITOR=%s runs %q, want %q", env, got, want)
		}
	}
	t.Setenv("EDITOR", "vim")
	if got := editorCommand("f", 0).Args; !slices.Equal(got, []string{"vim", "f"}) {
		t.Errorf("without a line: %q", got)
	}
}
