package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/confine"
	"hermes/core/testskip"
	"hermes/core/testwait"
)

// python is the system's: one of PATH may be in a home that a strict sandbox does not show.
const python = "PATH=/usr/bin:/bin python3"

// changeAll tries every way to change attributes of a file, and prints those that the system called
// done.
const changeAll = `
import ctypes, fcntl, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
f = sys.argv[1]
here = os.getcwd()
def raw(nr, *args):
    libc.syscall.restype = ctypes.c_long
    args = [ctypes.c_char_p(a.encode()) if isinstance(a, str) else a if isinstance(a, ctypes.Array) else ctypes.c_long(a) for a in args]
    if libc.syscall(ctypes.c_long(nr), *args) < 0: raise OSError(ctypes.get_errno(), 'raw')
def at(do):
    fd = os.open(os.path.dirname(f), os.O_RDONLY)
    try: return do(fd, os.path.basename(f))
    finally: os.close(fd)
def held(do, flags=os.O_RDONLY):
    fd = os.open(f, flags)
    try: return do(fd)
    finally: os.close(fd)
def linked(do):
    os.symlink(f, 'to')
    try: return do('to')
    finally: os.unlink('to')
def there(do):
    os.chdir(os.path.dirname(f))
    try: return do(os.path.basename(f))
    finally: os.chdir(here)
old = struct.pack('qqqq', 1, 0, 1, 0)
buf = lambda b: ctypes.create_string_buffer(b, len(b))
me, us = os.geteuid(), os.getegid()
ways = {
 'chmod': lambda: os.chmod(f, 0o777), 'chmod through a link': lambda: linked(lambda p: os.chmod(p, 0o777)),
 'chmod of a relative path': lambda: there(lambda p: os.chmod(p, 0o777)),
 'chmod by ..': lambda: os.chmod(here + '/../outside/' + os.path.basename(f), 0o777),
 'fchmod': lambda: held(lambda fd: os.fchmod(fd, 0o777)), 'fchmodat': lambda: at(lambda d, n: os.chmod(n, 0o777, dir_fd=d)),
 'fchmodat2': lambda: raw(452, -100, f, 0o777, 0), 'fchmodat2 of a descriptor': lambda: held(lambda fd: raw(452, fd, '', 0o777, 0x1000), os.O_PATH),
 'chmod of a descriptor': lambda: held(lambda fd: os.chmod('/proc/self/fd/%d' % fd, 0o777), os.O_PATH),
 'chmod of a descriptor in /dev': lambda: held(lambda fd: os.chmod('/dev/fd/%d' % fd, 0o777)),
 'chmod through our root': lambda: os.chmod('/proc/self/root' + f, 0o777), 'chmod through our folder': lambda: there(lambda n: os.chmod('/proc/self/cwd/' + n, 0o777)),
 'set-uid': lambda: os.chmod(f, 0o4755),
 'chown': lambda: os.chown(f, me, other), 'lchown': lambda: os.lchown(f, me, other), 'fchown': lambda: held(lambda fd: os.fchown(fd, me, other)),
 'fchownat': lambda: at(lambda d, n: os.chown(n, me, other, dir_fd=d)), 'fchownat of a descriptor': lambda: held(lambda fd: raw(260, fd, '', me, other, 0x1000), os.O_PATH),
 'chown to the same': lambda: os.chown(f, me, us),
 'utimensat': lambda: os.utime(f, (1, 1)), 'utimensat now': lambda: os.utime(f), 'futimens': lambda: held(lambda fd: os.utime(fd, (1, 1))),
 'utimensat at': lambda: at(lambda d, n: os.utime(n, (1, 1), dir_fd=d)), 'utimensat of a link': lambda: linked(lambda p: os.utime(p, (1, 1))),
 'utime': lambda: raw(132, f, buf(struct.pack('qq', 1, 1))), 'utimes': lambda: raw(235, f, buf(old)), 'futimesat': lambda: raw(261, -100, f, buf(old)),
 'setxattr': lambda: os.setxattr(f, 'user.x', b'1'), 'lsetxattr': lambda: os.setxattr(f, 'user.x', b'1', follow_symlinks=False),
 'fsetxattr': lambda: held(lambda fd: os.setxattr(fd, 'user.x', b'1')), 'setxattrat': lambda: raw(463, -100, f, 0, 'user.x', buf(struct.pack('QII', 0, 0, 0)), 16),
 'removexattr': lambda: os.removexattr(f, 'user.there'), 'fremovexattr': lambda: held(lambda fd: os.removexattr(fd, 'user.there')),
 'lremovexattr': lambda: os.removexattr(f, 'user.there', follow_symlinks=False), 'removexattrat': lambda: raw(466, -100, f, 0, 'user.there'),
 'an access list': lambda: os.setxattr(f, 'system.posix_acl_access', struct.pack('<IHHIHHIHHIHHI', 2, 1, 7, 0xffffffff, 4, 7, 0xffffffff, 0x20, 7, 0xffffffff, 0, 0, 0)[:36]),
 'flags': lambda: held(lambda fd: fcntl.ioctl(fd, 0x40086602, struct.pack('l', 0x80))), 'flags of 32 bits': lambda: held(lambda fd: fcntl.ioctl(fd, 0x40046602, struct.pack('i', 0x80))),
 'flags by xattr': lambda: held(lambda fd: fcntl.ioctl(fd, 0x401c5820, struct.pack('IIIIIQ', 0x40, 0, 0, 0, 0, 0))),
 'file_setattr': lambda: raw(469, -100, f, buf(struct.pack('QIIII', 0x40, 0, 0, 0, 0)), 24, 0),
 'truncate': lambda: os.truncate(f, 0), 'truncate on reading': lambda: os.close(os.open(f, os.O_RDONLY | os.O_TRUNC)),
}
other = ([g for g in os.getgroups() if g != us] or [us])[0] if me else 12345
for name, way in ways.items():
    try: way()
    except OSError: continue
    print('done:', name)
print('tried', len(ways))
`

