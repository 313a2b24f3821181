package core

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/approval/command"
	"hermes/core/backend"
	"hermes/core/checkpoint"
	"hermes/core/config"
	"hermes/core/logs"
	"hermes/core/realpath"
)

// OpenCheckpoints returns the store of checkpoints of a data folder; for the command line, which needs nothing else of the program.
func OpenCheckpoints(c *config.Config) *checkpoint.Store {
	return checkpoint.Open(checkpointOptions(c))
}

func checkpointOptions(c *config.Config) checkpoint.Options {
	k := c.Checkpoints
	o := checkpoint.Options{
		Dir:       filepath.Join(c.Paths().Home, "checkpoints", "workbench"), // the Python program has checkpoints/store
		Snapshots: k.MaxSnapshots, FileSize: int64(k.MaxFileSize) << 20, TotalSize: int64(k.MaxTotalSize) << 20,
		Age: time.Duration(k.Retention) * 24 * time.Hour, TreeFiles: k.MaxFiles, TreeSize: int64(k.MaxTotalSize) << 19,
		Own: realpath.Of("", "/", c.Paths().Home), Clean: logs.Redact,
	}
	if home, err := os.UserHomeDir(); err == nil {
		o.Except = []string{realpath.Of("", "/", home)}
	}
	return o
}

// checkpoints decides for the agent's calls what is kept.
type checkpoints struct {
	store *checkpoint.Store
	pool  backend.Pool
}

// newCheckpoints returns nil when the settings switch checkpoints off.
func (a *App) newCheckpoints() agent.Checkpoints {
	o := checkpointOptions(a.Config())
	o.Log = a.log
	a.Checkpoints = checkpoint.Open(o)
	if !a.Config().Checkpoints.Enabled {
		return nil
	}
	return checkpoints{a.Checkpoints, a.Pool}
}

func (k checkpoints) Before(ctx context.Context, c agent.FileChange) error {
	return k.store.Before(ctx, k.change(c))
}

func (k checkpoints) After(c agent.FileChange) {
	if len(c.Paths) > 0 {
		k.store.After(k.change(c))
	}
}

func (k checkpoints) End(ctx context.Context, session, turn string) error {
	_, err := k.store.End(ctx, session, turn)
	return err
}

// change says which files a call may change. One that names no paths may change anything where it runs.
func (k checkpoints) change(c agent.FileChange) checkpoint.Change {
	out := checkpoint.Change{Session: c.Session, Turn: c.Turn, Prompt: logs.Redact(c.Prompt), Tool: c.Tool, Paths: c.Paths}
	if len(c.Paths) > 0 || c.Toolset == "file" || c.Toolset == "skills" || c.Toolset == "memory" {
		return out
	}
	if c.Tool == "terminal" && onlyReads(c) {
		return out
	}
	out.Dir = k.reach(c)
	return out
}

// onlyReads reports whether a command does nothing but read, as far as it can be understood.
func onlyReads(c agent.FileChange) bool {
	var args struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(c.Args, &args) != nil {
		return false
	}
	a := approval.Analyse(args.Command, approval.Here(c.Dir))
	for _, e := range a.Effects {
		if e.Class != command.Read {
			return false
		}
	}
	return a.Verdict == command.Allow
}

// reach is the folder of this machine that a call starts in: its own on the local back end, the session's when a container sees it,
// and none on another machine.
func (k checkpoints) reach(c agent.FileChange) string {
	if c.Backend == "" {
		return c.Cwd
	}
	for _, s := range k.pool.List(c.Session) {
		if s.Name != c.Backend {
			continue
		}
		if s.Kind == "local" {
			return c.Dir
		}
		for _, m := range s.Mounts {
			if host, _, _ := strings.Cut(m, ":"); filepath.IsAbs(host) && (within(c.Cwd, host) || within(host, c.Cwd)) {
				return c.Cwd
			}
		}
	}
	return ""
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
