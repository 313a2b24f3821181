package program

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider/modeltest"
)

// The scripts of the specification of execute_code, letter for letter.
const (
	scriptHow = `from hermes_tools import web_search, web_extract

results = web_search("Python 3.13 features", limit=5)
for r in results["data"]["web"]:
    content = web_extract([r["url"]])
    # ... 过滤和处理 ...
print(summary)
`
	scriptPipeline = `from hermes_tools import search_files, read_file
import json

# 找到所有配置文件并提取数据库设置
matches = search_files("database", path=".", file_glob="*.yaml", limit=20)
configs = []
for match in matches.get("matches", []):
    content = read_file(match["path"])
    configs.append({"file": match["path"], "preview": content["content"][:200]})

print(json.dumps(configs, indent=2))
`
	scriptResearch = `from hermes_tools import web_search, web_extract
import json

# 在一个回合中搜索、提取和总结
results = web_search("Rust async runtime comparison 2025", limit=5)
summaries = []
for r in results["data"]["web"]:
    page = web_extract([r["url"]])
    for p in page.get("results", []):
        if p.get("content"):
            summaries.append({
                "title": r["title"],
                "url": r["url"],
                "excerpt": p["content"][:500]
            })

print(json.dumps(summaries, indent=2))
`
	scriptRefactor = `from hermes_tools import search_files, read_file, patch

# 找到所有使用已弃用 API 的 Python 文件并修复
matches = search_files("old_api_call", path="src/", file_glob="*.py")
fixed = 0
for match in matches.get("matches", []):
    result = patch(
        path=match["path"],
        old_string="old_api_call(",
        new_string="new_api_call(",
        replace_all=True
    )
    if "error" not in str(result):
        fixed += 1

print(f"Fixed {fixed} files out of {len(matches.get('matches', []))} matches")
`
	scriptTests = `from hermes_tools import terminal, read_file
import json

# 运行测试、解析结果并报告
result = terminal("cd /project && python -m pytest --tb=short -q 2>&1", timeout=120)
output = result.get("output", "")

# 解析测试输出
passed = output.count(" passed")
failed = output.count(" failed")
errors = output.count(" error")

report = {
    "passed": passed,
    "failed": failed,
    "errors": errors,
    "exit_code": result.get("exit_code", -1),
    "summary": output[-500:] if len(output) > 500 else output
}

print(json.dumps(report, indent=2))
`
)

// scriptResult is what a model reads of a script.
type scriptResult struct {
	Status    string  `json:"status"`
	Output    string  `json:"output"`
	Error     string  `json:"error"`
	ExitCode  int     `json:"exit_code"`
	Calls     int     `json:"tool_calls_made"`
	Seconds   float64 `json:"duration_seconds"`
	Isolation string  `json:"isolation"`
}

// needPython skips where scripts cannot run.
func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// callsOf makes turns of a model that runs the scripts one after the other.
func callsOf(scripts ...string) []modeltest.Turn {
	var turns []modeltest.Turn
	for _, s := range scripts {
		args, _ := json.Marshal(map[string]string{"code": s})
		turns = append(turns, modeltest.Turn{Calls: []modeltest.Call{{Name: "execute_code", Args: string(args)}}})
	}
	return append(turns, modeltest.Turn{Text: "done"})
}

// resultsOf are what the model read of its scripts.
func resultsOf(t *testing.T, s *modeltest.Server) []scriptResult {
	t.Helper()
	var out []scriptResult
	all := s.Requests()
	for _, m := range all[len(all)-1].Messages {
		if m.Role != "tool" {
			continue
		}
		var r scriptResult
		if err := json.Unmarshal([]byte(m.Text()), &r); err != nil {
			t.Fatalf("%v: %s", err, m.Text())
		}
		out = append(out, r)
	}
	return out
}

