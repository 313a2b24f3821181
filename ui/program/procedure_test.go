package program

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/pool/docker/dockertest"
	"hermes/ui"
	"hermes/ui/cli"
)

func (h *home) write(dir, name, text string) {
	h.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// The seed's docker_deploy builds an image and runs a container of it: scout is not there, which it
// only warns of.
func TestTheSeedDeploysAContainer(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("docker"); err != nil {
		dockertest.Missing(t, "no docker command: %v", err)
	}
	h := newHome(t, "")
	name := fmt.Sprintf("hermes-test/deploy%d", os.Getpid())
	h.write(h.work, "Dockerfile", "FROM "+dockertest.Busybox(t)+"\nCMD [\"sleep\", \"600\"]\n")
	t.Cleanup(func() {
		left, _ := exec.Command("docker", "ps", "-aq", "--filter", "ancestor="+name+":1").Output() // none: it failed before
		for id := range strings.FieldsSeq(string(left)) {
			_ = exec.Command("docker", "rm", "-f", id).Run() // the next line fails with it
		}
		_ = exec.Command("docker", "rmi", "-f", name+":1").Run() // it may never have been made
	})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	r := h.run("run", fmt.Sprintf("run procedure docker_deploy project_name=%s version=1 port=%d internal_port=80", name, port), "--yes")
	if r.code != cli.ExitOK || !strings.Contains(r.out, "3. 启动容器: done") || !strings.Contains(r.out, "2. 安全扫描: failed, and it goes on") {
		t.Fatalf("code %d\n%s\n%s", r.code, r.out, r.err)
	}
	running, err := exec.Command("docker", "ps", "-q", "--filter", "ancestor="+name+":1").Output()
	if err != nil || len(strings.Fields(string(running))) != 1 {
		t.Errorf("%q %v", running, err)
	}
}

// A procedure runs where commands of the session run, in its container; a model does a step, and a
// run that stopped goes on, with another parameter, without the steps that are done.
func TestAProcedureInAContainer(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, defaultBox)
	b.plays("", modeltest.Turn{Text: `{"word": "it's fine"}`})
	b.write(b.dir, "skills/inside.yaml", `skill:
  name: inside
  description: "Works in the container"
  parameters: {door: closed}
  execution:
    steps:
      - {name: where, command: "echo $WHERE >> where; cat where", output_key: place}
      - {name: judge, prompt: "Say a word about {{place.text}}", output_key: verdict}
      - {name: say, command: "test {{door}} = open && echo {{place.text}} says {{verdict.word}}", output_key: said}
  output:
    template: "{{said.text}}"
`)
	r := b.run("run", "run procedure inside", "--yes")
	_, rest, _ := strings.Cut(r.out, `resume "`)
	id, _, ok := strings.Cut(rest, `"`)
	if r.code == cli.ExitOK || !ok || strings.Contains(r.out, "3. say") {
		t.Fatalf("code %d\n%s\n%s", r.code, r.out, r.err)
	}
	r = b.run("run", "run procedure door=open --resume "+id, "--yes")
	if r.code != cli.ExitOK || !strings.Contains(r.out, "first says it's fine") {
		t.Fatalf("code %d\n%s\n%s", r.code, r.out, r.err)
	}
}

// The seed's service_monitor asks real servers: one answers, one otherwise than expected, one is
// not there. Nothing is claimed to be repaired, and a model words the report only.
func TestTheSeedWatchesServices(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"curl", "bash", "timeout"} {
		if _, err := exec.LookPath(program); err != nil {
			testskip.Missing(t, program)
		}
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer web.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := gone.Addr().(*net.TCPAddr).Port
	gone.Close()
	h, server := homeWith(t, modeltest.Turn{Text: "not asked for"})
	h.configure(serverSettings(server))
	endpoints := fmt.Sprintf(`[{"name":"site","url":"%[1]s/health","expected":{"status":200}},{"name":"shop","url":"%[1]s/shop","expected":{"status":200}},`+
		`{"name":"base","type":"tcp","host":"127.0.0.1","port":%[2]d,"timeout":3}]`, web.URL, port)
	r := h.run("run", "run procedure service_monitor endpoints='"+endpoints+"'", "--yes")
	if r.code != cli.ExitOK {
		t.Fatalf("code %d\n%s\n%s", r.code, r.out, r.err)
	}
	for _, want := range []string{"异常数量:2", "严重级别:critical", "[warning] shop: status 418 in place of 200", "[critical] base:", "❌ 自动修复失败", "4. 生成报告: done"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in\n%s\n%s", want, r.out, r.err)
		}
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d model calls: the report is made of what the checks found", n)
	}
}

