package command

import (
	"os"
	"path"
	"path/filepath"
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
	rel, in := ownhome.Below(p, w.ownHomes())
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
	if _, in := ownhome.Below(abs, w.ownHomes()); in || f.glob && w.ownGlob(abs) {
		return true
	}
	if !w.ctx.Local || f.dyn || f.glob || strings.ContainsAny(f.text, "\n\t") {
		return false
	}
	if _, err := os.Lstat(abs); err != nil {
		return false
	}
	_, in := ownhome.Below(realpath.Of("", w.dir, f.text), w.ownHomes())
	return in
}

// aboveOwn reports whether a folder holds a data folder of Hermes somewhere below it.
func (w *walker) aboveOwn(f field) bool {
	p := w.place(f)
	return p.kind != placeUnknown && slices.ContainsFunc(w.ownHomes(), func(h string) bool {
		return p.path != h && realpath.Within(h, p.path) && (!w.ctx.Local || !missing(h))
	})
}

func missing(p string) bool {
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
		if !o.has("r", "R", "recursive", "dereference-recursive") {
			return
		}
		skip = 1
	case isOneOf("rg ag ack", c.name):
		if !o.has("u", "hidden", ".", "unrestricted", "uu", "uuu") {
			return
		}
		skip = 1
	case !isOneOf("tar bsdtar zip 7z rsync cp", c.name):
		return
	case c.name == "cp" && !o.has("r", "R", "a", "recursive", "archive"):
		return
	}
	if o.has("e", "regexp", "f", "file") && isOneOf("grep egrep fgrep rg", c.name) || o.has("files") {
		skip = 0
	}
	folders := o.after(skip)
	if len(folders) == 0 && skip == 1 && !w.in.any {
		folders = []field{{text: "."}}
	}
	for _, f := range folders {
		if w.aboveOwn(f) {
			w.add(Credential, LevelSensitive, f.text, "reads all of "+w.name(f)+", keys of Hermes among it")
			w.out.secret = true
		}
	}
}

// namesKeys remembers that what a program says are names of files where secrets are kept.
func (w *walker) namesKeys(c cmd) {
	if !isOneOf("ls find fd fdfind tree echo printf realpath stat dir vdir", c.name) {
		return
	}
	folders := parseOptions(c.args, "", false).operands
	if len(folders) == 0 && !isOneOf("echo printf", c.name) {
		folders = []field{{text: "."}}
	}
	for _, f := range folders {
		if w.nearOwn(f) && w.place(f).kind == placeCredential {
			w.out.keys = true
		}
	}
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
		if i+1 < len(args) && isOneOf("-name -iname -path -ipath -wholename -regex -iregex", a.text) {
			named = true
			pattern := pathBase(strings.ToLower(args[i+1].text))
			for _, file := range []string{"config.yaml", "approvals.json", "workbench.db", "workbench.db-wal", "state.db", "auth.json"} {
				if ok, err := path.Match(pattern, file); ok || err != nil || args[i+1].dyn {
					return true
				}
			}
			if strings.Contains(args[i+1].text, ".hermes") {
				return true
			}
		}
	}
	return !named
}
