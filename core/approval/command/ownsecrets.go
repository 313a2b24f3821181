package command

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hermes/core/ownhome"
	"hermes/core/realpath"
)

// ownHomes are the data folders of Hermes that are known here.
func (w *walker) ownHomes() []string { return w.ctx.homes }

// hermesHome is what the variable HERMES_HOME stands for. Commands do not get it, but what a line
// means by it is plain.
func (w *walker) hermesHome() string {
	if len(w.ctx.homes) == 0 {
		return path.Join(w.ctx.Home, ".hermes")
	}
	return w.ctx.homes[0]
}

// ownSecret reports whether p is a secret of a data folder of Hermes, or a folder that holds some.
func (w *walker) ownSecret(p string) bool {
	rel, in := w.inDataFolder(p)
	return in && (ownhome.Secret(rel) || ownhome.Holds(rel))
}

// ownGlob reports whether a wildcard may stand for such a file or folder.
func (w *walker) ownGlob(p string) bool {
	parts := strings.Split(p, "/")
	for _, h := range w.ownHomes() {
		home := strings.Split(h, "/")
		if len(parts) < len(home) || !w.globMatches(parts[:len(home)], home) {
			continue
		}
		rel := strings.Join(parts[len(home):], "/")
		if ownhome.Secret(rel) || ownhome.Holds(rel) {
			return true
		}
	}
	return false
}

// globMatches compares names as a shell does: a wildcard at the beginning finds no hidden one.
func (w *walker) globMatches(patterns, names []string) bool {
	for i, p := range patterns {
		if strings.HasPrefix(names[i], ".") && !strings.HasPrefix(p, ".") && !w.dotGlob {
			return false
		}
		if ok, err := path.Match(p, names[i]); !ok && err == nil {
			return false
		}
	}
	return true
}

// nearOwn reports whether a word may name something in a data folder of Hermes, by its text or by
// where a link leads.
func (w *walker) nearOwn(f field) bool {
	if f.text == "" || len(f.text) > 512 || !w.known && !path.IsAbs(f.text) {
		return false
	}
	abs := w.throughLinks(realpath.Absolute("", w.dir, f.text))
	if _, in := w.inDataFolder(abs); in || f.glob && w.ownGlob(abs) {
		return true
	}
	if !w.ctx.Local || f.dyn || f.glob || strings.ContainsAny(f.text, "\n\t") {
		return false
	}
	if _, err := os.Lstat(abs); err != nil {
		return false
	}
	_, in := w.inDataFolder(realpath.Of("", w.dir, f.text))
	return in
}

// inDataFolder returns where p is in a data folder of Hermes: in a known one, or on this machine in
// any, whatever it is called.
func (w *walker) inDataFolder(p string) (rel string, in bool) {
	if !w.ctx.Local || strings.Contains(p, unknown) {
		return ownhome.Below(p, w.ownHomes())
	}
	return ownhome.BelowAny(p, w.ownHomes(), func(p string) bool {
		found, known := w.present[p]
		if !known {
			if w.present == nil {
				w.present = map[string]bool{}
			}
			found = !isMissing(p)
			w.present[p] = found
		}
		return found
	})
}

// aboveOwn reports whether a folder holds a data folder of Hermes somewhere below it.
func (w *walker) aboveOwn(f field) bool {
	p := w.placeOf(f)
	return p.kind != placeUnknown && slices.ContainsFunc(w.ownHomes(), func(h string) bool {
		return p.path != h && realpath.Within(h, p.path) && (!w.ctx.Local || !isMissing(h))
	})
}

func isMissing(p string) bool {
	_, err := os.Lstat(filepath.Clean(p))
	return err != nil
}

// askRecursiveReaders asks about programs that read all files below a folder, when keys of Hermes
// are among them.
func (w *walker) askRecursiveReaders(c cmd) {
	skip := 0 // operands that are no folders
	takes := "e regexp f file A B C m g glob t type include exclude T d context max-count"
	o := parseOptions(c.args, takes, false)
	switch {
	case isOneOf("grep egrep fgrep", c.name):
		if !o.hasOption("r", "R", "recursive", "dereference-recursive") {
			return
		}
		skip = 1
	case isOneOf("rg ag ack", c.name):
		if !o.hasOption("u", "hidden", ".", "unrestricted", "uu", "uuu") {
			return
		}
		skip = 1
	case !isOneOf("tar bsdtar zip 7z rsync cp", c.name):
		return
	case c.name == "cp" && !o.hasOption("r", "R", "a", "recursive", "archive"):
		return
	}
	if o.hasOption("e", "regexp", "f", "file") && isOneOf("grep egrep fgrep rg", c.name) ||
		o.hasOption("files") {
		skip = 0
	}
	folders := o.operandsAfter(skip)
	if len(folders) == 0 && skip == 1 && !w.in.any {
		folders = []field{{text: "."}}
	}
	for _, f := range folders {
		if w.aboveOwn(f) {
			w.addEffect(Credential, LevelSensitive, f.text,
				"reads all of "+w.nameOf(f)+", keys of Hermes among it")
			w.out.secret = true
		}
	}
}

// namesKeys remembers that what a program says are names of files where secrets are kept.
func (w *walker) namesKeys(c cmd) {
	if !isOneOf("ls fd fdfind tree echo printf realpath stat dir vdir", c.name) {
		return
	}
	folders := parseOptions(c.args, "", false).operands
	if len(folders) == 0 && !isOneOf("echo printf", c.name) {
		folders = []field{{text: "."}}
	}
	w.out.keys = w.out.keys || slices.ContainsFunc(folders, w.isCredential)
}

// isCredential reports whether a word names a file or folder where secrets are kept.
func (w *walker) isCredential(f field) bool {
	return (mayNameSecret(f.text) || w.nearOwn(f)) && w.placeOf(f).kind == placeCredential
}