// The seed's api_migration in a project of another language, on the screen: each step asks first,
// as its strategy says, two are done by a model that sees what was found, and nothing is changed.
func TestTheSeedMigratesAnAPI(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: `{"text": "the order of arguments"}`}, modeltest.Turn{Text: `{"text": "swap them in src/main.rs"}`})
	h.configure(serverSettings(server))
	h.write(h.work, "Cargo.toml", "[dependencies]\ntiny-pad = { version = \"1.3\" }\n")
	for _, dir := range []string{"src", "vendor/tiny-pad"} {
		if err := os.MkdirAll(filepath.Join(h.work, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const program = "use tiny_pad::pad;\nfn main() { pad(\"a\", 3); }\n"
	h.write(h.work, "src/main.rs", program)
	h.write(h.work, "vendor/tiny-pad/CHANGELOG.md", "# 2.0.0\nthe order of arguments changed\n")
	s := h.open()
	sayCommand(s, "/api_migration")
	for _, question := range []string{"│  Run the step \"检测当前 API 版本", "│  Run the step \"获取变更日志", "│  迁移方案已生成"} {
		s.WaitFor(question)
		chooseAnswer(s, "1", question)
	}
	s.WaitFor("5/5")
	leave(t, s)
	asked := server.Requests()
	if len(asked) != 2 {
		t.Fatalf("%d requests, want one a model step", len(asked))
	}
	var seen string
	for _, r := range asked {
		for _, m := range r.Messages {
			seen += m.Text() + "\n"
		}
	}
	for _, want := range []string{"the order of arguments changed", "use tiny_pad::pad;", "src/main.rs"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the model was not told %q:\n%s", want, seen)
		}
	}
	if text, err := os.ReadFile(filepath.Join(h.work, "src/main.rs")); err != nil || string(text) != program {
		t.Errorf("%q %v", text, err)
	}
}

// The seed's code_review in a repository: git says what changed, a model judges it, and the
// article's template reports it.
func TestTheSeedReviewsCode(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: `{"issues": [{"file": "pay.go", "line": 2, "severity": "minor", "message": "say why", "suggestion": "x"}, ` +
		`{"file": "pay.go", "line": 3, "severity": "critical", "message": "b is lost", "suggestion": "y"}], "positives": [{"message": "small"}], "risk_level": "high"}`})
	h.configure(serverSettings(server))
	h.write(h.work, "pay.go", "package pay\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}} {
		if out, err := exec.Command("git", append([]string{"-C", h.work}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	h.write(h.work, "pay.go", "package pay\n\nfunc Pay(a, b int) int { return a }\n")
	r := h.run("run", "run procedure code_review target=main", "--yes")
	if r.code != cli.ExitOK {
		t.Fatalf("code %d\n%s\n%s", r.code, r.out, r.err)
	}
	for _, want := range []string{"变更文件数:1", "新增行数:2", "风险等级:high", "**[critical]** pay.go:3", "b is lost", "say why", "4. 生成审查报告: done"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in\n%s\n%s", want, r.out, r.err)
		}
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// What came of a procedure that the person ran stands in the conversation, as the output of a
// command does: no model tells of it.
func TestWhatCameOfAProcedureIsSeen(t *testing.T) {
	t.Parallel()
	h := newHome(t, "model: offline\n")
	putFile(t, filepath.Join(h.dir, "skills/greet.yaml"), `skill:
  name: greet
  version: "1.0"
  description: "Greet somebody"
  parameters: {who: {description: "a name"}, end: "true"}
  execution:
    steps:
      - {name: "Say it", command: "echo hello; {{end}}"}
  output: {template: "greeted <{{who}}>"}
`)
	s := h.screen(100, 30, ui.Options{}, "")
	typeCommand(s, "/gree", "/greet [key=value]") // it is known once it was read
	s.Type("t who=Ann" + enter)
	s.WaitFor("greeted <Ann>")
	say(s, "/greet who=Bob end=false")
	s.WaitFor("did not end well")
}
