package procedure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shell is a Host with a real shell, a person and a model that say what they are told to.
type shell struct {
	dir    string
	answer string // of the person
	model  func(text string) string
	tools  []string

	mu    sync.Mutex
	ran   []string
	saved []State
	said  []string
}

func (h *shell) Tool(action string) (string, bool) {
	return action, action == toolCommand || slices.Contains(h.tools, action)
}

func (h *shell) Call(ctx context.Context, name string, args map[string]any, _ func(bool)) Outcome {
	if name == toolAsk {
		return Outcome{Text: "The person answered: " + h.answer}
	}
	command, _ := args["command"].(string)
	h.mu.Lock()
	h.ran = append(h.ran, command)
	h.mu.Unlock()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = h.dir
	out, err := cmd.CombinedOutput()
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	return Outcome{Text: string(out), Exit: &code, Failed: err != nil && code == 0}
}

func (h *shell) Model(_ context.Context, _, text string) (string, error) {
	if h.model == nil {
		return "", errors.New("no model")
	}
	return h.model(text), nil
}

func (h *shell) Say(line string) { h.mu.Lock(); defer h.mu.Unlock(); h.said = append(h.said, line) }

func (h *shell) Save(s State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.saved = append(h.saved, s)
	return nil
}

// parsed is a procedure of steps, without a fatal problem.
func parsed(t *testing.T, text string) *Procedure {
	t.Helper()
	p := Parse("f", []byte("skill:\n  name: x\n  description: d\n"+text))
	if !p.Usable() {
		t.Fatal(all(p))
	}
	return p
}

func begin(t *testing.T, p *Procedure, h *shell, params map[string]any) Result {
	t.Helper()
	if h.dir == "" {
		h.dir = t.TempDir()
	}
	params, err := p.Params(params)
	if err != nil {
		t.Fatal(err)
	}
	return Start(p, h, State{Params: params}).Do(t.Context())
}

