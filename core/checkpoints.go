package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/approval/command"
	"hermes/core/backend"
	"hermes/core/checkpoint"
	"hermes/core/config"
	"hermes/core/files"
	"hermes/core/logs"
	"hermes/core/realpath"
	"hermes/core/room"
)

// OpenCheckpoints returns the store of checkpoints of a data folder; for the command line, which
// needs nothing else of the program.
func OpenCheckpoints(c *config.Config) *checkpoint.Store {
	return checkpoint.Open(checkpointOptions(c))
}

func checkpointOptions(c *config.Config) checkpoint.Options {
	k := c.Checkpoints
	o := checkpoint.Options{
		Dir:       filepath.Join(c.Paths().Home, "checkpoints", "workbench"), // the Python program has checkpoints/store
		Snapshots: k.MaxSnapshots, FileSize: int64(k.MaxFileSize) << 20, TotalSize: int64(k.MaxTotalSize) << 20,
		Age: time.Duration(k.Retention) * 24 * time.Hour, TreeFiles: k.MaxFiles, TreeSize: int64(k.MaxTotalSize) << 19,
		DataDir: realpath.Of("", "/", c.Paths().Home), Clean: logs.Redact,
	}
	if home, err := os.UserHomeDir(); err == nil {
		o.Except = []string{realpath.Of("", "/", home)}
	}
	return o
}

// afterTime bounds what is asked of a back end after a change.
const afterTime = 30 * time.Second

// checkpoints decides for the agent's calls what is kept.
type checkpoints struct {
	store *checkpoint.Store
	pool  backend.Pool
}

// roomFinder finds where the files of sessions are.
func (a *App) roomFinder() room.Finder {
	home, _ := os.UserHomeDir() // without one, ~ stays as it is written
	return room.Finder{Pool: a.Pool, Home: home}
}

// checkpointsPart is the store of checkpoints.
type checkpointsPart struct {
	quiet
	a *App
}

func (p *checkpointsPart) Start(context.Context) error {
	o := checkpointOptions(p.a.Config())
	o.Log = p.a.log
	o.Far = func(session, backend string) (files.System, error) {
		r, err := p.a.roomFinder().Find(session, backend)
		if err == nil && r.Name == "" {
			err = fmt.Errorf("the back end %q is this machine now", backend)
		}
		return r.Files, err
	}
	p.a.Checkpoints = checkpoint.Open(o)
	return nil
}

func (p *checkpointsPart) Close(context.Context) error {
	p.a.Checkpoints.Close()
	return nil
}

// keepFiles returns nil when the settings switch checkpoints off.
func (a *App) keepFiles() agent.Checkpoints {
	if !a.Config().Checkpoints.Enabled {
		return nil
	}
	return checkpoints{a.Checkpoints, a.Pool}
}

func (k checkpoints) Before(ctx context.Context, c agent.FileChange) error {
	change := k.checkpointOf(c)
	err := k.addFar(ctx, c, &change)
	return errors.Join(err, k.store.Before(ctx, change))
}

func (k checkpoints) After(c agent.FileChange) {
	if len(c.Intent.Paths) == 0 {
		return
	}
	change := k.checkpointOf(c)
	ctx, cancel := context.WithTimeout(context.Background(), afterTime)
	defer cancel()
	_ = k.addFar(ctx, c, &change) // Before has said it
	k.store.After(change)
}

// addFar adds the files that a file tool changes in a back end, resolved there.
func (k checkpoints) addFar(ctx context.Context, c agent.FileChange, change *checkpoint.Change) error {
	if c.Backend == "" || !c.Intent.OnlyPaths || k.isHere(c) {
		return nil
	}
	at, err := room.Finder{Pool: k.pool}.Find(c.Session, c.Backend)
	if err != nil {
		return fmt.Errorf("no checkpoint: %w", err)
	}
	var errs []error
	for _, p := range c.Named {
		found, err := at.Files.Resolve(ctx, "", at.Bare(p))
		if err != nil {
			errs = append(errs, fmt.Errorf("no checkpoint: %s cannot be kept: %w", at.Show(p), err))
			continue
		}
		change.Paths = append(change.Paths, k.recordedForm(ctx, at, found.Real, change))
	}
	return errors.Join(errs...)
}

