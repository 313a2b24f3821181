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

// way is how an address is split: the scheme, and all that follows it.
var way = regexp.MustCompile(`(?i)^(https?|ssh|git|file)://(.*)$`)

// manners are what differs between the schemes: the name before ssh is part of the way, and what
// follows a host of file is a path, in which ? and # are letters.
var manners = map[string]struct{ named, pathOnly bool }{"ssh": {named: true}, "file": {pathOnly: true}}

// port is what may follow the colon of a host.
var port = regexp.MustCompile(`:\d*$`)

// splitAddress returns an address as it may be shown and kept, and what is kept of nobody: the
// login, the query and the fragment.
func splitAddress(source string) (kept string, secrets []string) {
	part := way.FindStringSubmatch(source)
	if part == nil {
		return source, nil
	}
	manner, rest := manners[strings.ToLower(part[1])], part[2]
	host, _ := cutAny(rest, "/?#")
	if before, _ := cutAny(host, "["); !strings.Contains(host, "@") && strings.Contains(before, ":") && !port.MatchString(host) {
		host = rest // a password with a slash, which belongs before the last @
	}
	login, name := "", ""
	if at := strings.LastIndex(host, "@"); at >= 0 {
		login, rest = rest[:at], rest[at+1:]
	}
	user, password, _ := strings.Cut(login, ":")
	if manner.named && user != "" {
		name = user + "@"
		secrets = append(secrets, password)
	} else {
		secrets = append(secrets, login, user, password)
	}
	if !manner.pathOnly {
		var query string
		rest, query = cutAny(rest, "?#")
		secrets = append(secrets, query)
		for _, one := range strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune("?#&;", r) }) {
			_, value, _ := strings.Cut(one, "=")
			secrets = append(secrets, value)
		}
	}
	return part[1] + "://" + name + rest, secrets
}

// cutAny cuts a text before and after the first of some letters.
func cutAny(s, letters string) (before, after string) {
	i := strings.IndexAny(s, letters)
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}

// withoutLogin is an address as it may be shown and kept.
func withoutLogin(source string) string {
	kept, _ := splitAddress(source)
	return kept
}

// hideLogin takes the login of an address out of what git says of it, and says where one belongs
// when git missed it: nobody is asked for a password here.
func hideLogin(err error, source string) error {
	text := err.Error()
	_, secrets := splitAddress(source)
	for _, one := range secrets {
		if len(one) >= 4 { // a shorter one is part of every other word
			text = strings.ReplaceAll(text, one, "***")
		}
	}
	if strings.Contains(text, "could not read Username") || strings.Contains(text, "Authentication failed") {
		text += "; it wants a login: put one into the address (it is not kept), or set up a credential helper of git, and install it once more with --update"
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
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
		return errors.Join(fmt.Errorf("git could not fetch %s: %w", f.Source, hideLogin(err, r.Source)), os.RemoveAll(from))
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
