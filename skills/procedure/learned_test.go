package procedure

import (
	"reflect"
	"strings"
	"testing"
)

const improvable = `skill:
  name: deploy
  version: "1"
  description: Deploy it
  trigger: {keywords: [deploy]}
  parameters:
    target: {description: where to, default: staging}
    tag: {description: which}
  preconditions:
    - git_installed: true
  execution:
    strategy: interactive
    steps:
      - name: Build
        command: make build
        timeout: 30
      - command: make lint
      - name: Push
        command: ./push {{target}} {{tag}}
        requires_confirmation: true
      - name: Report
        action: generate_report
        args: {findings: "{{target}}"}
    timeout_per_step: 60
    total_timeout: 300
    error_handling:
      port_conflict: {when: "${error.text} contains 'port'", advice: free it}
  postconditions:
    - {type: file_exists, path: out}
  improvement: {track_metrics: [success_rate], min_samples_for_update: 3}
  mcp_servers:
    - {name: github, tools: [get_issue]}
`

// quiet is the same procedure without a question to the person.
var quiet = strings.NewReplacer("    strategy: interactive\n", "", "        requires_confirmation: true\n", "").Replace(improvable)

const (
	lint    = "      - command: make lint\n"
	push    = "      - name: Push\n        command: ./push {{target}} {{tag}}\n        requires_confirmation: true\n"
	post    = "    - {type: file_exists, path: out}"
	advised = "port_conflict: {when: \"${error.text} contains 'port'\", advice: free it}"
	tag     = "    tag: {description: which}\n"
	params  = "parameters would change"
	posts   = "postconditions would change"
)

