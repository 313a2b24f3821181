package base

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Build identifies the program.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

// Version says which program this is.
func (c *Command) Version() Build {
	b := Build{Version: c.Program.Version, Commit: c.Program.Commit, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && b.Commit == "":
				b.Commit = s.Value
			case s.Key == "vcs.modified":
				b.Dirty = s.Value == "true"
			}
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "dev"
	}
	return b
}

// String is the line that --version prints.
func (b Build) String() string {
	commit := ""
	if b.Commit != "" {
		commit = " (" + b.Commit[:min(12, len(b.Commit))]
		if b.Dirty {
			commit += ", changed"
		}
		commit += ")"
	}
	return fmt.Sprintf("hermes %s%s %s %s", b.Version, commit, b.Go, b.System)
}
