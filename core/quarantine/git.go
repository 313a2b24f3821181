package quarantine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"hermes/core/childenv"
	"hermes/core/crash"
)

// Limits of git, beside those of what is installed.
const (
	cloneTime = 3 * time.Minute
	sizeEvery = 100 * time.Millisecond
	gitRoom   = 16 << 20 // bytes that it may need beside the files
	maxWords  = 64 << 10 // bytes of what it says
)

// address is how people write where a repository is: https://host/a/b, ssh://, file://,
// git@host:a/b.
var address = regexp.MustCompile(`^(?:https?|ssh|git|file)://\S+$|^[\w.-]+@[\w.-]+:\S+$`)

// isRepository reports whether source is fetched with git.
func isRepository(source string) bool {
	if address.MatchString(source) {
		return true
	}
	if !strings.HasSuffix(source, ".git") {
		return false
	}
	info, err := os.Stat(source)
	return err == nil && info.IsDir()
}

// clone fetches the newest state of a repository, without its history, submodules, links, filters
// and hooks. Nobody is asked for a password. It ends when it takes too long or too much room.
func (f *Fetched) clone(ctx context.Context, r Request) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return errors.New("git is not installed: fetch the repository yourself and install its folder")
	}
	ctx, cancel := context.WithTimeout(ctx, cloneTime)
	defer cancel()
	from := filepath.Join(f.remove, "clone")
	args := append(gitSettings(r.Source),
		"clone", "--quiet", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--no-local", "--template=")
	if r.Ref != "" {
		args = append(args, "--branch="+r.Ref)
	}
	if err := f.runBounded(ctx, from, git, append(args, "--", r.Source, from)...); err != nil {
		return errors.Join(fmt.Errorf("git could not fetch %s: %w", r.Source, err), os.RemoveAll(from))
	}
	commit, err := gitOutput(ctx, git, "-C", from, "rev-parse", "HEAD")
	if err != nil {
		return fmt.Errorf("the repository is empty: %w", err)
	}
	f.Commit = strings.TrimSpace(commit)
	return errors.Join(f.copyFolder(ctx, from), os.RemoveAll(from))
}

// gitSettings are the options that keep git from running anything, and from any way to fetch but
// those of addresses. Files of this machine are fetched only where the source is one of them.
func gitSettings(source string) []string {
	set := []string{
		"core.hooksPath=/dev/null", "core.symlinks=false", "core.fsmonitor=false", "submodule.recurse=false", "gc.auto=0",
		"filter.lfs.process=", "filter.lfs.smudge=", "filter.lfs.required=false", "protocol.allow=never",
	}
	ways := []string{"https", "http", "ssh", "git"}
	if strings.HasPrefix(source, "file://") || !address.MatchString(source) {
		ways = []string{"file"}
	}
	for _, way := range ways {
		set = append(set, "protocol."+way+".allow=always")
	}
	var args []string
	for _, one := range set {
		args = append(args, "-c", one)
	}
	return args
}

// runBounded runs git and ends it, with all that it started, when the folder that it fills holds
// more than it could need: packed and unpacked.
func (f *Fetched) runBounded(ctx context.Context, into, git string, args ...string) error {
	ctx, stop := context.WithCancelCause(ctx)
	most := 2*f.limits.Bytes + gitRoom
	looked := make(chan struct{})
	crash.Go("size of a clone", func() {
		defer close(looked)
		tick := time.NewTicker(sizeEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if sizeOf(into) > most {
				stop(fmt.Errorf("it takes more than %d MB: fetch it yourself and install the folder of the %s", most>>20, f.limits.What))
			}
		}
	})
	_, err := gitOutput(ctx, git, args...)
	if why := context.Cause(ctx); why != nil {
		err = why
	}
	stop(nil)
	<-looked
	return err
}

// sizeOf is how much room the files below a folder take, in bytes. What goes away meanwhile counts
// nothing.
func sizeOf(folder string) (sum int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // the contract
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// gitEnviron is the person's environment without secrets, and without what tells git to run, write
// or fetch something else than it was told.
func gitEnviron() []string {
	env := slices.DeleteFunc(childenv.Own(os.Environ()), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_SSL_CA") || strings.HasPrefix(name, "LD_")
	})
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1", "GIT_ASKPASS=true", "SSH_ASKPASS=true",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes", "GCM_INTERACTIVE=never", "LC_ALL=C")
}

func gitOutput(ctx context.Context, git string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, git, args...)
	cmd.Env = gitEnviron()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask on, and a group that ends as one
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, words := bounded{most: maxWords}, bounded{most: maxWords}
	cmd.Stdout, cmd.Stderr = &out, &words
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left running; mostly nothing
	}
	switch last := lastLine(words.String()); {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case last != "":
		return "", errors.New(last)
	default:
		return "", err
	}
}

// bounded keeps the end of what git says: a server chooses how much that is.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(data []byte) (int, error) {
	n := len(data)
	b.Buffer.Write(data)
	if over := b.Len() - b.most; over > 0 {
		b.Next(over)
	}
	return n, nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
