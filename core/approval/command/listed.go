package command

import (
	"path"
	"slices"
	"strings"
)

// This file knows programs that list files of the project, for what is done with each of them (rg
// -l x | xargs sed -i s/x/y/). Hidden files, what git keeps for itself, keys and what is outside
// are in no such list.

// listsNames reports whether the output of a program is names of files of the project, one a line.
func (w *walker) listsNames(c cmd) bool {
	if !w.known || !w.inProject(w.dir, true) || slices.ContainsFunc(c.args, func(a field) bool { return a.dyn }) {
		return false
	}
	switch c.name {
	case "sort", "uniq", "head", "tail", "cat", "grep", "egrep", "fgrep":
		if w.in.names {
			return !readsFiles(c, passing[c.name].takes, passing[c.name].operands) && !parseOptions(c.args, "e m A B C", false).hasOption("o", "n", "c", "b", "H", "l", "r", "z", "k", "w")
		}
		return strings.HasSuffix(c.name, "grep") && w.grepLists(c)
	case "rg":
		return w.ripgrepLists(c)
	case "fd", "fdfind":
		o := parseOptions(c.args, "e extension t type E exclude d max-depth g", false)
		return !o.hasOption("H", "hidden", "u", "unrestricted", "L", "follow", "a", "l", "x", "X", "exec", "exec-batch", "format") && w.foldersOfProject(o.operandsAfter(1), true)
	case "find":
		return w.findLists(c)
	case "git":
		return w.gitLists(c)
	}
	return false
}

func (w *walker) ripgrepLists(c cmd) bool {
	o := parseOptions(c.args, "e regexp g glob t type T type-not A B C m max-depth", false)
	if o.hasOption("hidden", ".", "u", "uu", "uuu", "unrestricted", "L", "follow", "pre", "ignore-file", "no-ignore", "r", "replace", "json", "vimgrep", "heading", "f", "search-zip", "path-separator") ||
		!o.hasOption("l", "files-with-matches", "files", "files-without-match") {
		return false
	}
	for _, v := range o.valuesOf("g", "glob") { // a glob finds hidden files too
		if strings.HasPrefix(pathBase(v.text), ".") || strings.Contains(v.text, "/.") {
			return false
		}
	}
	if o.hasOption("e", "regexp", "files") {
		return w.foldersOfProject(o.operands, true)
	}
	return w.foldersOfProject(o.operandsAfter(1), true)
}

func (w *walker) grepLists(c cmd) bool {
	o := parseOptions(c.args, "e f m A B C include exclude exclude-dir regexp file", false)
	if !o.hasOption("l", "files-with-matches", "L") || o.hasOption("R", "dereference-recursive", "f", "file", "Z", "null") && !o.hasOption("l") || o.hasOption("R") {
		return false
	}
	folders := o.operandsAfter(1)
	if o.hasOption("e", "regexp") {
		folders = o.operands
	}
	includes := o.valuesOf("include")
	if slices.ContainsFunc(includes, func(v field) bool { return !plainPattern(v.text) }) {
		return false
	}
	return w.foldersOfProject(folders, len(includes) > 0)
}

func (w *walker) findLists(c cmd) bool {
	var roots []field
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "-") || a.text == "(" || a.text == "!" {
			break
		}
		roots = append(roots, a)
	}
	named := false
	for i, a := range c.args[len(roots):] {
		switch {
		case isOneOf("-name -iname", a.text) && len(roots)+i+1 < len(c.args):
			if !plainPattern(c.args[len(roots)+i+1].text) {
				return false
			}
			named = true
		case !strings.HasPrefix(a.text, "-"), isOneOf("-type -maxdepth -mindepth -size -mtime -newer -print -print0", a.text):
		default:
			return false
		}
	}
	return named && w.foldersOfProject(roots, true)
}

func (w *walker) gitLists(c cmd) bool {
	verb := firstOperand(c)
	o := parseOptions(c.args, "e m A B C", false)
	rest := o.operandsAfter(1)
	switch {
	case verb == "grep" && o.hasOption("l", "name-only", "files-with-matches"):
		if !o.hasOption("e") {
			rest = o.operandsAfter(2)
		}
	case verb == "ls-files" && !o.hasOption("o", "others", "i", "ignored", "d", "deleted", "format", "s", "stage", "t", "v"):
	default:
		return false
	}
	if o.hasOption("no-index", "untracked", "recurse-submodules") || len(rest) == 0 {
		return false
	}
	return !slices.ContainsFunc(rest, func(f field) bool {
		return !plainPattern(pathBase(f.text)) || strings.HasPrefix(f.text, ":") || w.placeOf(f).kind != placeProject
	})
}

// foldersOfProject reports whether all of these are folders or files of the project that are not
// hidden. Whole says that the project itself may be one of them, also where none is named.
func (w *walker) foldersOfProject(list []field, whole bool) bool {
	if len(list) == 0 {
		return whole
	}
	return !slices.ContainsFunc(list, func(f field) bool {
		p := w.placeOf(f)
		if !whole && p.path == w.ctx.Project {
			return true
		}
		return p.kind != placeProject || strings.Contains(p.path, unknown) || strings.Contains(strings.TrimPrefix(p.path, w.ctx.Project), "/.")
	})
}

// plainPattern reports whether a pattern finds files of one kind by the end of their names, and
// none that are hidden or hold keys.
func plainPattern(s string) bool {
	ext := path.Ext(s)
	return strings.HasPrefix(s, "*") && len(ext) > 1 && strings.Trim(ext[1:], "abcdefghijklmnopqrstuvwxyz0123456789{,}") == "" && !credentialName("x"+ext) && strings.Count(s, "*") == 1
}