func TestTheSpecificationsScripts(t *testing.T) {
	t.Parallel()
	needPython(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<title>%s</title><article><h1>Runtimes</h1><p>Tokio and smol, compared: page %s.</p></article>", r.URL.Path, r.URL.Path)
	}))
	defer site.Close()
	h, model := homeWith(t, callsOf(scriptHow, scriptPipeline, scriptResearch, scriptRefactor, scriptTests)...)
	index := []map[string]string{
		{"title": "Async runtimes", "url": site.URL + "/one", "description": "Rust async runtime comparison 2025", "content": "Rust async runtime comparison 2025"},
		{"title": "Python 3.13", "url": site.URL + "/py", "description": "Python 3.13 features", "content": "Python 3.13 features"},
	}
	raw, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"index.json": string(raw), "conf/app.yaml": "name: x\ndatabase: postgres\n", "db.yaml": "database:\n  host: here\n", "other.yaml": "nothing: 1\n",
		"src/a.py": "old_api_call(1)\n", "src/errors/b.py": "x = 1\nold_api_call(2)\n", "src/c.txt": "old_api_call(3)\n",
	} {
		path := filepath.Join(h.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.configure(serverSettings(model) + "web:\n  allow_private_urls: true\n  search_backend: static\n  static_index: " + filepath.Join(h.work, "index.json") + "\n")
	cmd := exec.Command("hermes", "run", "--yes", "go")
	cmd.Env, cmd.Dir = h.env(), h.work
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := resultsOf(t, model)
	if len(r) != 5 {
		t.Fatalf("%d results: %+v", len(r), r)
	}
	// The first is a sketch: it prints a name that it never sets. Its calls run, then Python says so.
	if r[0].Status != "error" || r[0].Error != "NameError: name 'summary' is not defined" || r[0].Calls < 2 {
		t.Errorf("how it works: %+v", r[0])
	}
	var configs []struct{ File, Preview string }
	if err := json.Unmarshal([]byte(r[1].Output), &configs); err != nil || len(configs) != 2 || configs[0].File != "conf/app.yaml" || configs[0].Preview != "name: x\ndatabase: postgres\n" {
		t.Errorf("pipeline: %v %+v", err, r[1])
	}
	var pages []struct{ Title, URL, Excerpt string }
	if err := json.Unmarshal([]byte(r[2].Output), &pages); err != nil || len(pages) != 1 || pages[0].Title != "Async runtimes" || !strings.Contains(pages[0].Excerpt, "Tokio and smol") {
		t.Errorf("research: %v %+v", err, r[2])
	}
	if r[3].Output != "Fixed 2 files out of 2 matches\n" {
		t.Errorf("refactoring: %+v", r[3])
	}
	if text, _ := os.ReadFile(filepath.Join(h.work, "src/errors/b.py")); string(text) != "x = 1\nnew_api_call(2)\n" {
		t.Errorf("src/errors/b.py is %q", text)
	}
	var report struct {
		Passed, Failed, Errors int
		ExitCode               int `json:"exit_code"`
		Summary                string
	}
	if err := json.Unmarshal([]byte(r[4].Output), &report); err != nil || report.ExitCode == 0 || report.Summary == "" {
		t.Errorf("tests: %v %+v", err, r[4])
	}
	for i, x := range r[1:] {
		if x.Status != "success" || x.ExitCode != 0 || x.Calls == 0 || x.Seconds <= 0 || x.Isolation == "" {
			t.Errorf("script %d: %+v", i+1, x)
		}
	}
}

// nested is an event as --output jsonl writes it, with what it is inside of.
type nested struct {
	Type   string `json:"type"`
	Parent string `json:"parent"`
	Data   struct {
		Call   chat.ToolCall   `json:"call"`
		Result chat.ToolResult `json:"result"`
	} `json:"data"`
}

// The calls of a script are events under it, and no messages: the model's next request holds one
// result.
func TestCallsOfAScriptAreNestedEvents(t *testing.T) {
	t.Parallel()
	needPython(t)
	h, model := homeWith(t, callsOf("from hermes_tools import write_file, terminal, read_file\nwrite_file('n.txt', 'hello')\nprint(terminal('cat n.txt; exit 3'))\nread_file('none')")...)
	cmd := exec.Command("hermes", "run", "--yes", "--output", "jsonl", "go")
	cmd.Env, cmd.Dir = h.env(), h.work
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	var top string
	for l := range strings.Lines(string(out)) {
		var e nested
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatalf("%v in %s", err, l)
		}
		switch e.Type {
		case "ToolStarted":
			if e.Parent == "" {
				top = e.Data.Call.ID
			} else if e.Parent != top {
				t.Errorf("%s is inside of %q, want %q", e.Data.Call.Name, e.Parent, top)
			}
			order = append(order, "+"+e.Data.Call.Name)
		case "ToolEnded":
			if e.Data.Result.Name == "read_file" && !e.Data.Result.IsError {
				t.Error("reading nothing is no failure")
			}
			order = append(order, "-"+e.Data.Result.Name)
		}
	}
	want := "+execute_code +write_file -write_file +terminal -terminal +read_file -read_file -execute_code"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r := resultsOf(t, model); len(r) != 1 || r[0].Output != "{'backend': 'default', 'exit_code': 3, 'output': 'hello'}\n" || r[0].Calls != 3 {
		t.Errorf("%+v", r)
	}
	svc, _ := h.sessions()
	info, err := svc.Resolve(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	history, err := svc.History(t.Context(), info.UID)
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range history {
		roles = append(roles, string(m.Role))
	}
	if !slices.Equal(roles, []string{"user", "assistant", "tool", "assistant"}) {
		t.Errorf("the conversation is %v", roles)
	}
}

// What needs an approval needs it inside of a script too: with nobody there it is refused, and the
// script sees that as a value.
func TestApprovalsInsideOfAScript(t *testing.T) {
	t.Parallel()
	needPython(t)
	h, model := homeWith(t, callsOf("print(1)")...)
	cmd := exec.Command("hermes", "run", "go") // nobody is there
	cmd.Env, cmd.Dir = h.env(), h.work
	out, _ := cmd.CombinedOutput()
	all := model.Requests()
	if text := all[len(all)-1].Messages[len(all[len(all)-1].Messages)-1].Text(); !strings.Contains(text, "Refused") {
		t.Errorf("a script ran unasked: %s\n%s", text, out)
	}
	h, model = homeWith(t, callsOf("from hermes_tools import terminal\nprint(terminal('rm -rf /'))")...)
	cmd = exec.Command("hermes", "run", "--yes", "go")
	cmd.Env, cmd.Dir = h.env(), h.work
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "refused (floor)") {
		t.Errorf("a refusal inside of a script has no exit code: %v %s", err, out)
	}
	if r := resultsOf(t, model); len(r) != 1 || !strings.Contains(r[0].Output, "{'error': 'Refused:") {
		t.Errorf("the floor did not hold: %+v", r)
	}
}

// The model is told only of functions that the session has.
func TestTheDescriptionListsWhatThereIs(t *testing.T) {
	t.Parallel()
	needPython(t)
	for sets, want := range map[string]string{
		"":                    "terminal(command: str, timeout: int = 180",
		"code_execution,file": "read_file(path: str, offset: int = 1, limit: int = None) -> dict",
		"code_execution":      "hermes_tools has helpers only",
	} {
		h, model := homeWith(t, modeltest.Turn{Text: "hi"})
		args := []string{"run", "go"}
		if sets != "" {
			args = append(args, "--toolsets", sets)
		}
		cmd := exec.Command("hermes", args...)
		cmd.Env, cmd.Dir = h.env(), h.work
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		body := string(model.Requests()[0].Body)
		if !strings.Contains(body, want) || sets != "" && strings.Contains(body, "terminal(command") {
			t.Errorf("%s: %s", sets, body)
		}
	}
}
