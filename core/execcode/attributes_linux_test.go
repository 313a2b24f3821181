package execcode

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/core/testskip"
)

// changes tries to change attributes of FILE, and prints the ways that the system called done; then
// what has to work in its own folder.
const changes = `
import os, ctypes
f = FILE
libc = ctypes.CDLL(None)
def held(do):
    fd = os.open(f, os.O_RDONLY)
    try: do(fd)
    finally: os.close(fd)
def fchmodat2():
    if libc.syscall(452, -100, f.encode(), 0o777, 0) < 0: raise OSError
for name, way in {
    'chmod': lambda: os.chmod(f, 0o777), 'fchmod': lambda: held(lambda fd: os.fchmod(fd, 0o777)), 'fchmodat2': fchmodat2,
    'chown': lambda: os.chown(f, os.geteuid(), os.getegid()), 'utime': lambda: os.utime(f, (1, 1)), 'now': lambda: os.utime(f),
    'futimens': lambda: held(lambda fd: os.utime(fd, (1, 1))), 'setxattr': lambda: os.setxattr(f, 'user.x', b'1'),
    'fsetxattr': lambda: held(lambda fd: os.setxattr(fd, 'user.x', b'1')), 'truncate': lambda: os.truncate(f, 0),
}.items():
    try: way(); print('done', name)
    except OSError: pass
open('own', 'w').close()
os.chmod('own', 0o751); os.utime('own', (5, 5)); os.setxattr('own', 'user.x', b'1'); os.chown('own', -1, os.getegid())
try: os.chmod('own', 0o4751); print('set-uid')
except OSError: pass
s = os.stat('own')
print(oct(s.st_mode), s.st_mtime, os.listxattr('own'))
`

// A script changes attributes in its own folders only, whoever runs it (TestCanaryAsNobody).
func TestAttributes(t *testing.T) {
	base, err := os.MkdirTemp("/var/tmp", "hermes-attributes-")
	if err != nil {
		testskip.Missing(t, err)
	}
	defer os.RemoveAll(base)
	hidden := filepath.Join(base, "home")
	file := filepath.Join(hidden, "file")
	if err := os.Mkdir(hidden, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	look := func() string {
		var st unix.Stat_t
		if err := unix.Stat(file, &st); err != nil {
			t.Fatal(err)
		}
		n, _ := unix.Listxattr(file, nil)
		return fmt.Sprintf("%o %d:%d %d %v %d", st.Mode, st.Uid, st.Gid, st.Size, st.Mtim, n)
	}
	e := newEngine(t)
	e.o.Homes = append(e.o.Homes, hidden)
	report, err := e.Probe(t.Context(), "")
	if err != nil || report.Isolation.Landlock == 0 || !report.Isolation.Seccomp {
		testskip.Missing(t, fmt.Sprintf("this machine gives only %s: %v", report.Isolation, err))
	}
	for _, mode := range []Mode{Project, Strict} {
		before := look()
		s := script(t, strings.ReplaceAll(changes, "FILE", strconv.Quote(file)))
		s.Mode = mode
		res := e.Run(t.Context(), s)
		if want := "0o100751 5.0 ['user.x']\n"; res.Status != Success || res.Output != want {
			t.Errorf("%s: %s %q", mode, res.Error, res.Output)
		}
		if after := look(); after != before {
			t.Errorf("%s: %s was %s", mode, after, before)
		}
	}
}
