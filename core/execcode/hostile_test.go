package execcode

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/testskip"
	"hermes/core/tool"
)

// A thread that a script left in a call does not take the next script away from its kernel, and is
// told that the script has ended.
func TestAThreadLeftInACallOfAKernel(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	run := inKernel(t, e, func(s *Script) {
		s.Limits.Timeout = 30 * time.Second
		s.Call = func(ctx context.Context, c tool.NestedCall) tool.NestedResult {
			if strings.Contains(string(c.Args), "late") {
				<-ctx.Done()
			}
			return echo(ctx, c)
		}
	})
	run("import threading, time\nfrom hermes_tools import read_file\ngot = []\nt = threading.Thread(target=lambda: got.append(read_file('late')), daemon=True)\nt.start()\nread_file('now')")
	for i := range 3 {
		res := run(fmt.Sprintf("print(read_file('%d')['args']['path'])", i))
		if res.Status != Success || res.Output != fmt.Sprintf("%d\n", i) || res.Kernel != "kept" {
			t.Fatalf("%+v", res)
		}
	}
	if res := run("t.join(10)\nprint(got)"); res.Output != "[{'error': 'The script that made this call has ended.'}]\n" {
		t.Errorf("%+v", res)
	}
}

// What a project brings as its Python runs kept in, from the first look at it on.
func TestAHostileInterpreter(t *testing.T) {
	t.Setenv("VIRTUAL_ENV", "")
	base := newEngine(t)
	if base.levels.known.Landlock == 0 {
		testskip.Missing(t, "no Landlock here")
	}
	home := t.TempDir() // out of reach, as our own home is
	secret := filepath.Join(home, "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := New(Options{Env: base.o.Env, Homes: []string{home}})
	defer e.Close()
	want, err := e.Probe(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]string{"no Python": "exit 3", "hangs": "sleep 600", "lies": "echo 3 11; echo /bin/sh; echo 00"} {
		t.Run(name, func(t *testing.T) {
			s := script(t, "print('ran')")
			fake := filepath.Join(s.Dir, ".venv", "bin", "python")
			if err := os.MkdirAll(filepath.Dir(fake), 0o755); err != nil {
				t.Fatal(err)
			}
			text := "#!/bin/sh\n(cat " + secret + " > " + s.Dir + "/stolen; echo x > " + home + "/written) 2>/dev/null\n" + end + "\n"
			if err := os.WriteFile(fake, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			if name != "hangs" {
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
			}
			defer cancel()
			res := e.Run(ctx, s)
			if name == "no Python" && res.Output != "ran\n" {
				t.Errorf("%+v", res)
			}
			if data, _ := os.ReadFile(filepath.Join(s.Dir, "stolen")); len(data) > 0 {
				t.Error("it read the secret")
			}
			if _, err := os.Stat(filepath.Join(home, "written")); err == nil {
				t.Error("it wrote into the home")
			}
			if got, err := e.Probe(t.Context(), ""); err != nil || got != want {
				t.Errorf("other scripts now run on %+v, %v", got, err)
			}
			noneIn(t, s.Dir)
		})
	}
}

// A file that says that scripts run without isolation is not believed.
func TestACacheThatAsksForLess(t *testing.T) {
	t.Parallel()
	base := newEngine(t)
	file := filepath.Join(t.TempDir(), "scripts.json")
	first := New(Options{Env: base.o.Env, Cache: file})
	want, err := first.Probe(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := readCache(file)
	for system := range m.Levels {
		m.Levels[system] = Isolation{}
	}
	raw, _ := json.Marshal(m)
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	second := New(Options{Env: base.o.Env, Cache: file})
	if got, err := second.Probe(t.Context(), ""); err != nil || got != want {
		t.Errorf("%+v, was %+v: %v", got, want, err)
	}
}

// Folders thousands deep, and such as nobody may enter, go too, within few descriptors.
func TestADeepFolderGoes(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	e := newEngine(t)
	s := script(t, "import os\nos.chdir(os.environ['TMPDIR'])\nfor i in range(600):\n    os.mkdir('d'); os.chdir('d')\n    if i % 100 == 0: open('f', 'w').close(); os.chmod('.', 0o500)\nprint('deep')")
	s.Code = strings.Replace(s.Code, "os.chmod('.', 0o500)", "os.mkdir('shut'); os.open('shut/f', os.O_CREAT); os.chmod('shut', 0)", 1)
	before := descriptors(t)
	most := make(chan int, 1)
	stop := make(chan struct{})
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				most <- n
				return
			default:
				n = max(n, descriptors(t))
				time.Sleep(5 * time.Millisecond)
			}
		}
	}()
	res := e.Run(t.Context(), s)
	close(stop)
	if res.Output != "deep\n" {
		t.Errorf("%+v", res)
	}
	if n := <-most; n > before+200 {
		t.Errorf("%d descriptors were open", n)
	}
	if list, _ := filepath.Glob(filepath.Join(tmp, "*")); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
