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
