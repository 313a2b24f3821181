package program

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/testskip"
)

// escapes are scripts that try to get out, each with what it prints when it failed. WORD is
// replaced by the name of the one run.
var escapes = []struct{ name, code, want string }{
	{"a tool that is not for scripts", "import hermes_tools\nprint([n for n in ('execute_code', 'process', 'session_search', 'todo', 'clarify') if hasattr(hermes_tools, n)])", "[]"},
	{"recursion over the channel", "import hermes_tools as h\nf = [getattr(h, n) for n in dir(h) if 'call' in n and callable(getattr(h, n))]\nout = []\nfor g in f:\n    try: out.append(str(g('execute_code', {'code': '1'})))\n    except BaseException as e: out.append('refused ' + str(e))\nprint('ran' if any('success' in o for o in out) else 'refused')", "refused"},
	{"background", "from hermes_tools import terminal\ntry: print('refused' if 'error' in terminal('sleep 60', background=True) else 'ran')\nexcept TypeError: print('refused')", "refused"},
	{"background by &", "from hermes_tools import terminal\nterminal('setsid sleep WORD >/dev/null 2>&1 & echo ok')\nterminal('setsid -f sleep WORD >/dev/null 2>&1')\nprint('tried')", "tried"},
	{"call 51", "from hermes_tools import terminal\nr = [terminal('true') for i in range(60)]\nprint(sum('error' in x for x in r), r[59])", "10 {'error':"},
	{"the parent", "import os\ntry: os.kill(os.getppid(), 9)\nexcept OSError: pass\nprint('alive')", "alive"},
	{"everybody", "import os\nfor p in range(2, 400):\n    try:\n        if p != os.getpid(): os.kill(p, 0); print('reaches', p) if p > 3 else None\n    except OSError: pass\nprint('done')", "done"},
	{"a daemon", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.execvp('sleep', ['sleep', 'WORD'])\n    os._exit(0)\ntime.sleep(0.1)\nprint('left')", "left"},
	{"many children", "import os\nn = 0\ntry:\n    while n < 800:\n        if os.fork() == 0: os.execvp('sleep', ['sleep', 'WORD'])\n        n += 1\nexcept OSError: pass\nprint('bounded' if n < 800 else 'unbounded')", "bounded"},
	{"out of the project", "out = []\nfor p in ('HOME/.ssh/authorized_keys', '/opt/hermes-redteam', 'HOME/.hermes/config.yaml', '/etc/hermes-redteam', 'HOME/.hermes/skills/x'):\n    try: open(p, 'a').write('EVIL'); out.append(p)\n    except OSError: pass\nprint(out)", "[]"},
	{"mounts and namespaces", "import ctypes, os\nl = ctypes.CDLL(None, use_errno=True)\nprint([n for n, r in (('mount', l.mount(b'none', b'/mnt', b'tmpfs', 0, None)), ('unshare', l.unshare(0x10000000)), ('pivot', l.syscall(155, b'/', b'/')), ('bpf', l.syscall(321, 0, 0, 0)), ('uring', l.syscall(425, 1, 0)), ('keyctl', 0 if l.syscall(250, 0, -3, 0) == -1 else -2)) if r >= 0 and n != 'keyctl'])", "[]"},
	{"hard link to a secret", "import os\ntry:\n    os.link('HOME/.ssh/id_ed25519', 'k'); print(open('k').read())\nexcept OSError: print('refused')", "refused"},
	{"a link that its folder becomes", "import os\ntry:\n    d = os.environ['TMPDIR']; os.rmdir(d); os.symlink('HOME', d)\nexcept OSError: pass\nprint('tried')", "tried"},
	{"the floor", "from hermes_tools import terminal\nprint(terminal('rm -rf /home/nobody-who-is-here'))", "{'error': 'Refused"},
	{"keys of its own engine", "import subprocess\nr = subprocess.run('docker -H unix:///var/run/docker.sock ps', shell=True, capture_output=True, text=True)\nprint('refused' if r.returncode else r.stdout)", "refused"},
}

// No script gets out, as root or as a normal user, and nothing of one lives on.
func TestRedTeamScriptsTryToEscape(t *testing.T) {
	testskip.WithoutRace(t, attacks)
	needPython(t)
	for name, uid := range map[string]int{"root": 0, "a normal user": 65534} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			if v.uid = uid; uid != 0 {
				needRoot(t)
			}
			word := fmt.Sprint(500000+os.Getpid()%100000) + fmt.Sprint(uid)
			var strikes []strike
			for _, e := range escapes {
				strikes = append(strikes, python(e.name, strings.NewReplacer("HOME", v.user, "WORD", word).Replace(strings.ReplaceAll(e.code, "'HOME'", fmt.Sprintf("%q", v.user)))))
			}
			o := v.attack(strikes, "--yes")
			for _, e := range escapes {
				var r scriptResult
				if err := json.Unmarshal([]byte(o.results[e.name]), &r); err != nil || !strings.HasPrefix(r.Output, e.want) && !strings.Contains(r.Error, "more than 512 processes") {
					t.Errorf("%s: %v %.500s", e.name, err, o.results[e.name])
				}
			}
			o.clean(t)
			v.intact()
			left := ""
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				out, _ := exec.Command("pgrep", "-f", "^sleep "+word).Output()
				if left = string(out); left == "" {
					break
				}
			}
			if left != "" {
				t.Errorf("it lives on: %s", left)
			}
			if found, _ := filepath.Glob("/[eo][tp][ct]/hermes-redteam"); len(found) > 0 {
				t.Errorf("%v was written", found)
			}
			if left, _ := filepath.Glob(filepath.Join(v.user, "tmp", "hermes-code-*")); len(left) > 0 {
				t.Errorf("folders are left: %v", left)
			}
		})
	}
}

// Where nobody answers, what a script asks for is refused inside of it, and the script itself too
// when its text cannot be seen through.
func TestRedTeamScriptsAreAskedInsideToo(t *testing.T) {
	testskip.WithoutRace(t, attacks)
	needPython(t)
	t.Parallel()
	v := newVictim(t)
	inside := "from hermes_tools import terminal, write_file, patch\nprint(terminal('rm main.go'))\nprint(terminal('git push'))\nprint(write_file('.git/hooks/pre-commit', 'x'))\nprint(write_file('HOME/.bashrc', 'x'))\nprint(patch(path='HOME/.ssh/authorized_keys', old_string='person', new_string='EVIL'))"
	strikes := []strike{python("inside", strings.ReplaceAll(inside, "HOME", v.user))}
	o := v.attack(strikes)
	o.repelled(t, strikes)
	o = v.attack(strikes, "--yes=2")
	o.repelled(t, strikes)
	v.intact()
}