// state is what a file looks like, but for when it was read.
func state(t testing.TB, path string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	list := make([]byte, 4096)
	n, _ := unix.Llistxattr(path, list)
	flags := 0
	if fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW, 0); err == nil {
		flags, _ = unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
		_ = unix.Close(fd)
	}
	return fmt.Sprintf("%o %d:%d %d bytes %v %q %x", st.Mode, st.Uid, st.Gid, st.Size, st.Mtim, list[:max(n, 0)], flags)
}

func (c *cell) write(name, text string) string {
	c.t.Helper()
	path := filepath.Join(c.project, name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// No way to change attributes gets out of the project, in each mode, with each engine, as root and
// as a user (TestSandboxOfANormalUser).
func TestAttributesOutside(t *testing.T) {
	for _, e := range engines {
		for _, mode := range []string{"project", "strict"} {
			t.Run(string(e)+" "+mode, func(t *testing.T) {
				c := newCell(t, mode, e)
				script := c.write("change.py", changeAll)
				for _, file := range []string{filepath.Join(c.outside, "file"), filepath.Join(c.home, "notes"), filepath.Join(c.home, ".ssh", "id")} {
					if err := unix.Setxattr(file, "user.there", []byte("1"), 0); err != nil {
						t.Fatal(err)
					}
					before := state(t, file)
					out, code := c.run(python + " " + script + " " + file)
					if code != 0 || !strings.HasPrefix(out, "tried ") {
						t.Errorf("%s: exit %d\n%s", file, code, out)
					}
					if after := state(t, file); after != before {
						t.Errorf("%s was %s, is %s", file, before, after)
					}
				}
			})
		}
	}
}

// What ordinary work does to attributes goes on in the project.
func TestAttributesInside(t *testing.T) {
	testskip.Long(t, "real sandboxes")
	for _, e := range engines {
		for _, mode := range []string{"project", "strict"} {
			t.Run(string(e)+" "+mode, func(t *testing.T) {
				c := newCell(t, mode, e)
				c.works("echo 'echo ran' >s && chmod +x s && ./s && stat -c %a s", "ran\n755")
				c.works("umask 022; mkdir -p d/e && echo x >d/e/f && chmod 640 d/e/f && touch -d @1000 d/e/f && ln -s f d/e/l && cp -a d copy && stat -c '%a %Y' copy/e/f", "640 1000")
				c.works("tar cf a.tar d && mkdir out && tar xpf a.tar -C out && stat -c '%a %Y' out/d/e/f", "640 1000")
				c.works("touch -h -d @2000 d/e/l && stat -c %Y d/e/l && stat -c %Y d/e/f", "2000\n1000")
				c.works("chown -h $(id -u):$(id -g) d/e/l && chown $(id -u) d/e/f && echo done", "done")
				c.works("install -m 750 -D s root/usr/bin/s && stat -c %a root/usr/bin/s", "750")
				c.works("chmod g+w d && chmod -R go-rwx d && stat -c %a d/e", "700")
				c.works("exec 5<s; chmod 700 /proc/self/fd/5 && stat -c %a s && chmod 711 /dev/fd/5 && stat -c %a s", "700\n711")
				c.works(python+` -c '
import os
os.setxattr("s", "user.a", b"1" * 300); os.setxattr("s", b"user.b", b""); os.removexattr("s", "user.b")
fd = os.open("s", os.O_RDWR)
os.fchmod(fd, 0o600); os.utime(fd, ns=(5, 6)); os.fchown(fd, -1, os.getegid()); os.setxattr(fd, "user.c", b"2"); os.truncate("s", 3)
print(os.stat("s").st_mtime_ns != 6, oct(os.stat("s").st_mode), len(os.getxattr("s", "user.a")), sorted(os.listxattr("s")), os.stat("s").st_size)'`, "True 0o100600 300 ['user.a', 'user.c'] 3")
				c.works("f=$(mktemp) && chmod 644 $f && touch -d @3000 $f && stat -c '%a %Y' $f && rm $f", "644 3000")
				for _, command := range []string{"chmod 644 nosuch", python + " -c 'import os; os.chmod(99, 0o644)'"} {
					c.refused(command)
				}
			})
		}
	}
}

// Nothing gets a set-uid bit, and no file a set-gid bit: such a file would give its owner's rights
// away outside of the sandbox.
func TestNoSetIDBits(t *testing.T) {
	for _, e := range engines {
		t.Run(string(e), func(t *testing.T) {
			c := newCell(t, "project", e)
			c.works("cp /bin/sh own && echo done", "done")
			for _, command := range []string{
				"chmod u+s own", "chmod 4755 own", "chmod g+s own", "install -m 4755 /bin/sh own2",
				python + ` -c 'import os; os.close(os.open("new", os.O_CREAT | os.O_WRONLY, 0o4755))'`,
				python + ` -c 'import os; os.mknod("node", 0o104755)'`, python + ` -c 'import os; os.fchmod(os.open("own", os.O_RDWR), 0o6755)'`,
			} {
				c.refused(command)
			}
			entries, err := os.ReadDir(c.project)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				if info, err := entry.Info(); err != nil || info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
					t.Errorf("%s: %v, %v", entry.Name(), info, err)
				}
			}
		})
	}
}

