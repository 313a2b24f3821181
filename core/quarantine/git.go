package quarantine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const cloneTime = 3 * time.Minute

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
// and hooks. Nobody is asked for a password.
func (f *Fetched) clone(ctx context.Context, r Request) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return errors.New("git is not installed: fetch the repository yourself and install its folder")
	}
	ctx, cancel := context.WithTimeout(ctx, cloneTime)
	defer cancel()
	from := filepath.Join(f.remove, "clone")
	args := []string{
		"-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never",
		"clone", "--quiet", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--template=",
	}
	if r.Ref != "" {
		args = append(args, "--branch="+r.Ref)
	}
	if err := runGit(ctx, git, append(args, "--", r.Source, from)...); err != nil {
		return fmt.Errorf("git could not fetch %s: %w", r.Source, err)
	}
	commit, err := gitOutput(ctx, git, "-C", from, "rev-parse", "HEAD")
	if err != nil {
		return fmt.Errorf("the repository is empty: %w", err)
	}
	f.Commit = strings.TrimSpace(commit)
	return errors.Join(f.copyFolder(ctx, from), os.RemoveAll(from))
}

func runGit(ctx context.Context, git string, args ...string) error {
	_, err := gitOutput(ctx, git, args...)
	return err
}

func gitOutput(ctx context.Context, git string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, git, args...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1", "GIT_ASKPASS=true", "SSH_ASKPASS=true",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	err := cmd.Run()
	switch last := lastLine(words.String()); {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case last != "":
		return "", errors.New(last)
	default:
		return "", err
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
