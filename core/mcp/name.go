package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const (
	namePrefix = "mcp__"
	maxName    = 64
	hashDigits = 8
)

// Tools have names for models: mcp__server__tool, of letters, digits and underscores, at most 64 of
// them. What does not fit that as it is written, and would be the name of two, gets a hash at its
// end. A name depends on the set of servers and of the server's tools only, not on their order.

// prefixOf is what the names of a server's tools begin with. Servers are all that are set up, so
// that a name does not change when another one connects.
func prefixOf(servers []string, of string) string {
	server, exact := legalServer(of)
	for _, other := range servers {
		if s, _ := legalServer(other); other != of && s == server && !exact {
			server += "_" + shortHash(of)
			break
		}
	}
	return namePrefix + server + "__"
}

// toolNames are the names of the tools of one server, by the server's own ones.
func toolNames(servers []string, server string, tools []string) map[string]string {
	prefix := prefixOf(servers, server)
	owners := map[string][]string{} // by legal form
	for _, t := range tools {
		form, _ := legalName(t)
		owners[form] = append(owners[form], t)
	}
	out := map[string]string{}
	for _, t := range tools {
		form, exact := legalName(t)
		name := prefix + form
		if len(name) > maxName || form == "" || !exact && len(owners[form]) > 1 {
			tail := "_" + shortHash(server+"\x00"+t)
			if room := maxName - len(tail); len(name) > room {
				name = name[:room]
			}
			name += tail
		}
		out[t] = name
	}
	return tellApart(out, server)
}

// tellApart gives tools that still have the same name names of their own: a server may call a tool
// as we would name another one of it.
func tellApart(out map[string]string, server string) map[string]string {
	by := map[string][]string{}
	for t, name := range out {
		by[name] = append(by[name], t)
	}
	for name, list := range by {
		if len(list) == 1 {
			continue
		}
		for _, t := range list {
			tail := "_" + shortHash(server+"\x00\x00"+t)
			out[t] = name[:min(len(name), maxName-len(tail))] + tail
		}
	}
	return out
}

// legalName is text with underscores in place of what a name must not hold, and whether nothing
// was.
func legalName(text string) (string, bool) {
	form := strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, text)
	return form, form == text
}

// legalServer is legal for the middle of a name: it neither holds two underscores in a row nor ends
// with one, so that a name says where the tool's begins. It leaves half of the room to the tool.
func legalServer(text string) (string, bool) {
	form, _ := legalName(text)
	for strings.Contains(form, "__") {
		form = strings.ReplaceAll(form, "__", "_")
	}
	form = strings.Trim(form, "_")
	const most = 24
	if len(form) > most {
		form = strings.TrimRight(form[:most-1-hashDigits], "_") + "_" + shortHash(text)
	}
	if form == "" {
		form = shortHash(text)
	}
	return form, form == text
}

// isReadable reports whether a person sees what a name is: it is not empty, not longer than the
// protocol allows, and holds nothing that is invisible or moves other text about.
func isReadable(name string) bool {
	const longest = 128 // characters
	return strings.TrimSpace(name) != "" && utf8.RuneCountInString(name) <= longest && plainText(name) == name && !strings.ContainsAny(name, "\r\n\t")
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:hashDigits]
}
