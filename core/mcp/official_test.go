package mcp

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/mcp/officialtest"
)

// node is an entry for an installed server.
func node(modules, name string, args ...string) Settings {
	s := Settings{Name: name}
	s.Command = "node"
	s.Args = append([]string{filepath.Join(modules, "@modelcontextprotocol/server-"+name, "dist/index.js")}, args...)
	return s
}

// The official servers work: every tool of theirs is there with its arguments, nothing of them is
// taken for an attack, and they see nothing of ours.
func TestOfficialServers(t *testing.T) {
	modules := officialtest.Install(t)
	t.Setenv("OUR_SECRET_TOKEN", "do-not-show-this")
	t.Setenv("SOMETHING_ELSE", "do-not-show-this")
	p := newPlace(t)
	files, memory := t.TempDir(), filepath.Join(t.TempDir(), "memory.json")
	everything, filesystem, mem := node(modules, "everything"), node(modules, "filesystem", files), node(modules, "memory")
	filesystem.Permissions.AllowedPaths = []string{files}
	mem.Env = map[string]string{"MEMORY_FILE_PATH": memory}
	p.Apply(entries(everything, filesystem, mem))
	for name, least := range map[string]int{"everything": 13, "filesystem": 14, "memory": 9} {
		s := mustReady(t, p, name)
		if len(s.Tools) < least || s.Changed > 0 {
			t.Errorf("%s: %d tools, %d blocked: %+v", name, len(s.Tools), s.Changed, s.Tools)
		}
	}
	for _, name := range p.tools.Names() {
		spec, _ := p.tools.Lookup(name)
		if !schemaCompiles(spec.Schema) {
			t.Errorf("%s: %s", name, spec.Schema)
		}
	}
	if text, failed := p.call("mcp__everything__get_env", `{}`); failed || strings.Contains(text, "do-not-show-this") || !strings.Contains(text, "PATH") {
		t.Errorf("%v %s", failed, text)
	}
	if text, _ := p.call("mcp__everything__get_sum", `{"a":2,"b":3}`); !strings.Contains(text, "5") {
		t.Error(text)
	}
	if res := p.run("mcp__everything__get_tiny_image", `{}`); !slices.ContainsFunc(res.Parts, func(p chat.Part) bool { return p.Media == "image/png" }) {
		t.Errorf("%+v", res)
	}
	write, _ := json.Marshal(map[string]string{"path": files + "/a.txt", "content": "hello"})
	if text, failed := p.call("mcp__filesystem__write_file", string(write)); failed {
		t.Error(text)
	}
	if data, err := os.ReadFile(filepath.Join(files, "a.txt")); err != nil || string(data) != "hello" {
		t.Errorf("%q %v", data, err)
	}
	if text, failed := p.call("mcp__filesystem__read_text_file", `{"path":"/etc/passwd"}`); !failed || !strings.Contains(text, "Nothing was sent") {
		t.Error(text)
	}
	if text, failed := p.call("mcp__memory__create_entities", `{"entities":[{"name":"vega","entityType":"server","observations":["staging"]}]}`); failed {
		t.Error(text)
	}
	if text, _ := p.call("mcp__memory__search_nodes", `{"query":"vega"}`); !strings.Contains(text, "staging") {
		t.Error(text)
	}
}

// The same over HTTP.
func TestAnOfficialServerOverHTTP(t *testing.T) {
	modules := officialtest.Install(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	cmd := exec.Command("node", filepath.Join(modules, "@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	p := newPlace(t)
	p.Apply(entries(overHTTP("web", "http://127.0.0.1:"+port+"/mcp")))
	p.Want()
	p.until("it listens by now", func(c StateChanged) bool { return c.State == StateReady })
	if text, failed := p.call("mcp__web__echo", `{"message":"over HTTP"}`); failed || !strings.Contains(text, "over HTTP") {
		t.Error(text)
	}
	p.end()
}