// listsKeys reports whether a word is a file that the line filled with names of files where secrets
// are kept.
func (w *walker) listsKeys(f field) bool {
	return f.proc && f.from.keys || len(w.listing) > 0 && w.listing[w.placeOf(f).path]
}

// showsAnyFile are programs that are handed many names and that show what some of those files hold.
const showsAnyFile = "git hub docker docker-compose podman file"

// findsOwn reports whether find, from these folders, finds secrets of Hermes.
func (w *walker) findsOwn(roots, args []field) bool {
	if len(roots) == 0 {
		roots = []field{{text: "."}}
	}
	if !slices.ContainsFunc(roots, w.aboveOwn) {
		return false
	}
	named := false
	for i, a := range args {
		if i+1 == len(args) || !isOneOf("-name -iname -path -ipath -wholename -regex -iregex", a.text) {
			continue
		}
		named = true
		pattern := args[i+1]
		if pattern.dyn || strings.Contains(pattern.text, ".hermes") || findsOwnFile(findPattern(strings.TrimPrefix(strings.TrimPrefix(a.text, "-"), "i"), pattern.text)) ||
			isOneOf("-path -ipath -wholename", a.text) && findsFolder(pattern.text) {
			return true
		}
	}
	return !named
}

// findsFolder reports whether a pattern of whole paths finds files where secrets of a home are
// kept.
func findsFolder(pattern string) bool {
	expr := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(strings.ToLower(pattern)))
	finds := nameMatcher(expr, true)
	return slices.ContainsFunc(credentialFolders, func(folder string) bool { return finds("/home/" + strings.ToLower(folder) + "/file") })
}

// findPattern is whether a test of find finds a file of this name.
func findPattern(test, pattern string) func(name string) bool {
	pattern = strings.ToLower(pattern)
	if test == "regex" {
		return nameMatcher(pathBase(pattern), true)
	}
	return func(name string) bool { ok, err := path.Match(pathBase(pattern), name); return ok || err != nil }
}

// findsOwnFile reports whether a pattern finds a secret of Hermes.
func findsOwnFile(finds func(name string) bool) bool {
	return slices.ContainsFunc(strings.Fields(wordList("names.own")), finds)
}

// findFast is fd: a pattern, folders, and maybe a command for what is found.
func findFast(w *walker, c cmd) {
	at := slices.IndexFunc(c.args, func(a field) bool { return isOneOf("-x -X --exec --exec-batch", a.text) })
	own := c.args
	if at >= 0 {
		own = own[:at]
	}
	keys := w.findsKeysFast(own)
	w.out.keys = w.out.keys || keys
	if at < 0 {
		w.passOnFiltered()
		return
	}
	words := c.args[at+1:]
	if end := slices.IndexFunc(words, func(a field) bool { return a.text == ";" }); end >= 0 {
		keys = keys || w.findsKeysFast(append(own[:len(own):len(own)], words[end+1:]...))
		words = words[:end]
	}
	if keys && len(words) > 0 && !names[words[0].text] {
		w.handsKeys(words[0].text)
	}
	w.runWords(append(words[:len(words):len(words)], field{text: unknown, dyn: true}))
}

// findsKeysFast reports whether fd, told this, finds files where secrets are kept.
func (w *walker) findsKeysFast(args []field) bool {
	o := parseOptions(args, wordList("fd.options"), false)
	hidden := o.hasOption("H", "hidden", "u", "unrestricted", "uu", "uuu", "HI", "IH")
	finds := fastPattern(o)
	roots := append(o.operandsAfter(1), o.valuesOf("search-path", "base-directory", "C")...)
	if len(roots) == 0 {
		roots = []field{{text: "."}}
	}
	for _, r := range roots {
		if p := w.placeOf(r); p.kind == placeCredential || hidden && w.aboveOwn(r) &&
			findsOwnFile(finds) {
			return true
		}
	}
	return hidden && secretMatching(finds) != ""
}

// fastPattern is whether fd, with these options, finds a file of this name.
func fastPattern(o options) func(name string) bool {
	var tests []func(string) bool
	for _, v := range o.valuesOf("e", "extension") {
		tests = append(tests, func(name string) bool { return strings.HasSuffix(name, "."+strings.TrimPrefix(v.text, ".")) })
	}
	if pattern := o.firstOperand(); pattern != "" && pattern != "." {
		if o.hasOption("g", "glob") {
			tests = append(tests, findPattern("name", pattern))
		} else {
			tests = append(tests, nameMatcher(strings.ToLower(pattern), false))
		}
	}
	return func(name string) bool {
		return !slices.ContainsFunc(tests, func(t func(string) bool) bool { return !t(name) })
	}
}

// nameMatcher is whether a regular expression finds a name; one that is none of Go's finds all.
func nameMatcher(expr string, whole bool) func(name string) bool {
	if whole {
		expr = "^(?:" + expr + ")$"
	}
	re, err := regexp.Compile(expr)
	return func(name string) bool { return err != nil || re.MatchString(name) }
}

// readsListed reports whether a program puts out files whose names it reads, and some of these are
// keys.
func (w *walker) readsListed(c cmd) bool {
	o := parseOptions(c.args, "f file T files-from C directory files0-from", false)
	switch c.name {
	case "cpio":
		return w.in.keys && !o.hasOption("i", "extract", "t", "list")
	case "pax":
		return w.in.keys && o.hasOption("w", "write")
	case "zip":
		return w.in.keys && hasWord(c.args, "-@")
	}
	return slices.ContainsFunc(o.valuesOf("T", "files-from", "files0-from"), func(v field) bool {
		return w.in.keys && isOneOf("- /dev/stdin", v.text) || w.listsKeys(v)
	})
}
