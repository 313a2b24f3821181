package execcode

import (
	"bytes"
	"context"
	_ "embed" // bootstrap.py
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/core/clip"
)

//go:embed bootstrap.py
var bootstrap string

// loader is what the interpreter is started with: it reads a block of code from descriptor 3 and
// runs it. 'm' marks code that this very interpreter compiled before, 's' source.
const loader = `import posix
def r(n):
    b = b""
    while len(b) < n:
        c = posix.read(3, n - len(b))
        if not c: posix._exit(125)
        b += c
    return b
k = r(1)
b = r(int.from_bytes(r(4), "big"))
if k == b"m":
    import marshal
    b = marshal.loads(b)
else:
    b = compile(b, "<hermes>", "exec")
exec(b, {"__name__": "<hermes>"})
`

// probe says what an interpreter is, and compiles its argument.
const probe = `import sys, marshal, binascii
code = marshal.dumps(compile(sys.argv[1], "<hermes>", "exec"))
sys.stdout.write("%d %d\n%s\n%s" % (sys.version_info[0], sys.version_info[1], sys.executable, binascii.b2a_hex(code).decode()))
`

// oldest is the oldest Python that scripts run on.
var oldest = [2]int{3, 8}

const probeTime = 20 * time.Second

// python is an interpreter that was looked at.
type python struct {
	path    string // of the interpreter itself, not of a shim in front of it
	version [2]int
	code    []byte // the bootstrap, compiled by it
}

func (p python) argv() []string {
	return []string{p.path, "-I", "-S", "-B", "-X", "utf8", "-c", loader}
}

// loaderBlock is what the loader reads first.
func loaderBlock(kind byte, code []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(code))), code...)
}

// pythons remembers interpreters that were looked at. A file that changed is looked at again.
type pythons struct {
	mu   sync.Mutex
	seen map[string]python // by fileKey
	file string            // keeps them for the next start; "" does not
}

// examiner runs the command of questions and returns what the interpreter printed.
type examiner func(ctx context.Context, argv []string) (out string, err error)

// examineCached finds out what the interpreter at path is.
func (c *pythons) examineCached(ctx context.Context, path string, ask examiner) (python, error) {
	key, err := fileKey(path)
	if err != nil {
		return python{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock() // one look at a time: the second finds what the first found
	if c.seen == nil {
		c.seen = map[string]python{}
		for k, p := range readCache(c.file).Pythons {
			c.seen[k] = python{path: p.Path, version: p.Version, code: p.Code}
		}
	}
	if p, ok := c.seen[key]; ok {
		return p, nil
	}
	p, err := examinePython(ctx, path, ask)
	if err != nil {
		return p, err
	}
	c.seen[key] = p
	changeCache(c.file, func(m *remembered) {
		m.Pythons[key] = savedPython{Path: p.path, Version: p.version, Code: p.code, When: time.Now()}
	})
	return p, nil
}

// askUnconfined asks an interpreter of this machine: one that the person installed, chose or
// switched on.
func askUnconfined(ctx context.Context, argv []string) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} // a shim looks for itself there
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w %s", err, clip.LastLine(errs.String()))
	}
	return out.String(), nil
}

func examinePython(ctx context.Context, path string, ask examiner) (python, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	out, err := ask(ctx, []string{path, "-I", "-S", "-B", "-X", "utf8", "-c", probe, bootstrap})
	if err != nil {
		return python{}, fmt.Errorf("%s does not run: %w", path, err)
	}
	p := python{}
	head, rest, _ := strings.Cut(out, "\n")
	exe, code, _ := strings.Cut(rest, "\n")
	if _, err := fmt.Sscanf(head, "%d %d", &p.version[0], &p.version[1]); err != nil || exe == "" {
		return python{}, fmt.Errorf("%s is no Python: it said %.60q", path, out)
	}
	if p.version[0] < oldest[0] || p.version[0] == oldest[0] && p.version[1] < oldest[1] {
		return python{}, fmt.Errorf("%s is Python %d.%d; scripts need %d.%d or newer", path, p.version[0], p.version[1], oldest[0], oldest[1])
	}
	p.path = exe
	p.code = make([]byte, len(code)/2)
	if _, err := hex.Decode(p.code, []byte(code)); err != nil {
		return python{}, fmt.Errorf("%s: what it compiled cannot be read: %w", path, err)
	}
	return p, nil
}

// activatedPythons are the interpreters of environments that the person switched on.
func activatedPythons(env func(string) string, name string) []string {
	if root := env(name); root != "" {
		return []string{filepath.Join(root, "bin", "python")}
	}
	return nil
}

// installedPythons are the interpreters of the machine.
func installedPythons(env func(string) string) []string {
	var out []string
	for _, name := range []string{"python3", "python"} {
		for _, d := range filepath.SplitList(env("PATH")) {
			if filepath.IsAbs(d) { // never one from wherever the session happens to be
				out = append(out, filepath.Join(d, name))
			}
		}
	}
	return out
}

// projectPythons are the interpreters that came with a project. Whoever wrote the project made
// them, and nobody agreed to run them: they run kept in only, also for a look at what they are.
func projectPythons(dir string) []string {
	return []string{filepath.Join(dir, ".venv", "bin", "python"), filepath.Join(dir, "venv", "bin", "python")}
}

var errNoPython = errors.New("no Python is installed: install python3, or name one with code_execution.python")

// firstUsable returns the first interpreter of the list that is one.
func (c *pythons) firstUsable(ctx context.Context, list []string, ask examiner) (python, error) {
	first := errNoPython
	for _, path := range list {
		if checkRunnable(path) != nil {
			continue
		}
		p, err := c.examineCached(ctx, path, ask)
		if err == nil {
			return p, nil
		}
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		if errors.Is(first, errNoPython) {
			first = err
		}
	}
	return python{}, first
}

func checkRunnable(path string) error {
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
		err = fs.ErrPermission
	}
	return err
}

// job is what starts a run. No field holds a NUL.
type job struct {
	Code   string   `json:"code"`
	File   string   `json:"file"`
	Stub   string   `json:"stub"`
	Path   []string `json:"path,omitempty"` // added to sys.path behind everything else
	Mark   string   `json:"mark,omitempty"` // ends each stream, behind a NUL
	Kernel bool     `json:"kernel,omitempty"`
	Init   bool     `json:"init,omitempty"`
}

// loaderBlock is the job as a new interpreter gets it: without JSON, which costs a Python more than
// a short script.
func (j job) loaderBlock() []byte {
	flags := ""
	if j.Kernel {
		flags += "k"
	}
	if j.Init {
		flags += "i"
	}
	text := strings.Join(append([]string{flags, j.File, j.Mark, j.Code, j.Stub}, j.Path...), "\x00")
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// kernelFrame is the job as a kernel gets its next one.
func (j job) kernelFrame() any { return map[string]job{"run": j} }