// What a model may change of a procedure is a short list, and shorter where the procedure asks a
// person; all else waits for one, and what others rely on, checks, limits and questions are kept.
func TestLearnedTextsWidenNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, from, to, refused, asks string }{
		// The words of a procedure that asks nobody, and what it says of itself.
		{quiet, "make build", "make clean build", "", ""},
		{quiet, "make lint", "make vet lint", "", ""},
		{quiet, lint, "      - command: make deps\n" + lint, "", ""},
		{quiet, lint, lint + "      - {name: more, command: make more}\n", "", ""},
		{quiet, "name: Build", "name: Build all", "", ""},
		{improvable, "version: \"1\"", "version: \"2\"", "", ""},
		{improvable, "description: Deploy it", "description: Deploy all of it", "", ""},
		{improvable, "advice: free it", "advice: free the port", "", ""},
		{improvable, "[success_rate], ", "[success_rate], auto_update: true, ", "", ""}, // as without
		{improvable, "  mcp_servers:", "  output: {template: \"{{target}}\"}\n  mcp_servers:", "", ""},
		// The same words where a person is asked.
		{improvable, "make build", "make clean build", "", "command of the step Build"},
		{improvable, "name: Build", "name: Build all", "", "name of the step Build"},
		{improvable, lint, "      - command: make deps\n" + lint, "", "is new"},
		{improvable, "{{target}} {{tag}}\n", "--force {{target}} {{tag}}\n", "", "command of the step Push"},
		{improvable, push, strings.Replace(strings.Replace(push, "Push", "Again", 1), "        requires_confirmation: true\n", "", 1) + push, "", "the step Again"},
		{improvable, push, push + "        confirmation_message: Show the state?\n", "", "confirmation_message of the step Push"},
		// Steps.
		{quiet, "make build", "make build || true", "", "other commands decide"},
		{quiet, "make build", "make build | tail", "", "other commands decide"},
		{quiet, "        timeout: 30", "        timeout: 30\n        condition: \"1 == 2\"", "", "condition of the step Build"},
		{quiet, "        timeout: 30", "        timeout: 30\n        on_failure: warn_and_continue", "", "on_failure of the step Build"},
		{quiet, "        timeout: 30", "        timeout: 30\n        output_key: built", "", "output_key of the step Build"},
		{quiet, "        timeout: 30", "        timeout: 30\n        requires_confirmation: true", "", "requires_confirmation of the step Build"},
		{quiet, "action: generate_report", "action: write_file", "", "action of the step Report"},
		{quiet, "findings: \"{{target}}\"", "findings: all", "", "args of the step Report"},
		{quiet, "make lint", "make lint\n      - {command: ls, condition: \"1 == 1\"}", "", "is new"},
		{quiet, "make lint", "make lint\n      - {command: ls, on_failure: warn_and_continue}", "", "is new"},
		{quiet, "make lint", "make lint\n      - {prompt: think}", "", "is new"},
		{quiet, "make lint", "make lint\n      - {action: write_file, args: {path: x}}", "", "is new"},
		{quiet, lint, "", "", "is gone"},
		{quiet, "      - name: Build\n        command: make build\n        timeout: 30\n" + lint, lint + "      - name: Build\n        command: make build\n        timeout: 30\n", "", "order of steps"},
		{quiet, "    timeout_per_step", "    parallel_steps: [[Build, Push]]\n    timeout_per_step", "", "order of steps"},
		// Branches.
		{quiet, "contains 'port'", "contains ''", "", "when of the branch port_conflict"},
		{quiet, "advice: free it", "advice: free it, then: retry", "", "then of the branch port_conflict"},
		{quiet, "advice: free it", "advice: free it, steps: [{command: ls}]", "", "is new"},
		{quiet, advised, "all: {when: \"1 == 1\", then: continue, advice: x}\n      " + advised, "", "branches"},
		// What is never done.
		{improvable, "name: deploy", "name: deploy2", "name would change", ""},
		{improvable, "keywords: [deploy]", "keywords: [deploy, everything]", "trigger", ""},
		{improvable, "default: staging", "default: production", params, ""},
		{improvable, ", default: staging", "", params, ""},
		{improvable, tag, "", "nothing is called tag", ""},
		{improvable, tag, tag + "    key: {description: new}\n", params, ""},
		{improvable, tag, tag + "    findings: harmless\n", params, ""}, // an argument of a step
		{improvable, "min_samples_for_update: 3", "min_samples_for_update: 1", "improvement", ""},
		{improvable, "[success_rate], ", "[success_rate], auto_update: false, ", "improvement", ""},
		{improvable, "  improvement: {track_metrics: [success_rate], min_samples_for_update: 3}\n", "", "improvement", ""},
		{improvable, "    - git_installed: true\n", "    - make_installed: true\n", "precondition", ""},
		{improvable, "    - git_installed: true\n", "    - git_installed: true\n    - {type: command, command: \"false\"}\n", "precondition", ""},
		{improvable, "path: out", "path: other", posts, ""},
		{improvable, post, post + "\n    - {type: command, command: \"true\"}", posts, ""},
		{improvable, post, "    - {type: command, command: \"true\"}", posts, ""},
		{improvable, "        requires_confirmation: true\n", "", "question before the step Push", ""},
		{improvable, "requires_confirmation: true", "requires_confirmation: false", "question before the step Push", ""},
		{improvable, "    strategy: interactive\n", "", "interactive", ""},
		{improvable, "        timeout: 30\n", "", "timeout of the step Build", ""},
		{improvable, "timeout: 30", "timeout: 45", "timeout of the step Build", ""},
		{improvable, "    timeout_per_step: 60\n", "", "timeout_per_step", ""},
		{improvable, "timeout_per_step: 60", "timeout_per_step: 299", "timeout_per_step", ""},
		{improvable, "    total_timeout: 300\n", "", "total_timeout", ""},
		{improvable, "total_timeout: 300", "total_timeout: 59m", "total_timeout", ""},
		{improvable, "tools: [get_issue]", "tools: [get_issue, merge]", "the tool merge", ""},
		{improvable, "    - {name: github, tools: [get_issue]}", "    - {name: github, tools: [get_issue]}\n    - {name: files, tools: [read]}", "server files", ""},
		{improvable, ", tools: [get_issue]", "", "lists no tools", ""},
		{improvable, "command: make build", "comand: make build", "there is no such key", ""},
		{improvable, "        command: make build", "        command: make build\n        optimization: layers", "no effect", ""},
		{improvable, "name: Report", "name: Report\n        condition: \"${nowhere.x} > 0\"", "nothing is called nowhere", ""},
		{quiet, "  mcp_servers:", "  output: {on_success: {store_memory: true}}\n  mcp_servers:", "", "on_success of output"},
	} {
		text := strings.Replace(c.in, c.from, c.to, 1)
		if text == c.in {
			t.Fatalf("%q does not stand there", c.from)
		}
		before, after := Parse("f", []byte(c.in)), Parse("f", []byte(text))
		if !before.Usable() {
			t.Fatal(before.Problems)
		}
		asks, err := CheckLearned(before, after)
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%q instead of %q: %v", c.to, c.from, err)
			}
		case err != nil || c.asks == "" && len(asks) > 0 || !strings.Contains(strings.Join(asks, "; "), c.asks):
			t.Errorf("%q instead of %q: %v %q", c.to, c.from, err, asks)
		}
	}
	// The same text is no problem, of each of the seed's.
	for name, text := range seedFiles(t) {
		p := Parse(name, []byte(text))
		if asks, err := CheckLearned(p, Parse(name, []byte(text))); err != nil || len(asks) > 0 {
			t.Errorf("%s: %q %v", name, asks, err)
		}
	}
}

// Each field that a file can set has a rule: a new one has to be thought about.
func TestEachFieldHasARule(t *testing.T) {
	t.Parallel()
	have := 0
	for _, v := range []any{Procedure{}, Step{}, Branch{}, Output{}} {
		for f := range reflect.TypeOf(v).Fields() {
			name := reflect.TypeOf(v).Name() + "." + f.Name
			if !f.IsExported() {
				continue
			}
			if have++; !hasKey(fields, name) {
				t.Errorf("%s has no rule", name)
			}
		}
	}
	if have != len(fields) {
		t.Errorf("there are %d fields and %d rules", have, len(fields))
	}
}