func TestValuesAreWordsOfTheShell(t *testing.T) {
	t.Parallel()
	p := parsed(t, `
  execution:
    steps:
    - {command: "printf '%s|' {{a}} \"x{{a}}\" 'y{{a}}' ${HOME:+home}", output_key: out}
`)
	for _, hostile := range []string{"plain", "$(touch owned)", "`touch owned`", "'; touch owned; '", `"; touch owned; "`, "a b", `\`, "$HOME", "-n", "a\nb", "*"} {
		h := &shell{}
		res := begin(t, p, h, map[string]any{"a": hostile})
		want := hostile + "|x" + hostile + "|y" + hostile + "|home|"
		if res.Err != nil || res.Text != "" && !strings.Contains(fmt.Sprint(res.State.Done[0].Output), want) {
			t.Errorf("%q: %v %v", hostile, res.Err, res.State.Done)
		}
		if _, err := os.Stat(filepath.Join(h.dir, "owned")); err == nil {
			t.Errorf("%q ran", hostile)
		}
	}
	nested := parsed(t, "\n  execution:\n    steps: [{command: 'echo \"$(echo {{a}})\"'}]\n")
	if res := begin(t, nested, &shell{}, map[string]any{"a": "$(id)"}); res.Err == nil {
		t.Error("a value was put where its quotes mean something else")
	}
}

func TestStepsInOrder(t *testing.T) {
	t.Parallel()
	p := parsed(t, `
  preconditions:
  - {type: command_available, command: sh}
  - no-such-program_installed: false
  execution:
    steps:
    - {name: make, command: "echo '{\"count\": 2, \"items\": [{\"n\": \"a\"}, {\"n\": \"b\"}], \"bad\": false}'", output_key: made}
    - {name: skipped, command: "touch skipped", condition: "${made.bad} == true"}
    - {name: taken, command: "touch taken", condition: "${made.count} > 1 and ${made.nothing.here} == nil"}
    - {name: fails, command: "exit 3", on_failure: warn_and_continue}
    - {name: asks, command: "touch asked", requires_confirmation: true, confirmation_message: "{{made.count}}?"}
  postconditions:
  - {type: file_exists, path: taken}
  output:
    format: text
    template: |
      {{made.count}} things
      {{#each made.items}}
      - {{n}} {{@index}}
      {{/each}}
      {{#if made.bad}}
      bad
      {{else}}
      good ${made.count}
      {{/if}}
    on_success:
      notify: {condition: "${made.count} > 1", platform: telegram, message: "{{made.count}} done"}
`)
	h := &shell{answer: "yes", tools: []string{toolAsk}}
	res := begin(t, p, h, nil)
	if want := "2 things\n- a 0\n- b 1\ngood 2\n"; res.Err != nil || res.Text != want {
		t.Fatalf("%v\n%q", res.Err, res.Text)
	}
	for file, there := range map[string]bool{"skipped": false, "taken": true, "asked": true} {
		if _, err := os.Stat(filepath.Join(h.dir, file)); (err == nil) != there {
			t.Errorf("%s: %v", file, err)
		}
	}
	if len(res.Warnings) != 2 || !strings.Contains(strings.Join(res.Warnings, " "), "2 done") {
		t.Errorf("warnings %q", res.Warnings)
	}
	h = &shell{answer: "no", tools: []string{toolAsk}}
	if res := begin(t, p, h, nil); res.Err == nil || res.State.Ended != "failed" {
		t.Errorf("a no did not stop it: %+v", res)
	}
}

func TestBranchesAndTime(t *testing.T) {
	t.Parallel()
	p := parsed(t, `
  execution:
    steps:
    - {name: once, command: "test -e mended", on_failure: mend}
    error_handling:
      mend: {advice: look at it, steps: [{command: touch mended}], then: retry}
`)
	if res := begin(t, p, &shell{}, nil); res.Err != nil || len(res.Advice) != 1 {
		t.Errorf("%v %q", res.Err, res.Advice)
	}
	p = parsed(t, `
  execution:
    steps: [{command: "exit 7"}]
    error_handling:
      other: {when: "${error.exit_code} == 8", then: continue}
      right: {when: "${error.exit_code} == 7", then: continue}
`)
	if res := begin(t, p, &shell{}, nil); res.Err != nil {
		t.Error(res.Err)
	}
	p = parsed(t, "\n  execution:\n    steps: [{command: 'exec sleep 60', timeout: 1}]\n")
	if res := begin(t, p, &shell{}, nil); res.Err == nil || !strings.Contains(res.Err.Error(), "the step took longer than 1s") {
		t.Error(res.Err)
	}
	p = parsed(t, "\n  execution:\n    total_timeout: 1\n    steps: [{command: 'exec sleep 60'}]\n")
	if res := begin(t, p, &shell{}, nil); res.Err == nil || !strings.Contains(res.Err.Error(), "took longer than 1s") {
		t.Error(res.Err)
	}
}

// Steps that run at the same time meet each other; none alone would end.
func TestParallelSteps(t *testing.T) {
	t.Parallel()
	p := parsed(t, `
  execution:
    steps:
    - {name: a, command: "mkfifo p 2>/dev/null; echo hello > p"}
    - {name: b, command: "mkfifo p 2>/dev/null; cat p", output_key: got}
    parallel_steps: [[a, b]]
    timeout_per_step: 20
`)
	res := begin(t, p, &shell{}, nil)
	if res.Err != nil || !strings.Contains(res.Text, "hello") {
		t.Errorf("%v %q", res.Err, res.Text)
	}
}

func TestAnInterruptedRunGoesOn(t *testing.T) {
	t.Parallel()
	p := parsed(t, `
  execution:
    steps:
    - {name: first, command: "echo x >> first; echo '[1,2]'", output_key: list}
    - {name: second, command: "test -e door"}
    - {name: third, command: "echo {{list[1]}} > third"}
`)
	h := &shell{}
	res := begin(t, p, h, nil)
	if res.Err == nil || len(res.State.Done) != 1 {
		t.Fatalf("%+v", res)
	}
	last := h.saved[len(h.saved)-1]
	if err := os.WriteFile(filepath.Join(h.dir, "door"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res = Start(p, h, last).Do(t.Context()); res.Err != nil {
		t.Fatal(res.Err)
	}
	first, _ := os.ReadFile(filepath.Join(h.dir, "first"))
	third, _ := os.ReadFile(filepath.Join(h.dir, "third"))
	if string(first) != "x\n" || string(third) != "2\n" {
		t.Errorf("first %q, third %q", first, third)
	}
}

func TestModelSteps(t *testing.T) {
	t.Parallel()
	p := parsed(t, `
  execution:
    steps:
    - {action: judge, args: {of: "{{what}}"}, output_key: verdict}
    - {command: "echo {{verdict.word}}", condition: "${verdict.good} == true", output_key: out}
`)
	asked := 0
	h := &shell{model: func(text string) string {
		if !strings.Contains(text, `"of":"tea"`) || !strings.Contains(text, `"good":{"type":"boolean"}`) || !strings.Contains(text, `"word"`) {
			t.Errorf("the model was asked %s", text)
		}
		if asked++; asked == 1 {
			return `{"good": "very"}`
		}
		if !strings.Contains(text, "of no use") {
			t.Error("it was not told what was wrong")
		}
		return "Here:\n```json\n{\"good\": true, \"word\": \"fine\"}\n```"
	}}
	if res := begin(t, p, h, map[string]any{"what": "tea"}); res.Err != nil || !strings.Contains(res.Text, "fine") || asked != 2 {
		t.Errorf("%v %q after %d answers", res.Err, res.Text, asked)
	}
}

// TestTheSeedDryRuns plans all of the seed's procedures; nothing is run.
func TestTheSeedDryRuns(t *testing.T) {
	t.Parallel()
	for name, text := range seedFiles(t) {
		p, h := Parse(name, []byte(text)), &shell{}
		plan := p.Plan(h, map[string]any{"port": 80})
		for _, s := range p.Steps {
			if !strings.Contains(plan, s.Name) {
				t.Errorf("%s: the plan lacks %s:\n%s", name, s.Name, plan)
			}
		}
		if len(h.ran) > 0 {
			t.Errorf("a plan ran %q", h.ran)
		}
	}
}
