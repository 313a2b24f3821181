// Package ownhome says which files of a data folder of Hermes are secrets: of the one in use, of
// its profiles, and of any other.
//
// The contract: what is not known to be meant for reading is a secret. Paths are absolute and
// clean; nothing is looked up but by who asks.
package ownhome

import (
	"path"
	"slices"
	"strings"
)

// name is the folder in a person's home that is a data folder unless HERMES_HOME says otherwise.
const name = ".hermes"

// readable are the folders and files that the agent is meant to read, below a data folder.
var readable = []string{
	"skills", "memories", "SOUL.md", "AGENTS.md", "themes", "skins", "plugins", "scripts", "plans", "cache", "logs", "hermes-agent",
}

// Homes are the data folders that are known: own, the one above it where own is a profile, and the
// usual one of the person.
func Homes(own, userHome string) []string {
	var out []string
	if own != "" {
		own = path.Clean(own)
		out = append(out, own)
		if up := path.Dir(own); path.Base(up) == "profiles" {
			out = append(out, path.Dir(up))
		}
	}
	if userHome != "" {
		out = append(out, path.Join(userHome, name))
	}
	return out
}

// Below returns where p is in a data folder: in one of homes, or in any folder that has the usual
// name. The folder itself is "".
func Below(p string, homes []string) (rel string, ok bool) {
	for _, h := range homes {
		if rel, ok = relativeTo(p, h); ok {
			return rel, true
		}
	}
	rel = p
	for {
		var first string
		if first, rel, ok = strings.Cut(strings.TrimPrefix(rel, "/"), "/"); strings.EqualFold(first, name) {
			return rel, true
		}
		if !ok {
			return "", false
		}
	}
}

// BelowAny is Below for a machine whose files can be asked about: a folder with a database of
// Hermes and its settings is a data folder, whatever it is called.
func BelowAny(p string, homes []string, exists func(p string) bool) (rel string, ok bool) {
	if rel, ok = Below(p, homes); ok || !path.IsAbs(p) {
		return rel, ok
	}
	for dir := p; dir != "/"; dir = path.Dir(dir) {
		if exists(path.Join(dir, "workbench.db")) && exists(path.Join(dir, "config.yaml")) {
			return strings.TrimPrefix(strings.TrimPrefix(p, dir), "/"), true
		}
	}
	return "", false
}

func relativeTo(p, dir string) (rel string, ok bool) {
	if p == dir {
		return "", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// Holds reports whether rel is a folder with secrets in it: the data folder, the one of a profile,
// or what is above them.
func Holds(rel string) bool {
	rel = inProfile(rel)
	return rel == "" || rel == "profiles" || rel == "logs"
}

// Secret reports whether rel, below a data folder, is a file or folder of secrets.
func Secret(rel string) bool {
	rel = inProfile(rel)
	if Holds(rel) {
		return false
	}
	if _, audit := relativeTo(rel, "logs/audit"); audit {
		return true
	}
	for _, r := range readable {
		if _, ok := relativeTo(rel, r); ok {
			return isSecretName(path.Base(rel))
		}
	}
	return true
}

// inProfile is rel below its profile, where it is in one.
func inProfile(rel string) string {
	for {
		rest, ok := strings.CutPrefix(rel, "profiles/")
		if !ok {
			return rel
		}
		_, rel, _ = strings.Cut(rest, "/")
	}
}

// isSecretName reports whether a file is a secret wherever it is in a data folder.
func isSecretName(base string) bool {
	return base == ".env" || strings.HasPrefix(base, ".env.") || base == "auth.json" || base == ".anthropic_oauth.json"
}

// program are the folders and files below a data folder that the program and its like keep for
// themselves.
var program = []string{
	"config.yaml", "auth.json", "approvals.json", "serve.token", "active_profile", "gateway.yaml", "cron.yaml", "mcp_config.json",
	"backends.yaml", "mcp", "mcp-tokens", "profiles", "logs", "checkpoints", "learning", "procedures", "memories", "skills", "plugins", "cache",
	"sessions", "state", "hermes-agent", "plugin-data", "pool", "models.yaml", "soul.md",
}

// Program reports whether rel, below a data folder, is the program's own: its settings, keys,
// databases and what the person told it. No skill is given one.
func Program(rel string) bool {
	rel = strings.ToLower(path.Clean(rel))
	for part := range strings.SplitSeq(rel, "/") {
		if strings.HasPrefix(part, ".") {
			return true
		}
	}
	first, _, _ := strings.Cut(rel, "/")
	if slices.Contains(program, first) {
		return true
	}
	base := path.Base(rel)
	return strings.HasPrefix(first, "workbench") || strings.HasPrefix(base, "auth.") || strings.Contains(base, ".db") ||
		strings.HasSuffix(base, "_trust.json") || strings.HasSuffix(base, "_grants.json") || strings.HasSuffix(base, "_pins.json") || strings.HasSuffix(base, ".lock")
}