// recordedForm names a file of a back end as records do: as the file of this machine when a mount
// shows both the same folder. Within a turn it keeps its first name, or it had two histories.
func (k checkpoints) recordedForm(ctx context.Context, at room.Room, real string, change *checkpoint.Change) string {
	far := checkpoint.FarPath(at.Name, real)
	host, mounted := at.Host(real)
	if !mounted || k.store.Recorded(change.Session, change.Turn, far) {
		return far
	}
	host = realpath.Of("", "/", host)
	if k.store.Recorded(change.Session, change.Turn, host) || sharesFolder(ctx, at, real) {
		return host
	}
	return far
}

// sharesFolder reports whether the nearest folder above a file of a container that is there is one
// of this machine too.
func sharesFolder(ctx context.Context, at room.Room, real string) bool {
	for dir := path.Dir(real); ; dir = path.Dir(dir) {
		host, mounted := at.Host(dir)
		if !mounted {
			return false
		}
		there, err := at.Files.Stat(ctx, dir)
		if errors.Is(err, fs.ErrNotExist) && dir != "/" {
			continue
		}
		if err != nil {
			return false
		}
		here, err := files.Local{}.Stat(ctx, realpath.Of("", "/", host))
		return err == nil && here.Kind == realpath.Folder && here.Dev == there.Dev && here.Ino == there.Ino
	}
}

func (k checkpoints) End(ctx context.Context, session, turn string) error {
	_, err := k.store.End(ctx, session, turn)
	return err
}

// checkpointOf says which files a call may change. One that names not all of its paths may change
// anything where it runs.
func (k checkpoints) checkpointOf(c agent.FileChange) checkpoint.Change {
	out := checkpoint.Change{Session: c.Session, Turn: c.Turn, Prompt: logs.Redact(c.Prompt), Tool: c.Tool, Paths: c.Intent.Paths}
	if c.Backend != "" && c.Intent.OnlyPaths && !k.isHere(c) {
		out.Paths = nil
	}
	if c.Intent.OnlyPaths || c.Intent.Shell != nil && onlyReads(c.Intent.Shell.Command, c.Dir) {
		return out
	}
	if out.Dir = k.reachedFolder(c); c.Intent.Shell != nil && k.isHere(c) {
		out.Paths = append(out.Paths[:len(out.Paths):len(out.Paths)], approval.Analyse(c.Intent.Shell.Command, approval.ContextIn(c.Dir)).Touched...)
	}
	return out
}

// isHere reports whether the paths of a command are those of this machine.
func (k checkpoints) isHere(c agent.FileChange) bool {
	return slices.ContainsFunc(k.pool.List(c.Session), func(s backend.Status) bool { return s.Name == c.Backend && s.Traits.Local })
}

// whyUnkept says why a file that a call replaces is kept nowhere: checkpoints do not keep it and
// git ignores it.
func (a *App) whyUnkept(path string) string {
	k := a.Config().Checkpoints
	info, err := os.Lstat(path)
	switch {
	case err != nil || !info.Mode().IsRegular() || info.Size() == 0:
		return ""
	case k.Enabled && info.Size() <= int64(k.MaxFileSize)<<20, a.Checkpoints == nil || !a.Checkpoints.Ignores(path):
		return ""
	case !k.Enabled:
		return "git ignores it and checkpoints are off"
	}
	return fmt.Sprintf("git ignores it and checkpoints keep no file of more than %d MB", k.MaxFileSize)
}

// onlyReads reports whether a command does nothing but read, as far as it can be understood.
func onlyReads(cmd, dir string) bool {
	a := approval.Analyse(cmd, approval.ContextIn(dir))
	for _, e := range a.Effects {
		if e.Class != command.Read {
			return false
		}
	}
	return a.Verdict == command.Allow
}

// reachedFolder is the folder of this machine that a call starts in: its own on the local back end,
// the session's when a container sees it, and none on another machine.
func (k checkpoints) reachedFolder(c agent.FileChange) string {
	if c.Backend == "" {
		return c.Cwd
	}
	for _, s := range k.pool.List(c.Session) {
		if s.Name != c.Backend {
			continue
		}
		if s.Traits.Local {
			return c.Dir
		}
		for _, m := range s.Mounts {
			if host, _, _ := strings.Cut(m, ":"); filepath.IsAbs(host) && (realpath.Within(c.Cwd, host) || realpath.Within(host, c.Cwd)) {
				return c.Cwd
			}
		}
	}
	return ""
}
