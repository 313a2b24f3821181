package skills_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/skills"
)

// Every built-in skill is shown to help: its own commands reach what the usual ones do not.
func TestBuiltinSkillsHelp(t *testing.T) {
	testskip.LongWithoutRace(t, "runs the commands of every built-in skill twice")
	for _, program := range []string{"bash", "git", "python3", "ss"} {
		if _, err := exec.LookPath(program); err != nil {
			testskip.Missing(t, program, err)
		}
	}
	for _, name := range builtinNames(t) {
		text, _, evals := readEvals(t, name)
		for _, e := range evals {
			t.Run(fmt.Sprintf("%s/%d", name, e.ID), func(t *testing.T) {
				t.Parallel()
				if out, err := tryEval(t, e, e.Check.Without, nil); err == nil {
					t.Errorf("the usual way reaches the goal too: the skill shows nothing\n%s", out)
				}
				if out, err := tryEval(t, e, e.Check.With, skills.NamedBlocks(text)); err != nil {
					t.Errorf("the skill's commands do not reach the goal: %v\n%s", err, out)
				}
			})
		}
	}
}

// A check runs what the skill says, so that the two cannot drift apart.
func TestEvalsUseTheSkillsOwnCommands(t *testing.T) {
	names := builtinNames(t)
	if len(names) < 40 {
		t.Errorf("%d built-in skills, want 40", len(names))
	}
	for _, name := range names {
		text, of, evals := readEvals(t, name)
		if of != name || len(evals) == 0 {
			t.Errorf("%s: evals.json is of %q and has %d evals", name, of, len(evals))
		}
		for _, e := range evals {
			if e.Prompt == "" || e.Expected == "" || len(e.Assertions) == 0 || len(e.Check.With) == 0 {
				t.Errorf("%s: eval %d lacks a prompt, what is expected, assertions or a check", name, e.ID)
			}
			if line := e.Check.Unsaid(text); line != "" || !e.Check.Scripted() {
				t.Errorf("%s: eval %d runs a line that the skill does not have, or verifies nothing: %s", name, e.ID, line)
			}
		}
	}
}

func builtinNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, s := range skills.Load(t.Context(), skills.Options{Home: t.TempDir()}).Skills {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

func readEvals(t *testing.T, name string) (text, of string, list []skills.Eval) {
	t.Helper()
	s := skills.Load(t.Context(), skills.Options{Home: t.TempDir()}).Find(name)
	of, list, err := s.ReadEvals()
	if err != nil {
		t.Error(err)
	}
	body, err := s.Raw()
	if err != nil {
		t.Error(err)
	}
	return string(body), of, list
}

// tryEval makes the world of an eval, runs the lines in it and verifies.
func tryEval(t *testing.T, e skills.Eval, lines []string, files map[string]string) (string, error) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	gitConfig := "[user]\nname = T\nemail = t@example.invalid\n[init]\ndefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", e.Check.Script(lines))
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "WORLD=" + dir, "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what the world left running
	if _, missing := os.Stat(filepath.Join(dir, "made")); missing != nil {
		t.Fatalf("its world cannot be made: %v\n%s", err, out)
	}
	printed, _ := os.ReadFile(filepath.Join(dir, "out.txt"))
	return string(out) + string(printed), err
}
