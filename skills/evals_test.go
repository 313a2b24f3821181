package skills_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/core/testskip"
	"hermes/skills"
)

// An evalFile is evals/evals.json in the layout of the public Agent Skills, with one thing more: a
// check that needs no model. Its setup makes a small world in an empty folder. "without" is what
// one does who has not read the skill, "with" are commands of the skill, word for word. After
// "with" the verification passes; after "without" it does not. What either prints is in out.txt.
type evalFile struct {
	Skill string     `json:"skill_name"`
	Evals []evalCase `json:"evals"`
}

type evalCase struct {
	ID         int      `json:"id"`
	Prompt     string   `json:"prompt"`
	Expected   string   `json:"expected_output"`
	Assertions []string `json:"assertions"`
	Check      struct {
		Setup, Without, With, Verify []string
	} `json:"check"`
}

// Every built-in skill is shown to help: its own commands reach what the usual ones do not.
func TestBuiltinSkillsHelp(t *testing.T) {
	testskip.LongWithoutRace(t, "runs the commands of every built-in skill twice")
	for _, program := range []string{"bash", "git", "python3", "ss"} {
		if _, err := exec.LookPath(program); err != nil {
			testskip.Missing(t, program, err)
		}
	}
	for _, name := range builtinNames(t) {
		text, file := readEvals(t, name)
		for _, e := range file.Evals {
			t.Run(fmt.Sprintf("%s/%d", name, e.ID), func(t *testing.T) {
				t.Parallel()
				if out, err := tryEval(t, e, e.Check.Without, nil); err == nil {
					t.Errorf("the usual way reaches the goal too: the skill shows nothing\n%s", out)
				}
				if out, err := tryEval(t, e, e.Check.With, namedBlocks(text)); err != nil {
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
		text, file := readEvals(t, name)
		if file.Skill != name || len(file.Evals) == 0 {
			t.Errorf("%s: evals.json is of %q and has %d evals", name, file.Skill, len(file.Evals))
		}
		for _, e := range file.Evals {
			if e.Prompt == "" || e.Expected == "" || len(e.Assertions) == 0 || len(e.Check.With) == 0 {
				t.Errorf("%s: eval %d lacks a prompt, what is expected, assertions or a check", name, e.ID)
			}
			for _, line := range e.Check.With {
				if !strings.Contains(text, strings.TrimSpace(line)) {
					t.Errorf("%s: eval %d runs a line that the skill does not have: %s", name, e.ID, line)
				}
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

func readEvals(t *testing.T, name string) (text string, file evalFile) {
	t.Helper()
	folder := filepath.Join("builtin", name)
	body, err := os.ReadFile(filepath.Join(folder, skills.File))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, "evals", "evals.json"))
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return string(body), file
}

// namedBlocks are the programs of a skill: fenced blocks with a file name behind the language.
func namedBlocks(text string) map[string]string {
	blocks := map[string]string{}
	fence := regexp.MustCompile("(?ms)^( *)```[a-z]+ ([A-Za-z0-9_.-]+)\n(.*?)^ *```$")
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		blocks[m[2]] = regexp.MustCompile("(?m)^"+m[1]).ReplaceAllString(m[3], "")
	}
	return blocks
}

// tryEval makes the world of an eval, runs the lines in it and verifies.
func tryEval(t *testing.T, e evalCase, lines []string, files map[string]string) (string, error) {
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
	join := func(lines []string) string { return strings.Join(lines, "\n") }
	script := "set -e\n" + join(e.Check.Setup) + "\n: > \"$WORLD/made\"\nset +e\n{\n" + join(lines) +
		"\n} > \"$WORLD/out.txt\" 2>&1\ncd \"$WORLD\"\nset -e\n" + join(e.Check.Verify)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
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