// Only the words of YAML 1.2 are true or false, whatever tag stands before another.
func TestOtherWordsAreNoBooleans(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false", "FALSE": "false",
		"!!bool true": "true", "!!bool yes": "", "!!bool on": "", "!!bool tRUE": "", "!!bool y": "", "yes": "",
		"\"true\"": "", "1": "", "[true]": "", "!!bool \"\"": "",
	} {
		p := Parse("f", []byte(strings.Replace(improvable, "requires_confirmation: true", "requires_confirmation: "+word, 1)))
		if want == "" {
			if len(p.Problems) != 1 || !p.Problems[0].Fatal || p.Problems[0].Line != 20 ||
				!strings.HasSuffix(p.Problems[0].Key, "requires_confirmation") || p.Problems[0].Fix != "write true or false" {
				t.Errorf("%s: %+v", word, p.Problems)
			}
		} else if len(p.Problems) > 0 || p.Steps[2].Confirm != (want == "true") {
			t.Errorf("%s: %v %+v", word, p.Steps[2].Confirm, p.Problems)
		}
	}
}

// Words that nothing measures are named one by one, with their line; the section is not.
func TestMetricsThatNothingMeasuresAreSaid(t *testing.T) {
	t.Parallel()
	p := Parse("f", []byte(improvable+"# end\n"))
	if len(p.Problems) > 0 {
		t.Error(p.Problems)
	}
	i := p.Improvement
	if !i.Given || i.MinSamples != 3 || i.Waits() != "" {
		t.Errorf("%+v", i)
	}
	text := strings.Replace(improvable, "  improvement: {track_metrics: [success_rate], min_samples_for_update: 3}\n",
		"  improvement:\n    track_metrics:\n      - accuracy\n      - sucses_rate\n      - steps\n    require_confirmation: true\n", 1)
	p = Parse("f", []byte(text))
	above, _, _ := strings.Cut(text, "- accuracy")
	at := 1 + strings.Count(above, "\n")
	if len(p.Problems) != 2 || p.Problems[0].Line != at || p.Problems[1].Line != at+1 || p.Problems[0].Fatal ||
		!strings.Contains(p.Problems[0].Why, "nothing measures accuracy") || !strings.Contains(p.Problems[1].Fix, "did you mean success_rate?") {
		t.Errorf("%+v", p.Problems)
	}
	if i := p.Improvement; i.MinSamples != 5 || i.Waits() == "" {
		t.Errorf("%+v", i)
	}
}

// How a run and its steps came out is read off exit codes and checks; what was refused, or never
// began, is told from what failed.
func TestHowRunsCameOut(t *testing.T) {
	t.Parallel()
	const head = "  execution:\n    steps:\n"
	for _, c := range []struct {
		text, answer, end, steps string
		held                     int
	}{
		{head + "      - {name: a, command: exit 0}\n", "", EndDone, "a done 0", 0},
		{head + "      - {name: a, command: exit 0}\n  postconditions:\n    - {type: command, command: exit 0}\n", "", EndDone, "a done 0", 1},
		{head + "      - {name: a, command: exit 0}\n  postconditions:\n    - {type: command, command: exit 1}\n", "", EndUnmet, "a done 0", 0},
		{"  preconditions:\n    - {type: command, command: exit 1}\n" + head + "      - {name: a, command: exit 0}\n", "", EndNotBegun, "", 0},
		{head + "      - {name: a, command: \"echo {{x}}\"}\n", "", EndNotBegun, "", 0},
		{head + "      - {name: a, command: exit 0}\n      - {name: b, command: exit 3}\n      - {name: c, command: exit 0}\n", "", EndFailed, "a done 0, b failed 3", 0},
		{head + "      - {name: a, command: exit 3, on_failure: warn_and_continue}\n      - {name: b, command: exit 0, condition: \"1 > 2\"}\n", "", EndDone, "a failed 3, b skipped", 0},
		{head + "      - {name: a, command: exit 0, requires_confirmation: true}\n", "no", EndRefused, "a refused", 0},
		{head + "      - {name: a, command: exit 0, requires_confirmation: true}\n", "yes", EndDone, "a done 0", 0},
		{head + "      - {name: a, command: \"mkdir d\"}\n      - {name: b, command: \"test -e ok\", on_failure: mend}\n    error_handling:\n      mend: {steps: [{name: m, command: touch ok}], then: retry}\n", "", EndDone, "a done 0, b failed 1, m done 0, b done 0", 0},
	} {
		h := &shell{answer: c.answer, dir: t.TempDir()}
		if c.answer != "" {
			h.tools = []string{toolAsk}
		}
		p := parsed(t, c.text)
		params, err := p.Params(nil)
		if err != nil {
			t.Fatal(err)
		}
		res := Start(p, h, State{Params: params}).Do(t.Context())
		var steps []string
		for _, s := range res.Steps {
			line := s.Name + " " + s.Status
			if s.Exit != nil && *s.Exit >= 0 {
				line += " " + string(rune('0'+*s.Exit))
			}
			steps = append(steps, line)
		}
		if got := strings.Join(steps, ", "); res.End != c.end || got != c.steps || res.Held != c.held {
			t.Errorf("%s\n%s, want %s; %q, want %q; %d %v", c.text, res.End, c.end, got, c.steps, res.Held, res.Err)
		}
	}
}
