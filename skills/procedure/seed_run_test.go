package procedure

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func git(t *testing.T, dir string, words ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, words...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", words, err, out)
	}
}

// scripted answers a model step by the name of its action, and remembers what it was asked.
func scripted(asked map[string]string, answers map[string]string) func(string) string {
	return func(text string) string {
		var in struct{ Action string }
		_ = json.NewDecoder(strings.NewReader(text)).Decode(&in)
		asked[in.Action] = text
		return answers[in.Action]
	}
}

func outputOf(res Result, step int) map[string]any {
	for _, d := range res.State.Done {
		if m, ok := d.Output.(map[string]any); ok && d.Step == step {
			return m
		}
	}
	return nil
}

// The article's review of code, on a real repository. A model judges; what is counted is counted.
func TestTheReviewOfCodeRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	writeFiles(t, dir, map[string]string{"pay.go": "package pay\n", "plan.go": "package pay\n", "plan_test.go": "package pay\n"})
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "first")
	writeFiles(t, dir, map[string]string{
		"pay.go":  "package pay\n\nimport \"fmt\"\n\nfunc Pay(n int) {\n\tif n > 0 && n < 9 {\n\t\tfmt.Println(n)\n\t}\n}\n",
		"plan.go": "package pay\n\nfunc Plan() {}\n",
	})
	asked := map[string]string{}
	h := &shell{dir: dir, model: scripted(asked, map[string]string{
		"review_code": `{"risk_level": "high", "issues": [{"severity": "minor", "file": "plan.go", "line": 3, "message": "empty", "suggestion": "fill it"},
 {"severity": "critical", "file": "pay.go", "line": 6, "message": "a|b is lost", "suggestion": "keep it"}], "positives": [{"message": "short"}]}`,
	})}
	p := Parse("code_review.yaml", []byte(seedFiles(t)["code_review.yaml"]))
	res := begin(t, p, h, nil)
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	if len(asked) != 1 || !strings.Contains(asked["review_code"], "pay.go: no test beside it") || !strings.Contains(asked["review_code"], "n \\u003e 0") {
		t.Errorf("asked: %v", asked)
	}
	for _, want := range []string{"变更文件数:2", "新增行数:10", "风险等级:high", "**[critical]** pay.go:6", "short"} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("no %q in\n%s", want, res.Text)
		}
	}
	files := outputOf(res, 1)
	if text, _ := json.Marshal(files["files"]); string(text) != `[{"branches":1,"file":"pay.go","imports":1,"lines":9,"tested":false},{"branches":0,"file":"plan.go","imports":0,"lines":3,"tested":true}]` {
		t.Errorf("%s", text)
	}
	report, _ := outputOf(res, 3)["text"].(string)
	if a, b := strings.Index(report, "| critical | pay.go | 6 | a\\|b is lost"), strings.Index(report, "| minor |"); a < 0 || b < a {
		t.Errorf("%s", report)
	}
}

// The article's migration, with a package that brings a changelog.
func TestTheMigrationRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"package.json":                       `{"dependencies": {"left-pad": "^1.3.0", "tiny": "2.0.0"}}`,
		"requirements.txt":                   "# none\nrequests[socks]>=2.31\n",
		"src/a.js":                           "const pad = require('left-pad')\npad('a', 3)\n",
		"src/b.js":                           "import pad from 'left-pad'\nimport tiny from 'tiny'\n",
		"node_modules/left-pad/CHANGELOG.md": "# 2.0.0\nthe order of arguments changed\n",
	})
	asked := map[string]string{}
	h := &shell{dir: dir, answer: "yes", tools: []string{toolAsk}, model: scripted(asked, map[string]string{
		"analyze_breaking_changes": `{"text": "the order of arguments"}`, "generate_migration_plan": `{"text": "swap them in src/a.js"}`,
	})}
	p := Parse("api_migration.yaml", []byte(seedFiles(t)["api_migration.yaml"]))
	res := begin(t, p, h, nil)
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	used := outputOf(res, 0)
	if used["package_name"] != "left-pad" || used["version"] != "1.3.0" || len(used["files"].([]any)) != 2 {
		t.Errorf("%v", used)
	}
	if c := outputOf(res, 1); c["found"] != true || !strings.Contains(c["text"].(string), "order of arguments") || c["file"] != "node_modules/left-pad/CHANGELOG.md" {
		t.Errorf("%v", c)
	}
	if len(asked) != 2 || !strings.Contains(asked["analyze_breaking_changes"], "the order of arguments changed") {
		t.Errorf("asked: %v", asked)
	}
	if out := outputOf(res, 4); out["executed"] != false {
		t.Errorf("%v", out)
	}
}

// Where nothing is installed nothing is made up.
func TestNoChangelogIsSaid(t *testing.T) {
	t.Parallel()
	p := parsed(t, "  execution:\n    steps: [{action: fetch_changelog, args: {package: '{{p}}'}, output_key: c}]\n")
	res := begin(t, p, &shell{}, map[string]any{"p": "nowhere-to-be-found"})
	if c := outputOf(res, 0); res.Err != nil || c["found"] != false || !strings.Contains(c["text"].(string), "nothing is known") {
		t.Error(res.Err, c)
	}
	for _, bad := range []string{"../../etc", "-x", "", "a b", "$(id)", "a/../b"} {
		if res := begin(t, p, &shell{}, map[string]any{"p": bad}); res.Err == nil {
			t.Errorf("%q is a package", bad)
		}
	}
}
