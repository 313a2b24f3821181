package procedure

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hermes/skills"
)

//go:embed builtin/*.yaml
var seeds embed.FS

// seedFiles are the procedures of the seed, word for word.
func seedFiles(t testing.TB) map[string]string {
	t.Helper()
	entries, err := seeds.ReadDir("builtin")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		data, err := seeds.ReadFile(path.Join("builtin", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	if len(out) < 4 {
		t.Fatalf("%d files", len(out))
	}
	return out
}

func TestTheSeedLoads(t *testing.T) {
	t.Parallel()
	for name, text := range seedFiles(t) {
		p := Parse(name, []byte(text))
		for _, x := range p.Problems {
			if x.Fatal {
				t.Error(x)
			}
		}
		if p.Name+".yaml" != name || len(p.Steps) == 0 || len(p.Groups) == 0 {
			t.Errorf("%s: %q, %d steps", name, p.Name, len(p.Steps))
		}
	}
	p := Parse("d", []byte(seedFiles(t)["docker_deploy.yaml"]))
	var names []string
	for _, x := range p.Parameters {
		names = append(names, x.Name)
	}
	if got := strings.Join(names, " "); got != "internal_port port project_name version" {
		t.Errorf("parameters %s", got)
	}
	if p.Steps[1].OnFailure != Continue || len(p.Branches) != 2 || p.Preconditions[0].Name != "docker_installed" || len(p.Postconditions) != 2 {
		t.Errorf("%+v", p)
	}
	r := Parse("r", []byte(seedFiles(t)["code_review.yaml"]))
	if r.StepTime.Seconds() != 60 || r.TotalTime.Seconds() != 300 || r.Preconditions[0].Message == "" || len(r.Servers) != 2 || !r.Improvement.Auto {
		t.Errorf("%+v", r)
	}
}

// mutation breaks one thing of a file.
type mutation struct {
	what, text string
	line       int
}

var (
	keyRow  = regexp.MustCompile(`^(\s*(?:- )?)([a-z_]+):(.*)$`)
	freeKey = regexp.MustCompile(`^(port_conflict|build_failure|scan_paths|version_indicators|package|from_version|to_version|changelog|current_usage|changes|codebase|plan|dry_run|target|options|files|analysis_types|focus_areas|project_conventions|findings|severity_order|endpoints|url|method|expected|status|response_time_ms|host|port|body_contains|results|history|anomalies|strategies|max_attempts|health|remediation)$`)
)

// mutations are every mistyped key, every value of the wrong kind, every key that stands twice, and
// what goes wrong with values, names and blanks.
func mutations(text string) []mutation {
	rows := strings.Split(text, "\n")
	var out []mutation
	add := func(what string, i int, row string) {
		m := slices.Clone(rows)
		m[i] = row
		out = append(out, mutation{what, strings.Join(m, "\n"), i + 1})
	}
	inArgs := -1 // how far the arguments are indented
	for i, row := range rows {
		indent := len(row) - len(strings.TrimLeft(row, " "))
		if inArgs >= 0 && indent > inArgs {
			if strings.Contains(row, "${") && !strings.Contains(row, "memory.") {
				add("root", i, strings.Replace(row, "${", "${xq", 1))
				add("open", i, strings.Replace(row, "}", "", 1))
			}
			continue
		}
		inArgs = -1
		if strings.Contains(row, "{{#each") {
			add("block", i, strings.Replace(row, "#each", "#eech", 1))
		}
		m := keyRow.FindStringSubmatch(row)
		if m == nil {
			continue
		}
		if m[2] == "args" {
			inArgs = indent
		}
		if freeKey.MatchString(m[2]) {
			continue
		}
		add("typo", i, m[1]+m[2][:len(m[2])-1]+"qx:"+m[3])
		if value := strings.TrimSpace(m[3]); value != "" && value != "|" {
			add("kind", i, m[1]+m[2]+": {a: [b]}")
			add("empty", i, m[1]+m[2]+":")
			add("twice", i, row+"\n"+strings.Repeat(" ", len(m[1]))+m[2]+":"+m[3])
		}
		add("tab", i, "\t"+row)
	}
	return out
}

// TestMutatedFiles breaks the seed's procedures in the ways of a typing person: each time line, key
// and reason are named.
func TestMutatedFiles(t *testing.T) {
	t.Parallel()
	n := 0
	for name, text := range seedFiles(t) {
		for _, m := range mutations(text) {
			n++
			p := Parse(name, []byte(m.text))
			at := slices.IndexFunc(p.Problems, func(x skills.Problem) bool {
				near := x.Line >= m.line-1 && x.Line <= m.line+1
				return x.Fatal && near && x.Key != "" && x.Why != "" && x.File == name
			})
			if at < 0 {
				t.Errorf("%s in line %d of %s (%q):\n%s", m.what, m.line, name, strings.Split(m.text, "\n")[m.line-1], all(p))
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d mutations", n)
	}
	t.Log(n, "mutations")
}

func all(p *Procedure) string {
	var b strings.Builder
	for _, x := range p.Problems {
		fmt.Fprintf(&b, "  %v (fatal: %v)\n", x, x.Fatal)
	}
	return b.String()
}

func TestProblemsSayWhatIsMeant(t *testing.T) {
	t.Parallel()
	const head = "skill:\n  name: x\n  description: d\n"
	for text, want := range map[string]string{
		"skil:\n  name: x\n": `f:1: skil: there is no such key; did you mean skill?`,
		head + "  execution:\n    steps:\n    - action: a\n      requires_confirmatoin: true\n":                              `f:7: skill.execution.steps[1].requires_confirmatoin: there is no such key; did you mean requires_confirmation?`,
		head + "  execution:\n    steps:\n    - action: a\n      on_failure: warn_and_contineu\n":                            `did you mean warn_and_continue?`,
		head + "  preconditions:\n  - dockr_instaled: true\n  execution:\n    steps: [{command: ls}]\n":                      `f:5: skill.preconditions[1].dockr_instaled: there is no check of that name; did you mean docker_installed?`,
		head + "  execution:\n    steps:\n    - command: ls\n      condition: '${a.b} =='\n      output_key: a":              `f:7: skill.execution.steps[1].condition: the condition cannot be read`,
		head + "  execution:\n    steps:\n    - {action: a, output_key: stats}\n    - {action: b, args: {x: '${stat.n}'}}\n": `${stat.n}: nothing is called stat; did you mean stats?`,
		head + "  execution:\n    steps:\n    - {action: b, args: {x: '${s.n}'}}\n    - {action: a, output_key: s}\n":        `${s.n} is not there yet: the step in line 7 leaves it`,
		head + "  execution:\n    steps:\n    - {prompt: p, schema: {type: 5}}\n":                                            `this is no JSON schema`,
		head + "  execution:\n    steps: [{command: ls}]\n    total_timeout: soon\n":                                         `f:6: skill.execution.total_timeout: a length of time is wanted here, and this is "soon"`,
		head + "  execution:\n    steps: [{command: ls}]\n---\na: b\n":                                                       `f:6`,
		"": `f:1: skill: a procedure begins with the line skill:`,
	} {
		if got := all(Parse("f", []byte(text))); !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %swant %s", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range seedFiles(f) {
		f.Add(text)
	}
	f.Add("skill: &a\n  name: *a\n")
	f.Add("skill:\n  execution:\n    steps: [{command: 'x {{#each a}}{{#if b}}{{/each}} ${c'}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := Parse("f", []byte(text))
		for _, x := range p.Problems {
			if x.Line < 1 || x.Why == "" {
				t.Errorf("%+v", x)
			}
		}
		if !slices.ContainsFunc(p.Problems, func(x skills.Problem) bool { return x.Fatal }) && (p.Name == "" || len(p.Steps) == 0) {
			t.Errorf("usable without a name or steps: %+v", p)
		}
	})
}
