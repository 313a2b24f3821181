package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// diffArgs are those of every diff: without the programs of a repository that would draw it, and
// without a look into submodules, which have settings of their own.
var diffArgs = []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--submodule=short"}

// runDiff runs git diff in a folder. No program that the repository names runs: filters of the
// person's own settings do, for without them a diff would show what nobody changed.
func runDiff(ctx context.Context, dir string, args ...string) (string, error) {
	filters, err := ownFilters(ctx, dir)
	if err != nil {
		return "", err
	}
	return runGit(ctx, dir, filters, append(diffArgs, args...)...)
}

// errOldGit says that git takes no settings from its environment, so that those of the repository
// would count.
var errOldGit = errors.New("git 2.31 or newer is needed: an older one would run programs that the repository names")

// ownFilters are settings that put the person's own filters, or none, in the place of those that a
// repository defines.
func ownFilters(ctx context.Context, dir string) ([][2]string, error) {
	list, err := runGit(ctx, dir, nil, "config", "--null", "--show-scope", "--get-regexp", `^(core\.fsmonitor|filter\..*\.(clean|process|required))$`)
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && slices.Contains([]int{1, 129}, failed.ExitCode()): // not even ours is there, or it knows no scopes
		return nil, errOldGit
	case err != nil:
		return nil, err
	}
	own, theirs, ours := map[string]string{}, map[string]bool{}, false
	fields := strings.Split(list, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		switch scope := fields[i]; {
		case key == "core.fsmonitor":
			ours = ours || scope == "command" // see runGit
		case scope == "system" || scope == "global":
			own[key] = value
		default:
			theirs[key] = true
		}
	}
	if !ours {
		return nil, errOldGit
	}
	var out [][2]string
	for key := range theirs {
		value := own[key]
		if strings.HasSuffix(key, ".required") {
			value = cmp.Or(value, "false") // an empty filter would be a failure
		}
		out = append(out, [2]string{key, value})
	}
	return out, nil
}

// gitError is what git said when it failed.
type gitError struct {
	*exec.ExitError
	said string
}

func (e gitError) Error() string { return "git says: " + e.said }
func (e gitError) Unwrap() error { return e.ExitError }

// runGit runs git in a folder. Settings of the repository that would run a program or fetch
// something are switched off; more settings come from the caller. Paths are no patterns.
func runGit(ctx context.Context, dir string, settings [][2]string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_LITERAL_PATHSPECS=1", "LC_ALL=C"}
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	settings = append([][2]string{{"core.fsmonitor", "false"}, {"core.untrackedCache", "false"}, {"core.hooksPath", os.DevNull}}, settings...)
	for i, s := range settings { // a name may hold what -c would read as its end
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		line, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
		return "", gitError{failed, cmp.Or(line, failed.Error())}
	}
	return string(out), err
}
