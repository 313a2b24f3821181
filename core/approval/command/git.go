package command

import (
	"slices"
	"strings"

	"hermes/core/realpath"
)

func versionControl() map[string]handler {
	return map[string]handler{
		"git hub": judgeGit,
		"gh glab": judgeForge,
	}
}

// harmlessSettings are settings for -c that run nothing.
func harmlessSetting(name, value string) bool {
	name = strings.ToLower(name)
	switch name {
	case "core.pager", "pager.log", "pager.diff", "pager.show", "pager.branch":
		return isOneOf("cat less more true false", value) || value == ""
	case "core.editor", "sequence.editor":
		return isOneOf("true : cat vim vi nano", value)
	case "core.fsmonitor":
		return value == "false" || value == ""
	case "core.hookspath": // "false" would be a folder of that name
		return value == "/dev/null" || value == ""
	case "commit.gpgsign", "tag.gpgsign", "core.quotepath", "core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.longpaths", "core.abbrev", "init.defaultbranch", "http.lowspeedlimit",
		"http.lowspeedtime", "http.postbuffer", "http.version", "fetch.prune", "pull.rebase", "pull.ff", "push.default", "merge.conflictstyle", "rebase.autostash", "rebase.autosquash", "gc.auto", "core.whitespace",
		"core.precomposeunicode", "core.safecrlf", "core.commentchar", "rerere.enabled", "submodule.recurse", "core.symlinks", "core.preloadindex", "pack.threads", "core.compression", "core.bigfilethreshold", "merge.ff":
		return true
	}
	for _, p := range []string{"color.", "user.", "author.", "committer.", "advice.", "log.", "column.", "branch.sort", "tag.sort", "status.", "diff.algorithm", "diff.renames", "diff.context", "diff.color", "diff.noprefix", "diff.mnemonic", "grep.", "format.pretty", "blame.", "i18n.", "feature.", "index.", "versionsort."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func judgeGit(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("git.options"), true)
	for _, v := range o.valuesOf("c") {
		name, value, _ := strings.Cut(v.text, "=")
		if harmlessSetting(name, value) && !v.dyn {
			continue
		}
		if strings.HasPrefix(strings.ToLower(name), "alias.") && strings.HasPrefix(value, "!") {
			w.walkInnerText(partOf(v, value[1:]))
		}
		w.addEffect(Exec, LevelAlways, v.text,
			"git is given the setting "+v.text+", which can run programs")
	}
	if len(o.valuesOf("config-env")) > 0 || len(o.valuesOf("exec-path")) > 0 {
		w.addEffect(Exec, LevelAlways, "", "git is given settings that can run programs")
	}
	restore := w.openScope()
	defer restore()
	for _, v := range o.valuesOf("C") {
		w.enterFolder(v)
	}
	w.gitFolders(append(o.valuesOf("git-dir"), o.valuesOf("work-tree")...))
	if len(o.operands) == 0 {
		return
	}
	verb, args := o.operands[0], o.operands[1:]
	if verb.dyn {
		w.dynamicCommand(verb)
		return
	}
	if verb.text == "difftool" && len(args) == 1 && args[0].text == "--tool-help" {
		return
	}
	if e := table.data["git "+verb.text]; e != nil {
		e.readProgram().judgeCommand(w, cmd{name: verb.text, args: args})
		return
	}
	if gitChanges(w, verb.text, args) {
		return
	}
	w.addEffect(Exec, LevelSensitive, verb.text, "what git "+verb.text+" does is not known here: it may be an alias")
}

func (w *walker) gitWrites(verb string) {
	w.keepEffect(Effect{Class: Write, Level: LevelStandard, Target: verb, Reason: "git " + verb + " changes the repository or the working copy", Reversible: true})
}

func (w *walker) gitLoses(verb, what string) {
	w.addEffect(History, LevelSensitive, verb, "git "+verb+" "+what)
}

// gitReads asks about files of secrets that git shows.
func gitReads(w *walker, _ *program, c cmd, g parsed) bool {
	for _, f := range g.operands {
		if _, file, ok := strings.Cut(f.text, ":"); (ok || g.hasOption("p patch u") || isOneOf(wordList("git.shows-files"), c.name)) && credentialName(pathBase(map[bool]string{true: file, false: f.text}[ok])) {
			w.addEffect(Credential, LevelSensitive, f.text, "git shows "+f.text+", where secrets are kept")
			w.out.secret = true
		}
	}
	return false
}

// gitURL asks about addresses through which git runs programs.
func (w *walker) gitURL(list []field) {
	for _, f := range list {
		switch {
		case strings.HasPrefix(f.text, "ext::") || strings.HasPrefix(f.text, "fd::"), strings.Contains(f.text, "::") && !strings.Contains(f.text, "://"):
			w.addEffect(Exec, LevelAlways, f.text, "git runs a program that the address names")
		case strings.HasPrefix(f.text, "--upload-pack"), strings.Contains(f.text, "ProxyCommand"):
			w.addEffect(Exec, LevelAlways, f.text, "git runs a program of its own choice for the other side")
		case hasLookalikes(hostOf(f.text)) && strings.Contains(f.text, "://"):
			w.addEffect(Hidden, LevelAlways, f.text,
				"the name of the host holds letters that can pass for others")
		}
	}
}

// gitChanges are the verbs that data cannot tell of.
func gitChanges(w *walker, verb string, args []field) bool {
	switch verb {
	case "clone", "fetch", "pull", "apply":
		gitFetches(w, verb, args)
	case "checkout":
		o := parseOptions(args, wordList("git.change-options"), false)
		if slices.ContainsFunc(args, func(a field) bool { return a.text == "--" }) || checkoutLoses(o) {
			w.gitLoses(verb, "throws away changes that are not committed")
		}
	case "worktree":
		o := parseOptions(args, "", false)
		w.judgeWorktree(o.firstOperand(), o)
	case "push", "rebase", "bisect", "submodule", "remote", "config":
		gitOutside(w, verb, args)
		return true
	default:
		return false
	}
	if verb != "clone" {
		w.gitWrites(verb)
	}
	return true
}

// gitFolders asks about repositories outside of the project.
func (w *walker) gitFolders(list []field) {
	for _, v := range list {
		if p := w.placeOf(v); p.kind != placeProject && p.kind != placeGit || p.kind == placeGit && !realpath.Within(p.path, w.ctx.Project) {
			w.addEffect(Exec, LevelSensitive, v.text, "git works with the repository "+v.text+", whose settings can run programs")
		}
	}
}

// gitRm is git rm: files of the working copy go.
func gitRm(w *walker, _ *program, _ cmd, g parsed) bool {
	if !g.hasOption("cached n dry-run") {
		for _, f := range g.operands {
			w.addRemoval(f, g.hasOption("r"))
		}
	}
	return false
}

func gitFetches(w *walker, verb string, args []field) {
	o := parseOptions(args, wordList("git.fetch-options"), false)
	w.gitURL(args)
	switch verb {
	case "clone":
		if o.hasOption("c", "config", "u", "upload-pack", "template") {
			w.addEffect(Exec, LevelAlways, verb, "git is given settings that can run programs")
		}
		w.addEffect(NetIn, LevelStandard, o.firstOperand(), "fetches "+o.firstOperand())
		switch {
		case len(o.operands) > 1:
			w.addWrite(o.operands[1], "writes")
			w.noteWritten(o.operands[1])
		case len(o.operands) == 1:
			w.noteWritten(partOf(o.operands[0], strings.TrimSuffix(pathBase(strings.TrimRight(o.firstOperand(), "/")), ".git")))
		}
	case "fetch", "pull":
		w.addEffect(NetIn, LevelStandard, o.firstOperand(), "fetches from a remote")
		if o.hasOption("upload-pack") {
			w.addEffect(Exec, LevelAlways, verb, "git runs a program of its own choice for the other side")
		}
		if forcedRefs(o) || verb == "pull" && o.hasOption("force", "f") {
			w.gitLoses(verb, "throws away commits that are only here")
		}
	case "apply":
		if o.hasOption("unsafe-paths") || strings.Contains(valueOr(parseOptions(args, "directory", false), "", "directory"), ".git") {
			w.addEffect(Write, LevelSensitive, verb, "git apply writes outside of the working copy")
		}
	}
}

// checkoutLoses reports whether git checkout takes files back, and does not only change branches.
func checkoutLoses(o options) bool {
	name := o.firstOperand()
	if o.hasOption("f", "force", "B", "ours", "theirs", "pathspec-from-file") || name == "." {
		return true
	}
	if o.hasOption("b", "t", "track", "orphan") {
		return false
	}
	base := pathBase(name)
	return len(o.operands) > 1 || strings.Contains(base, ".") && !strings.HasPrefix(base, "v") && !strings.Contains(name, "..") && looksLikeFile(name)
}

func pathBase(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// looksLikeFile tells a file from a version: a letter follows its last dot.
func looksLikeFile(s string) bool {
	at := strings.LastIndexByte(s, '.')
	return at >= 0 && at+1 < len(s) && (s[at+1] >= 'a' && s[at+1] <= 'z' || s[at+1] >= 'A' && s[at+1] <= 'Z')
}

// secondOperand is the second operand, for sentences.
func secondOperand(o options) string {
	if len(o.operands) < 2 {
		return ""
	}
	return strings.ReplaceAll(o.operands[1].text, unknown, "…")
}

func gitOutside(w *walker, verb string, args []field) {
	o := parseOptions(args, wordList("git.outside-options"), false)
	sub := o.firstOperand()
	switch verb {
	case "push":
		w.gitPush(o)
	case "rebase":
		for _, v := range o.valuesOf("x", "exec") {
			w.walkInnerText(v)
			w.addEffect(Exec, LevelSensitive, v.text, "git runs "+v.text+" at each commit")
		}
		w.gitWrites(verb)
	case "bisect":
		if sub == "run" {
			w.runWords(args[1:])
		}
		w.gitWrites(verb)
	case "submodule":
		if rest := args; sub == "foreach" {
			for i, a := range rest {
				if a.text == "foreach" {
					w.runJoined(skipDashes(rest[i+1:]))
				}
			}
			return
		}
		w.gitURL(o.operands)
		if sub == "deinit" {
			w.gitLoses("submodule deinit", "throws away the working copy of a submodule")
		}
		w.gitWrites(verb)
	case "remote":
		w.gitURL(o.operands)
		if sub == "set-url" {
			w.addEffect(NetOut, LevelSensitive, secondOperand(o),
				"what is pushed later goes to another place")
		}
		if isOneOf("remove rm prune", sub) {
			w.gitLoses("remote "+sub, "forgets what was fetched")
		}
		w.gitWrites(verb)
	case "config":
		gitConfig(w, args)
	}
}

func (w *walker) gitPush(o options) {
	if o.hasOption("n", "dry-run") {
		w.addEffect(NetIn, LevelStandard, "push", "asks a remote what it would take")
		return
	}
	forced := o.hasOption("f", "force", "force-with-lease", "mirror", "delete", "d", "prune")
	for _, a := range o.operands {
		forced = forced || strings.HasPrefix(a.text, "+") || strings.HasPrefix(a.text, ":")
	}
	if forced {
		w.addEffect(History, LevelSensitive, "push", "git push replaces or deletes what others have")
	}
	if o.hasOption("receive-pack", "exec") {
		w.addEffect(Exec, LevelAlways, "push", "git runs a program of its own choice for the other side")
	}
	w.gitURL(o.operands)
	w.addEffect(NetOut, LevelSensitive, o.firstOperand(), "git push publishes commits")
}

func skipDashes(args []field) []field {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		args = args[1:]
	}
	return args
}

func gitConfig(w *walker, args []field) {
	o := parseOptions(args, wordList("git.config-options"), false)
	if o.hasOption("get", "get-all", "get-regexp", "l", "list", "get-urlmatch", "get-color") || len(o.operands) <= 1 && !o.hasOption("unset", "unset-all", "add", "replace-all", "rename-section", "remove-section", "e", "edit") ||
		isOneOf("get list", o.firstOperand()) {
		return
	}
	rest := o.operands
	if isOneOf(wordList("git.config-changes"), o.firstOperand()) {
		rest = rest[1:]
	}
	rest = append(o.valuesOf("add", "replace-all", "unset", "unset-all"), rest...)
	name, value := "", ""
	if len(rest) > 0 {
		name = rest[0].text
	}
	if len(rest) > 1 {
		value = rest[1].text
	}
	if strings.HasPrefix(strings.ToLower(name), "alias.") && strings.HasPrefix(value, "!") {
		w.walkInnerText(partOf(rest[1], value[1:]))
	}
	switch {
	case o.hasOption("global", "system", "f", "file"):
		w.addEffect(Persist, LevelAlways, name, "changes the settings of git for every repository")
	case harmlessSetting(name, value):
		w.gitWrites("config")
	default:
		w.addEffect(Persist, LevelAlways, name, "changes the setting "+name+" of git, which may run programs later")
	}
}

// judgeForge judges gh and glab.
func judgeForge(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("gh.options"), false)
	group, verb := o.firstOperand(), secondOperand(o)
	switch {
	case group == "" || o.hasOption("help", "version"):
	case isOneOf(wordList("gh.subjects"), group) && isOneOf(wordList("gh.shows"), verb), group == "status", group == "search", group == "help", group == "version":
		w.addEffect(NetIn, LevelStandard, group, "asks the forge")
	case group == "auth" && verb == "status":
	case group == "auth" || group == "secret" || group == "ssh-key" || group == "gpg-key":
		w.addEffect(Credential, LevelSensitive, group,
			"it works with keys and secrets ("+c.name+" "+group+")")
		w.out.secret = true
	case isOneOf(wordList("gh.here"), group) && isOneOf("checkout clone download", verb):
		w.addOutputs(parseOptions(c.args, "D dir O output", false).valuesOf("D", "dir", "O", "output"))
		if verb == "clone" && len(o.operands) > 3 {
			w.addOutputs(o.operands[3:4])
		}
		w.addEffect(NetIn, LevelStandard, group, "fetches from the forge")
		w.gitWrites(verb)
	case group == "api" && !o.hasOption("f", "field", "F", "raw-field", "input") && strings.Trim(strings.ToUpper(valueOr(o, "GET", "X", "method")), "GETHAD") == "":
		w.addEffect(NetIn, LevelStandard, group, "asks the forge")
	case group == "alias" || group == "extension":
		w.addEffect(Persist, LevelAlways, group, c.name+" runs other programs from now on")
	default:
		w.addEffect(NetOut, LevelSensitive, group, c.name+" "+group+" "+verb+" changes something that others see")
	}
}

func valueOr(o options, otherwise string, names ...string) string {
	if v := o.valuesOf(names...); len(v) > 0 {
		return v[0].text
	}
	return otherwise
}
