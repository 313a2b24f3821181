package ssh

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/testskip"
	"hermes/pool/ssh/sshdtest"
)

// runners are the copies in a directory.
func runners(t testing.TB, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The runner is copied once, whole, for its user alone; one that is broken or old is replaced.
func TestTheRunnerIsCopiedOnce(t *testing.T) {
	testskip.Long(t, "a real server")
	s := sshdtest.Start(t)
	sum, data := sshdtest.Program(t)
	o := options(t, s)
	once := func() *steps {
		t.Helper()
		b := open(t, o, spec(s))
		r := start(t, b)
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := once(); r.copied != int64(len(data)) {
		t.Errorf("%d bytes were copied, want %d", r.copied, len(data))
	}
	dir := filepath.Join(s.Home, ".cache", "hermes")
	want := filepath.Join(dir, "runner-"+sum[:12])
	if got := runners(t, dir); len(got) != 1 || got[0] != want {
		t.Fatalf("%q, want %q", got, want)
	}
	for path, mode := range map[string]os.FileMode{want: 0o700, dir: 0o700 | os.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if r := once(); r.copied != 0 {
		t.Errorf("%d bytes were copied again", r.copied)
	}
	for name, spoil := range map[string]func() error{
		"shorter":    func() error { return os.Truncate(want, 1000) },
		"changed":    func() error { return os.WriteFile(want, append([]byte("#!/bin/sh\necho evil\n"), data...), 0o700) },
		"a link":     func() error { return os.Symlink("/bin/true", want) },
		"a pipe":     func() error { return unix.Mkfifo(want, 0o700) },
		"not to run": func() error { return os.Chmod(want, 0o600) },
	} {
		if name == "a link" || name == "a pipe" {
			_ = os.Remove(want)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		once()
		if read1(t, want) != string(data) {
			t.Errorf("%s: it was not replaced", name)
		}
	}
	if got := runners(t, dir); len(got) != 1 {
		t.Errorf("left: %q", got)
	}
}

// Runners of other versions go when nobody has used them for a day; a stranger's file stays.
func TestOldRunnersAreRemoved(t *testing.T) {
	s := sshdtest.Start(t)
	dir := filepath.Join(s.Home, ".cache", "hermes")
	old := time.Now().Add(-49 * time.Hour)
	for name, age := range map[string]time.Time{"runner-000000000000": old, ".new-1234": old, "runner-111111111111": time.Now(), "notes": old} {
		write(t, filepath.Join(dir, name), "x")
		if err := os.Chtimes(filepath.Join(dir, name), age, age); err != nil {
			t.Fatal(err)
		}
	}
	start(t, open(t, options(t, s), spec(s)))
	for name, stays := range map[string]bool{"runner-000000000000": false, ".new-1234": false, "runner-111111111111": true, "notes": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where the runner goes when the usual place is no good.
func TestThePlaceOfTheRunner(t *testing.T) {
	cache := t.TempDir()
	s := sshdtest.Start(t, sshdtest.Env("XDG_CACHE_HOME", cache))
	start(t, open(t, options(t, s), spec(s)))
	if len(runners(t, filepath.Join(cache, "hermes"))) != 1 {
		t.Error("XDG_CACHE_HOME was not used")
	}
}

// A home that cannot be written or where no program can start is passed over.
func TestAHomeThatIsNoGood(t *testing.T) {
	s := sshdtest.Start(t)
	write(t, filepath.Join(s.Home, ".cache"), "not a directory")
	spare := sparePlace(t)
	b := open(t, options(t, s), spec(s))
	start(t, b)
	if len(runners(t, spare)) == 0 {
		t.Error("the spare place was not used")
	}
}

// sparePlace is where the runner goes when there is no cache. It is removed when it was not there
// before.
func sparePlace(t *testing.T) string {
	t.Helper()
	dir := fmt.Sprintf("/var/tmp/hermes-%d", os.Getuid())
	if _, err := os.Stat(dir); err != nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	return dir
}

// tools makes a PATH for the host whose programs are the given scripts, beside the machine's unless
// alone.
func tools(t testing.TB, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir + ":/usr/local/bin:/usr/bin:/bin"
}

// A host without a program for hashes: the copy is read back.
func TestAHostThatCannotHash(t *testing.T) {
	broken := "exit 127"
	s := sshdtest.Start(t, sshdtest.Env("PATH", tools(t, map[string]string{"sha256sum": broken, "shasum": broken, "openssl": broken})))
	_, data := sshdtest.Program(t)
	if r := start(t, open(t, options(t, s), spec(s))); r.copied != int64(len(data)) {
		t.Errorf("%d bytes were copied", r.copied)
	}
	if r := start(t, open(t, options(t, s), spec(s))); r.copied != 0 {
		t.Errorf("%d bytes were copied again", r.copied)
	}
	sum, _ := sshdtest.Program(t)
	file := filepath.Join(s.Home, ".cache", "hermes", "runner-"+sum[:12])
	if err := os.Remove(file); err != nil { // it runs: it cannot be changed in place
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:100], 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, open(t, options(t, s), spec(s)))
	if read1(t, file) != string(data) {
		t.Error("it was not replaced")
	}
}

// A host that lies about hashes does not get us to run what it likes, and one that is not Linux is
// named.
func TestHostsThatAnswerOddly(t *testing.T) {
	for answer, want := range map[string]string{
		"echo Darwin arm64":                     `the host is "Darwin arm64"`,
		"echo Linux riscv64":                    `the host is "Linux riscv64"`,
		"exit 1":                                `the host is ""`,
		"printf 'Linux \\033[31mx86_64\\007'":   `the host is "Linux [31mx86_64`,
		"head -c 400000 /dev/zero | tr '\\0' x": "the host",
		"yes Linux":                             "the host",
	} {
		if strings.HasPrefix(answer, "yes") {
			answer = "yes Linux | head -n 100000"
		}
		s := sshdtest.Start(t, sshdtest.Env("PATH", tools(t, map[string]string{"uname": answer})))
		err := refusal(t, open(t, options(t, s), spec(s)))
		if !strings.Contains(err.Error(), want) || len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x1b\x07") {
			t.Errorf("%q: %.3000q", answer, err)
		}
	}
}

// What rc files print, and a banner, come before everything of ours.
func TestANoisyLogin(t *testing.T) {
	banner := filepath.Join(t.TempDir(), "banner")
	write(t, banner, "ALL YOUR BASE\n")
	s := sshdtest.Start(t, sshdtest.Config("Banner "+banner), sshdtest.Config("MaxSessions 1"))
	noise := "echo Welcome to the machine; echo and stderr >&2; printf 'no newline at the end'\n"
	write(t, filepath.Join(s.Home, ".bashrc"), noise)
	write(t, filepath.Join(s.Home, ".ssh", "rc"), noise)
	p := newPool(t, options(t, s), specs(s))
	if res := output(t, p, "echo hello"); string(res.Output) != "hello\n" {
		t.Errorf("%q", res.Output)
	}
	if r := start(t, open(t, options(t, s), spec(s))); r.copied != 0 {
		t.Errorf("%d bytes were copied again", r.copied)
	}
}

// Accounts on which no shell runs.
func TestHostsWithoutAShell(t *testing.T) {
	for command, want := range map[string]string{
		"ForceCommand echo 'This account is not available.'; exit 1": "This account is not available.",
		"ForceCommand internal-sftp":                                 "runs no POSIX shell",
		"ForceCommand head -c 1000000 /dev/zero":                     "runs no POSIX shell",
		"MaxSessions 0":                                              "runs no POSIX shell",
	} {
		s := sshdtest.Start(t, sshdtest.Config(command))
		if err := refusal(t, open(t, options(t, s), spec(s))); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", command, err)
		}
	}
}
