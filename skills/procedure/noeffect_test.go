package procedure

import (
	"strings"
	"testing"
)

// What is read and does nothing is said, with its line and key; the seed has each of them.
func TestWhatHasNoEffectIsSaid(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for name, text := range seedFiles(t) {
		for _, x := range Parse(name, []byte(text)).Problems {
			if strings.Contains(x.Why, "no effect") && x.Line > 0 && !x.Fatal {
				said[x.Key[strings.LastIndexByte(x.Key, '.')+1:]] = true
			}
		}
	}
	for _, key := range []string{"cron", "context", "context_signals", "file_patterns", "optimization", "strategy"} {
		if !said[key] {
			t.Errorf("nothing is said of %s: %v", key, said)
		}
	}
}

// A mistyped action would be asked of a model, and a mistyped argument is lost: both are said, with
// their line.
func TestMistypedActionsAndArgumentsAreSaid(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ step, want string }{
		{"action: git_dif", "skill.execution.steps[1].action: git_dif is no action of the program: a model that sees no file would be asked; did you mean git_diff?"},
		{"action: 'generate_report\"'", "did you mean generate_report?"},
		{"action: git_diff\n        args:\n          targte: main", "x.yaml:8: skill.execution.steps[1].args.targte: git_diff takes no targte; did you mean target?"},
		{"action: analyze_files\n        args: {filqs: [a]}", "analyze_files takes no filqs; did you mean files?"},
		{"action: git_dif\n        prompt: What changed?", ""},
		{"action: git_diff\n        prompt: What changed?\n        args: {targte: main}", ""},
		{"action: judge_it\n        args: {whatever: 1}", ""},
		{"action: generate_report\n        args: {whatever: 1}", ""},
	} {
		p := Parse("x.yaml", []byte("skill:\n  name: x\n  description: Tries it\n  execution:\n    steps:\n      - "+row.step+"\n"))
		var said []string
		for _, x := range p.Problems {
			said = append(said, x.Error())
		}
		if got := strings.Join(said, "\n"); !strings.Contains(got, row.want) || row.want == "" && got != "" || !p.Usable() {
			t.Errorf("%s:\n%s\nwant %q", row.step, got, row.want)
		}
	}
}

func TestInteractiveAsksBeforeCommands(t *testing.T) {
	t.Parallel()
	const text = "  execution:\n    strategy: interactive\n    steps:\n      - {name: a, command: echo done, output_key: o}\n"
	h := &shell{tools: []string{toolAsk}, answer: "no"}
	p := parsed(t, text)
	if res := begin(t, p, h, nil); res.Err == nil || len(h.ran) > 0 {
		t.Errorf("it ran %q, %v", h.ran, res.Err)
	}
	if h.answer = "yes"; begin(t, p, h, nil).Err != nil || len(h.ran) != 1 {
		t.Errorf("it did not run: %q", h.ran)
	}
	if plan := p.Plan(h, nil); !strings.Contains(plan, "after your yes") {
		t.Error(plan)
	}
}

// A step that needs a tool of a server is no step for a model that has none.
func TestAToolThatIsNotThereIsNoModelStep(t *testing.T) {
	t.Parallel()
	p := parsed(t, "  execution:\n    steps:\n      - {action: get_pull_request, output_key: o}\n  mcp_servers:\n    - {name: github, tools: [get_pull_request]}\n")
	h := &shell{model: func(string) string { t.Error("a model was asked"); return "{}" }}
	if res := begin(t, p, h, nil); res.Err == nil || !strings.Contains(res.Err.Error(), "the MCP server github is not there") {
		t.Error(res.Err)
	}
	if plan := p.Plan(h, nil); !strings.Contains(plan, "cannot be done") {
		t.Error(plan)
	}
}

// Actions that would change something never claim that they did.
func TestNothingIsClaimedToBeDone(t *testing.T) {
	t.Parallel()
	h := &shell{model: func(string) string { t.Error("a model was asked"); return "{}" }}
	p := parsed(t, "  execution:\n    steps:\n      - {action: execute_migration, args: {plan: [x], dry_run: true}, output_key: o}\n")
	if res := begin(t, p, h, nil); res.Err != nil || !strings.Contains(res.Text, `"executed":false`) {
		t.Errorf("%v %s", res.Err, res.Text)
	}
	p = parsed(t, "  execution:\n    steps:\n      - {action: execute_migration, args: {plan: [x], dry_run: false}, output_key: o}\n")
	if res := begin(t, p, h, nil); res.Err == nil {
		t.Error("it claims to have changed files")
	}
}