// A path that is swapped between a file inside and one outside, over and over, while a command
// changes attributes by it.
func TestAttributesOfASwappedPath(t *testing.T) {
	for _, e := range engines {
		t.Run(string(e), func(t *testing.T) {
			c := newCell(t, "project", e)
			file := filepath.Join(c.outside, "file")
			before := state(t, file)
			c.write("race.py", `
import os, sys, threading, time
os.mkdir('in'); open('in/file', 'w').close(); os.symlink('in', 'a'); os.symlink(sys.argv[1], 'b')
end, done = time.time() + 1.5, [0, 0]
def swap():
    while time.time() < end:
        os.rename('a', 'c'); os.rename('b', 'a'); os.rename('c', 'b')
def change():
    while time.time() < end:
        for way in (lambda: os.chmod('a/file', 0o777), lambda: os.utime('a/file', (1, 1))):
            try: way(); done[0] += 1
            except OSError: done[1] += 1
all = [threading.Thread(target=t) for t in (swap, change, change)]
for t in all: t.start()
for t in all: t.join()
print('both' if min(done) > 20 else done)
`)
			c.works(python+" race.py "+c.outside, "both")
			if after := state(t, file); after != before {
				t.Errorf("was %s, is %s", before, after)
			}
		})
	}
}

// What a command left behind can still change what it may, and no more; who asks when the pool is
// closed is refused.
func TestAttributesAfterTheCommand(t *testing.T) {
	c := newCell(t, "project", confine.OfKernel)
	c.works(`echo 0 >f; (while ! [ -e go ]; do sleep 0.02; done; chmod 711 f; chmod 777 `+c.outside+`/file; touch did) >/dev/null 2>&1 & echo up`, "up")
	c.write("go", "")
	for deadline := time.Now().Add(testwait.Hang); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(c.project, "did")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not go on")
		}
	}
	if s := state(t, filepath.Join(c.project, "f")); !strings.HasPrefix(s, "100711 ") {
		t.Error(s)
	}
	if s := state(t, filepath.Join(c.outside, "file")); !strings.HasPrefix(s, "100644 ") {
		t.Error(s)
	}
}
