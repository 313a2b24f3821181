package execcode

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/core/childenv"
	"hermes/core/testskip"
)

const canary = "canary-4c1f9b7e"

// hunt is a script that looks for the canary wherever a script might find it, and prints what it
// found. It leaves out its own text.
const hunt = `
import os, socket, ctypes, glob
found = []
def look(where, data):
    if isinstance(data, str): data = data.encode('utf-8', 'replace')
    if ('canary-' + '4c1f9b7e').encode() in data: found.append(where)
def read(path, n=1 << 20):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try: return os.read(fd, n)
        finally: os.close(fd)
    except OSError as e: return b''
look('environ', repr(dict(os.environ)))
look('own environ', read('/proc/self/environ'))
parent = PARENT
try: pids = [int(p) for p in os.listdir('/proc') if p.isdigit()]
except OSError: pids = [1, *range(parent - 60, parent + 60)]
for pid in {os.getppid(), parent, OTHER, *pids}:
    for f in ('environ', 'cmdline', 'maps'):
        look(f'/proc/{pid}/{f}', read(f'/proc/{pid}/{f}'))
    for fd in range(0, 64):
        try: look(f'/proc/{pid}/fd/{fd}', os.readlink(f'/proc/{pid}/fd/{fd}'))
        except OSError: pass
        look(f'/proc/{pid}/fd/{fd}', read(f'/proc/{pid}/fd/{fd}', 4096))
try:
    with open(f'/proc/{parent}/mem', 'rb') as f: found.append('mem opened')
except OSError: pass
for fd in range(4, 256):
    try: os.fstat(fd); found.append(f'descriptor {fd} is open')
    except OSError: pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, parent, 0, 0) == 0: found.append('ptrace')
class iovec(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
buf = ctypes.create_string_buffer(64)
local, remote = iovec(ctypes.addressof(buf), 64), iovec(ADDRESS, 64)
if libc.process_vm_readv(parent, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0: found.append('process_vm_readv')
for path in ('/var/run/docker.sock', '/run/docker.sock', SOCKET):
    try:
        s = socket.socket(socket.AF_UNIX); s.connect(path); found.append('connected to ' + path)
    except OSError: pass
try: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW); found.append('netlink')
except OSError: pass
for path in FILES: look(path, read(path))
look('ps', os.popen('ps aux 2>/dev/null').read())
look('env of a child', os.popen('env').read())
try: os.kill(parent, 0); found.append('signals reach the parent')
except OSError: pass
print('found:', found)
`

// The secrets of the program are out of a script's reach: its environment, memory, descriptors,
// files, and the engine's socket.
func TestCanary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can keep a script away from its parent")
	}
	t.Setenv("CANARY_API_KEY", canary)
	t.Setenv("CANARY_URL", "postgres://u:"+canary+"@h")
	home := t.TempDir()
	secret := filepath.Join(home, ".env")
	if err := os.WriteFile(secret, []byte("KEY="+canary), 0o600); err != nil {
		t.Fatal(err)
	}
	open, err := os.Open(secret) // a descriptor that a careless start would hand down
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	loose, err := syscall.Dup(int(open.Fd())) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(loose) }()
	// A process whose environment and arguments hold the canary, as one of the person's own would.
	other := exec.Command("/bin/sh", "-c", "read wait; : "+canary)
	other.Env = append(os.Environ(), "OTHER_TOKEN="+canary)
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	sock := filepath.Join(t.TempDir(), "engine.sock")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(canary))
			_ = c.Close()
		}
	}()
	defer func() { _ = l.Close(); <-served }()

	e := New(Options{
		Homes: []string{home},
		Env: func() []string {
			env, _ := childenv.Rule{}.Clean(os.Environ())
			return env
		},
	})
	defer e.Close()
	report, err := e.Probe(t.Context(), "")
	if err != nil {
		testskip.Missing(t, err)
	}
	if report.Isolation.Landlock == 0 || !report.Isolation.Seccomp {
		testskip.Missing(t, fmt.Sprintf("this kernel gives only %s", report.Isolation))
	}
	code := strings.NewReplacer("PARENT", strconv.Itoa(os.Getpid()), "OTHER", strconv.Itoa(other.Process.Pid), "SOCKET", strconv.Quote(sock), "FILES", "["+strconv.Quote(secret)+", '/etc/shadow']",
		"ADDRESS", strconv.FormatUint(address(t), 10)).Replace(hunt)
	if os.Getuid() == 0 { // as anybody else the hunt gets at the pipes of this test, and takes its own output away
		huntUnkept(t, e, code)
	}
	for _, mode := range []Mode{Project, Strict} {
		s := script(t, code)
		s.Mode = mode
		res := e.Run(t.Context(), s)
		if res.Status != Success || res.Output != "found: []\n" {
			t.Errorf("%s as uid %d under %s: %s %s", mode, os.Getuid(), res.Isolation, res.Error, res.Output)
		}
	}
}

// The hunt finds the canary where nothing keeps it: else TestCanary would prove nothing. It is not
// called before the levels are known.
func huntUnkept(t *testing.T, e *Engine, code string) {
	t.Helper()
	known := e.levels.known
	e.levels.known, e.levels.fixed = &Isolation{}, true
	res := e.Run(t.Context(), script(t, code))
	e.levels.known, e.levels.fixed = known, false
	for _, where := range []string{"engine.sock", ".env", "ps", "netlink"} {
		if !strings.Contains(res.Output, where) {
			t.Errorf("without isolation the hunt does not find %s: %s %s", where, res.Error, res.Output)
		}
	}
}

// address is where something of ours can be read.
func address(t *testing.T) uint64 {
	t.Helper()
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	start, _, _ := strings.Cut(line, "-")
	n, err := strconv.ParseUint(start, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The same holds for a person who is not root: the test runs itself again as nobody.
func TestCanaryAsNobody(t *testing.T) {
	testskip.Long(t, "runs the program as another user")
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		testskip.Missing(t, "only root can become somebody else")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "hermes-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "test")
	raw, err := os.ReadFile(exe)
	if err == nil {
		err = os.WriteFile(program, raw, 0o755)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "tmp"), 0o777)
	}
	if err == nil {
		err = os.Chmod(filepath.Join(dir, "tmp"), 0o777)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "^(TestCanary|TestAttributes|TestAScript|TestNothingSurvives|TestAForkBombEnds|TestAnInterrupt)$", "-test.v")
	cmd.Dir = filepath.Join(dir, "tmp")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "TMPDIR=" + cmd.Dir, "LANG=C.UTF-8", "HERMES_TEST_REQUIRE=" + os.Getenv("HERMES_TEST_REQUIRE")}
	asNobody(cmd)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestCanary ")) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}
