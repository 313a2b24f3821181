package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/ui/cli"
)

// Who switches tools off by a key that nothing reads must not believe that they are off.
func TestConfigCheckAndDoctorTellOfSettingsWithoutEffect(t *testing.T) {
	dir := t.TempDir()
	text := "agent:\n  disabled_toolsets: [terminal]\n"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		cli.Main(context.Background(), cli.Program{}, args,
			cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"HERMES_HOME=" + dir})
		return out.String() + errs.String()
	}
	got := run("config", "check")
	if !strings.Contains(got, "config.yaml:2: agent.disabled_toolsets has no effect in this version") {
		t.Errorf("config check says:\n%s", got)
	}
	if got := run("doctor"); !strings.Contains(got, "agent.disabled_toolsets has no effect in this version") {
		t.Errorf("doctor says:\n%s", got)
	}
}

// Sets that hold nothing, sections that nobody knows and settings that do nothing are named by
// both, each of them.
func TestConfigCheckAndDoctorNameWhatGivesNothing(t *testing.T) {
	dir := t.TempDir()
	text := "toolsets: [terminal, cronjob, terminl]\nhoneycomb:\n  x: 1\ndelegation:\n  x: 1\nkanban:\n  y: 2\n"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"config", "check"}, {"doctor"}} {
		var out, errs bytes.Buffer
		cli.Main(context.Background(), cli.Program{}, args,
			cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"HERMES_HOME=" + dir})
		got := out.String() + errs.String()
		for _, want := range []string{
			"toolset cronjob holds no tool in this version", `unknown toolset "terminl" (did you mean terminal?)`, "unknown key \"honeycomb\"",
			"delegation", "kanban", "no effect in this version",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%v does not say %q:\n%s", args, want, got)
			}
		}
		if strings.Contains(got, "toolset terminal holds") {
			t.Errorf("%v finds terminal empty:\n%s", args, got)
		}
	}
}
