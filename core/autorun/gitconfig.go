package autorun

import (
	"slices"
	"strings"

	"hermes/core/approval/command"
)

// Programs are the settings in a file of git's that may name a program or lead to other settings,
// as "section.name=value", in order of names. What cannot be read as a setting counts as one.
func Programs(data []byte) []string {
	var out, follows []string
	remotes := map[string]bool{".": true}
	section := ""
	rest := strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufeff")
	for {
		rest = strings.TrimLeft(rest, " \t\n\r\v\f")
		if rest == "" {
			for _, s := range follows {
				if _, remote, _ := strings.Cut(s, "="); !remotes[remote] {
					out = append(out, s)
				}
			}
			slices.Sort(out)
			return out
		}
		switch rest[0] {
		case '#', ';':
			_, rest, _ = strings.Cut(rest, "\n")
			continue
		case '[':
			if end := sectionEnd(rest); end > 0 {
				section, rest = sectionName(rest[1:end]), rest[end+1:]
				continue
			}
		}
		var name, value string
		name, value, rest = parseSetting(rest)
		if remote, ok := strings.CutPrefix(section, "remote."); ok && name == "url" { // else its name is taken for a folder
			remotes[remote] = true
		}
		switch name = section + "." + name; {
		case choosesRemote(name) && !isNetworkAddress(value):
			follows = append(follows, name+"="+value) // the name of a remote, or a folder whose own hooks run
		case !isHarmlessSetting(name, value):
			out = append(out, name+"="+value)
		}
	}
}

// parseSetting reads one, and returns what comes after it.
func parseSetting(s string) (name, value, rest string) {
	at := strings.IndexAny(s, "=\n")
	if at < 0 {
		at = len(s)
	}
	name = strings.ToLower(strings.TrimSpace(s[:at]))
	if at == len(s) || s[at] == '\n' {
		return name, "", s[at:]
	}
	value, rest = valueOf(s[at+1:])
	return name, value, rest
}

// sectionEnd is where the bracket closes; one in quotes does not.
func sectionEnd(s string) int {
	quoted := false
	for i := 0; i < len(s) && s[i] != '\n'; i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ']' && !quoted:
			return i
		}
	}
	return -1
}

// sectionName is `remote "origin"` as remote.origin.
func sectionName(s string) string {
	name, sub, ok := strings.Cut(s, `"`)
	name = strings.ToLower(strings.TrimSpace(name))
	if !ok {
		return name
	}
	var b strings.Builder
	sub = strings.TrimSuffix(strings.TrimSpace(sub), `"`)
	for i := 0; i < len(sub); i++ {
		if sub[i] == '\\' && i+1 < len(sub) {
			i++
		}
		b.WriteByte(sub[i])
	}
	return name + "." + b.String()
}

// valueOf reads a value to the end of its line, without quotes and the comment behind it. A
// backslash joins lines, but not those of a comment.
func valueOf(s string) (value, rest string) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n':
			return strings.TrimSpace(b.String()), s[i:]
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			_, rest, _ = strings.Cut(s[i:], "\n")
			return strings.TrimSpace(b.String()), rest
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String()), ""
}

// isHarmlessSetting reports whether a setting only says how things are named, kept or shown.
func isHarmlessSetting(name, value string) bool {
	if command.HarmlessSetting(name, value) {
		return true
	}
	first, rest, _ := strings.Cut(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch first {
	case "branch":
		return true
	case "remote":
		return slices.Contains([]string{"fetch", "push", "tagopt", "prune", "skipdefaultupdate", "mirror", "promisor", "partialclonefilter", "gh-resolved"}, last) || isRemoteAddress(last, value)
	case "submodule":
		return last == "active" || last == "branch" || last == "ignore" || isRemoteAddress(last, value) || last == "update" && !strings.HasPrefix(value, "!")
	case "core":
		return slices.Contains([]string{
			"repositoryformatversion", "bare", "logallrefupdates", "sparsecheckout", "sparsecheckoutcone", "protectntfs", "protecthfs", "untrackedcache", "splitindex",
			"commitgraph", "multipackindex", "sharedrepository",
		}, rest)
	case "lfs":
		return rest == "repositoryformatversion" || last == "locksverify" || last == "access"
	case "extensions", "gc", "pack", "maintenance", "receive", "transfer":
		return rest != "partialclone" && !strings.Contains(rest, "hook") && !strings.Contains(rest, "cmd")
	}
	return false
}

// choosesRemote reports whether a setting says which remote is asked.
func choosesRemote(name string) bool {
	return name == "remote.pushdefault" || strings.HasPrefix(name, "branch.") && (strings.HasSuffix(name, ".remote") || strings.HasSuffix(name, ".pushremote"))
}

// isRemoteAddress reports whether a setting is the address of a repository on the network.
func isRemoteAddress(name, value string) bool {
	return (name == "url" || name == "pushurl") && isNetworkAddress(value)
}

// isNetworkAddress reports whether an address runs nothing here: ext::command does, and so do the
// hooks of a repository in a folder.
func isNetworkAddress(value string) bool {
	scheme, _, ok := strings.Cut(value, "://")
	if ok {
		return slices.Contains([]string{"https", "http", "ssh", "git", "git+ssh", "ssh+git", "ftp", "ftps"}, strings.ToLower(scheme))
	}
	host, path, ok := strings.Cut(value, ":") // git@host:path
	return ok && host != "" && !strings.Contains(host, "/") && !strings.HasPrefix(host, "-") && !strings.HasPrefix(path, ":")
}
