package quarantine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// gitIn runs git in a folder, as nobody in particular.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// putFile writes a file, which may be run.
func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// fakeGit puts a program in the place of git.
func fakeGit(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, "git"), "#!/bin/sh\n"+script)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestARepositoryComesWithoutWhatRuns(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	marked := filepath.Join(t.TempDir(), "ran")
	putFile(t, filepath.Join(os.Getenv("HOME"), ".gitconfig"),
		"[filter \"lfs\"]\n smudge = touch "+marked+"\n process = touch "+marked+"\n required = true\n[init]\n templateDir = "+os.Getenv("HOME")+"/t\n")
	putFile(t, filepath.Join(os.Getenv("HOME"), "t/hooks/post-checkout"), "#!/bin/sh\ntouch "+marked+"\n")
	sub, repo := t.TempDir(), t.TempDir()
	for _, dir := range []string{sub, repo} {
		gitIn(t, dir, "init", "-q", "--template=")
	}
	putFile(t, filepath.Join(sub, "secret"), "x")
	gitIn(t, sub, "add", ".")
	gitIn(t, sub, "commit", "-qm", "one")
	putFile(t, filepath.Join(repo, ".gitattributes"), "*.big filter=lfs\n")
	putFile(t, filepath.Join(repo, "a.txt"), "text")
	gitIn(t, repo, "submodule", "add", "-q", sub, "below")
	gitIn(t, repo, "add", ".")
	gitIn(t, repo, "commit", "-qm", "one")
	gitIn(t, repo, "-c", "filter.lfs.process=", "-c", "filter.lfs.clean=", "-c", "filter.lfs.required=false", "update-index", "--add", "--cacheinfo",
		"100644,"+blobOf(t, repo)+",b.big")
	gitIn(t, repo, "commit", "-qm", "two")
	_ = os.Remove(marked)
	f, err := Fetch(t.Context(), t.TempDir(), Request{Source: "file://" + repo}, Limits{What: "skill", Files: 9, Bytes: 1 << 20, Depth: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := os.ReadFile(filepath.Join(f.Dir, "b.big")); err != nil || string(data) != "pointer" || f.Commit == "" {
		t.Errorf("%q %v %q", data, err, f.Commit)
	}
	for _, gone := range []string{marked, filepath.Join(f.Dir, "below/secret"), filepath.Join(f.Dir, ".git")} {
		if _, err := os.Lstat(gone); err == nil {
			t.Errorf("there is %s", gone)
		}
	}
}

func blobOf(t *testing.T, repo string) string {
	t.Helper()
	cmd := exec.Command("git", "hash-object", "-w", "--stdin")
	cmd.Dir, cmd.Stdin = repo, strings.NewReader("pointer")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// A server that sends without end fills no disk: git ends with what it started.
func TestACloneTakesNoMoreRoomThanItMay(t *testing.T) {
	pidOf := filepath.Join(t.TempDir(), "pid")
	fakeGit(t, `for into; do :; done
mkdir "$into"
sleep 1000 &
echo $! > `+pidOf+`
while :; do head -c 1000000 /dev/zero >> "$into/pack"; done
`)
	_, err := Fetch(t.Context(), t.TempDir(), Request{Source: "https://example.invalid/x"}, Limits{What: "skill", Files: 9, Bytes: 1 << 20, Depth: 5})
	if err == nil || !strings.Contains(err.Error(), "takes more than 18 MB") {
		t.Fatal(err)
	}
	awaitEnd(t, pidOf)
}

func TestACloneThatIsStoppedEndsWhole(t *testing.T) {
	pidOf := filepath.Join(t.TempDir(), "pid")
	if err := syscall.Mkfifo(pidOf, 0o600); err != nil {
		t.Fatal(err)
	}
	fakeGit(t, "sleep 1000 &\necho $! > "+pidOf+"\nwait\n")
	ctx, cancel := context.WithCancel(t.Context())
	pid := make(chan string, 1)
	go func() {
		data, _ := os.ReadFile(pidOf) // ends when git has written
		pid <- string(data)
		cancel()
	}()
	base := t.TempDir()
	if _, err := Fetch(ctx, base, Request{Source: "https://example.invalid/x"}, Limits{What: "skill"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	putFile(t, file, <-pid)
	awaitEnd(t, file)
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// awaitEnd waits until a process has ended, which nobody may have collected yet.
func awaitEnd(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(data))
	for range 1_000_000 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %s lives on", pid)
}

func TestGitIsGivenNoSecretsAndNoOtherOrders(t *testing.T) {
	saw := filepath.Join(t.TempDir(), "env")
	for name, value := range map[string]string{
		"API_TOKEN": "hunter2", "GIT_DIR": "/elsewhere", "GIT_SSH": "evil", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.ext.allow", "GIT_ALLOW_PROTOCOL": "ext",
	} {
		t.Setenv(name, value)
	}
	fakeGit(t, "env > "+saw+"; echo \"$@\" >> "+saw+"; exit 1\n")
	if _, err := Fetch(t.Context(), t.TempDir(), Request{Source: "https://example.invalid/x"}, Limits{What: "skill"}); err == nil {
		t.Fatal("it worked")
	}
	data, err := os.ReadFile(saw)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"hunter2", "/elsewhere", "evil", "CONFIG_COUNT", "GIT_ALLOW_PROTOCOL", "protocol.file.allow"} {
		if strings.Contains(string(data), gone) {
			t.Errorf("git is given %s", gone)
		}
	}
	if !strings.Contains(string(data), "protocol.allow=never") || !strings.Contains(string(data), "--depth=1") {
		t.Errorf("%s", data)
	}
}
