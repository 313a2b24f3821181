package program

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hermes/core/mcp/officialtest"
	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/pool/docker/dockertest"
	"hermes/pool/ssh/sshdtest"
)

// nodeImage is an image with this machine's node, what it is linked to, a shell, and the modules.
func nodeImage(t *testing.T, modules string) string {
	t.Helper()
	dockertest.Engine(t)
	a := dockertest.NewArchive()
	put := func(name, from string) {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		a.File(strings.TrimPrefix(name, "/"), data, 0o755)
	}
	found := func(name string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			testskip.Missing(t, err)
		}
		return path
	}
	put("bin/busybox", found("busybox"))
	for _, name := range []string{"sh", "id", "env", "cat", "hostname", "sleep", "ps"} {
		a.Link("bin/"+name, "busybox")
	}
	a.Dir("tmp", 0o1777)
	a.File("etc/passwd", []byte("root:x:0:0:root:/root:/bin/sh\n"), 0o644)
	put("bin/node", found("node"))
	linked, err := exec.Command("ldd", found("node")).Output()
	if err != nil {
		t.Skip("what node is linked to is not known: ", err)
	}
	for _, lib := range regexp.MustCompile(`/\S+`).FindAllString(string(linked), -1) {
		put(lib, lib)
	}
	err = fs.WalkDir(os.DirFS(modules), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		put("modules/node_modules/"+path, filepath.Join(modules, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dockertest.Import(t, "node", a.Bytes(), "ENV PATH=/bin")
}

// An official server lives in a container, over ssh, and here: each is called in one turn, and sees
// its own place and no secret of ours.
func TestServersInOtherPlaces(t *testing.T) {
	modules := officialtest.Install(t)
	image := nodeImage(t, modules)
	far := sshdtest.Start(t)
	const script = "@modelcontextprotocol/server-everything/dist/index.js"
	call := func(server, tool, args string) modeltest.Call {
		return modeltest.Call{ID: server + tool, Name: "mcp__" + server + "__" + tool, Args: args}
	}
	var turns []modeltest.Turn
	for _, server := range []string{"boxed", "far", "here"} {
		turns = append(turns, modeltest.Turn{Calls: []modeltest.Call{call(server, "get_sum", `{"a":2,"b":3}`), call(server, "get_env", `{}`)}})
	}
	h, s := homeWith(t, append(turns, modeltest.Turn{Text: "done"})...)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	entry := func(name, node, modules, more string) string {
		return fmt.Sprintf("  %s:\n    command: %s\n    args: [%q]\n    permissions: {allowed_tools: ['*']}\n%s", name, node, modules+"/"+script, more)
	}
	h.configure(serverSettings(s) + "terminal:\n  backends:\n    default: {kind: local}\n" +
		fmt.Sprintf("    box: {kind: docker, image: %q, network: none}\n", image) +
		fmt.Sprintf("    gpu: {kind: ssh, host: %s, port: %d, user: %s, key_file: %s}\n", far.Host, far.Port, far.User, far.Key) +
		"mcp_servers:\n" + entry("boxed", "node", "/modules/node_modules", "    backend: box\n    env: {MINE: shown}\n") +
		entry("far", node, modules, "    backend: gpu\n    env: {MINE: shown}\n") + entry("here", node, modules, "    env: {MINE: shown}\n"))
	cmd := exec.CommandContext(t.Context(), "hermes", "run", "--cwd", h.work, "use them")
	cmd.Env = append(h.env(), "HOME="+far.Client, "OUR_API_KEY=do-not-show-this", "OTHER_SETTING=do-not-show-this")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	texts := heard(s)
	if len(texts) != 6 {
		t.Fatalf("%d results: %q", len(texts), texts)
	}
	for i := 0; i < len(texts); i += 2 {
		sum, env := texts[i], texts[i+1]
		if !strings.Contains(sum, "5") || !strings.Contains(env, `"MINE": "shown"`) || strings.Contains(env, "do-not-show") {
			t.Errorf("%d: %q %q", i/2, sum, env)
		}
	}
	if !strings.Contains(texts[1], `"PATH": "/bin`) || strings.Contains(texts[1], h.dir) {
		t.Errorf("this is no container: %s", texts[1])
	}
	left := &orphans{home: far.Home}
	left.gone(t)
	if ids, err := exec.Command("docker", "ps", "-q", "--filter", "ancestor="+image).Output(); err != nil || len(ids) > 0 {
		t.Errorf("containers are left: %s %v", ids, err)
	}
}

// The official inspector's client reads our conversations.
func TestTheInspectorReadsUs(t *testing.T) {
	modules := officialtest.Install(t)
	h, _ := homeWith(t, modeltest.Turn{Text: "Whales sleep with half of the brain."})
	h.run("run", "how do whales sleep?")
	inspect := func(args ...string) string {
		hermes, err := exec.LookPath("hermes")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(modules, "@modelcontextprotocol/inspector-cli/build/cli.js"), "--cli", hermes, "mcp", "serve"}, args...)...)
		cmd.Env, cmd.Dir = h.env(), h.work
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if list := inspect("--method", "tools/list"); strings.Count(list, `"inputSchema"`) != 7 || !strings.Contains(list, `"conversations_list"`) {
		t.Error(list)
	}
	read := inspect("--method", "tools/call", "--tool-name", "messages_read", "--tool-arg", "session_key=last")
	if !strings.Contains(read, "half of the brain") || !strings.Contains(read, `"structuredContent"`) {
		t.Error(read)
	}
}
