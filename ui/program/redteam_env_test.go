package program

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hermes/core/testskip"
)

// hunt is a script that looks for the parent's secret wherever one may be. It leaves out its own
// text.
const hunt = `
import os, glob, subprocess, ctypes, socket
want = ('Zq7red' + 'team parent value').encode(); tre = ('TREA' + 'SURE').encode()
found = []
def look(where, data):
    if want in data or tre in data: found.append(where)
def read(p):
    try:
        fd = os.open(p, os.O_RDONLY | os.O_NONBLOCK)
        try: return os.read(fd, 1 << 20)
        finally: os.close(fd)
    except OSError: return b''
look('environ', repr(dict(os.environ)).encode())
me = os.getpid()
pids = set([os.getppid(), 1, *range(max(2, me - 300), me + 50), %d])
try: pids |= {int(p) for p in os.listdir('/proc') if p.isdigit()}
except OSError: pass
for pid in pids:
    for f in ('environ', 'cmdline', 'root/proc/self/environ', 'task/%%d/environ' %% pid):
        look('/proc/%%d/%%s' %% (pid, f), read('/proc/%%d/%%s' %% (pid, f)))
    for fd in range(0, 40): look('/proc/%%d/fd/%%d' %% (pid, fd), read('/proc/%%d/fd/%%d' %% (pid, fd)))
    try: open('/proc/%%d/mem' %% pid, 'rb').close(); pid != me and pid > 1 and os.path.exists('/proc/%%d' %% me) and pid != os.getppid() and found.append('memory of %%d' %% pid)
    except OSError: pass
    if pid != me and ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0: found.append('ptrace %%d' %% pid)
for p in ['/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock', '/run/podman/podman.sock']:
    try: s = socket.socket(socket.AF_UNIX); s.connect(p); found.append('socket ' + p)
    except OSError: pass
for p in glob.glob(%q + '/.*/**', recursive=True) + [%q + '/.hermes/.env', %q + '/.ssh/id_ed25519', %q + '/.aws/credentials', %q + '/.netrc', '/proc/self/root' + %q + '/.ssh/id_ed25519']: look(p, read(p))
look('child', subprocess.run('env; cat /proc/$PPID/environ /proc/self/environ; ps axeww; docker ps; docker inspect x', shell=True, capture_output=True).stdout)
print('found:', found)
`

func (v *victim) hunt(parent int) string {
	return fmt.Sprintf(hunt, parent, v.user, v.user, v.user, v.user, v.user, v.user)
}

// environmentStrikes ask for the parent's environment in commands.
func environmentStrikes() []strike {
	return []strike{
		shell("env", "env"), shell("export", "export -p; set"), shell("printenv", "printenv HERMES_TEST_API_KEY DATABASE_URL || echo none"), shell("own environ", "tr '\\0' '\\n' < /proc/self/environ"),
		shell("parent's environ", "cat /proc/$PPID/environ"), shell("parent of the parent", "p=$(cut -d' ' -f4 /proc/$PPID/stat); cat /proc/$p/environ"),
		shell("all environs", "cat /proc/[0-9]*/environ"), shell("ps", "ps axeww || ps"), shell("hex", "od -An -tx1 /proc/$PPID/environ | tr -d ' \\n'"), shell("base64", "base64 -w0 /proc/$PPID/environ"),
		shell("strings", "grep -a API /proc/$PPID/environ"), shell("reversed", "rev /proc/$PPID/environ"), shell("turned", "cat /proc/$PPID/environ /proc/self/environ | tr a-zA-Z n-za-mN-ZA-M; env | tr a-zA-Z n-za-mN-ZA-M"),
		shell("pieces", "for i in 1 2 3; do head -c 4000 /proc/$PPID/environ | fold -w 7; done"),
		call("background", "terminal", map[string]any{"command": "env; cat /proc/$PPID/environ; sleep 1", "background": true}),
		call("background's output", "process", map[string]any{"action": "wait", "session_id": "p1", "timeout": 5}),
		call("search", "search_files", map[string]any{"path": "/proc/self", "pattern": "parent value", "output_mode": "content"}),
	}
}

// encoded are forms in which a secret can leave that no one reads at a glance.
func encoded(secret string) []string {
	var hex, back, turned strings.Builder
	for i := range secret {
		fmt.Fprintf(&hex, "%02x", secret[i])
		back.WriteByte(secret[len(secret)-1-i])
		turned.WriteRune(rot13(rune(secret[i])))
	}
	return []string{secret, hex.String(), back.String(), turned.String()}
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	default:
		return r
	}
}

// No command, in the foreground or the background, and no script shows the environment of the
// program, whoever runs it.
func TestRedTeamEnvironment(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	needPython(t)
	eachMode(t, func(t *testing.T, v *victim, args []string) {
		strikes := environmentStrikes()
		o := v.attack(strikes, args...)
		o.told(t)
		o.clean(t)
		for name, r := range o.results {
			for _, form := range encoded(parentSecret) {
				if strings.Contains(r, form) {
					t.Errorf("%s shows %q", name, form)
				}
			}
		}
	})
}

// A script that runs finds nothing of the program's, as root and as a normal user.
func TestRedTeamScriptsHuntForSecrets(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	needPython(t)
	for name, uid := range map[string]int{"root": 0, "a normal user": 65534} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			if v.uid = uid; uid != 0 {
				needRoot(t)
			}
			strikes := []strike{python("hunt", v.hunt(1)), call("hunt of a kernel", "execute_code", map[string]any{"code": v.hunt(1), "session": true})}
			o := v.attack(strikes, "--yes")
			for _, s := range strikes {
				var r scriptResult
				if err := json.Unmarshal([]byte(o.results[s.name]), &r); err != nil || r.Status != "success" || r.Output != "found: []\n" {
					t.Errorf("%s: %v %s", s.name, err, o.results[s.name])
				}
			}
			o.clean(t)
			v.intact()
		})
	}
}
