package command

import (
	"path"
	"strings"

	"hermes/core/realpath"
)

// fileTools change files.
func fileTools() map[string]handler {
	return map[string]handler{
		"rm unlink srm shred wipe trash trash-put gio-trash rm-safe": judgeRemove,
		"rmdir":      removeEmpty,
		"mkdir":      judgeMake,
		"touch":      judgeMake,
		"cp gcp":     copyFiles,
		"mv gmv":     judgeMove,
		"install":    copyFiles,
		"ln":         judgeLink,
		"tee sponge": judgeTee,
		"truncate":   judgeTruncate,
		"dd dcfldd":  copyDisk,
		"split csplit": func(w *walker, c cmd) {
			for _, v := range parseOptions(c.args, wordList("split.options"), false).valuesOf("filter") {
				w.walkInnerText(v)
				w.addEffect(Exec, LevelAlways, v.text, "split runs "+v.text+" for each part")
			}
			w.addWrite(field{text: "."}, "writes")
		},
		"patch":              judgePatch,
		"chmod":              judgeChmod,
		"chown chgrp":        judgeChown,
		"rsync":              judgeRsync,
		"tar bsdtar gtar":    judgeTar,
		"zip 7z 7za 7zr rar": judgeZip,
		"unzip unrar":        judgeUnzip,
		"gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 pigz lzma brotli compress uncompress": judgeCompress,
		"ar cpio pax": judgeArchiver,
		"rename prename": func(w *walker, c cmd) {
			for _, f := range parseOptions(c.args, "", false).operandsAfter(1) {
				w.addWrite(f, "renames")
			}
			if strings.ContainsAny(firstOperand(c), "`$") || strings.Contains(firstOperand(c), "/e") || strings.Contains(firstOperand(c), "system") {
				w.addEffect(Exec, LevelAlways, firstOperand(c), "rename runs code")
			}
		},
		"convert magick mogrify ffmpeg sox pandoc wkhtmltopdf inkscape": judgeConverter,
		"fallocate": func(w *walker, c cmd) {
			o := parseOptions(c.args, "l length o offset", false)
			if size := strings.ToUpper(valueOr(o, "", "l", "length")); strings.Contains(size, "T") || strings.Contains(size, "G") && len(size) > len("9G") {
				w.addEffect(System, LevelSensitive, size, "it fills the disk with "+size)
			}
			w.addOutputs(o.operands)
		},
		"script": scriptTool,
		"mkfifo mknod": func(w *walker, c cmd) {
			w.addOutputs(parseOptions(c.args, "m", false).operands)
			if o := parseOptions(c.args, "m mode", false); c.name == "mknod" && len(o.operands) > 1 && o.operands[1].text != "p" {
				w.addEffect(Device, LevelAlways, firstOperand(c), "it makes a device")
			}
		},
	}
}

func firstOperand(c cmd) string {
	for _, a := range c.args {
		if !strings.HasPrefix(a.text, "-") {
			return strings.ReplaceAll(a.text, unknown, "…")
		}
	}
	return ""
}

func judgeRemove(w *walker, c cmd) {
	o := parseOptions(c.args, "", false)
	if c.name == "shred" {
		o = parseOptions(c.args, wordList("rm.options"), false)
	}
	if o.hasOption("help", "version") && len(o.operands) == 0 {
		return
	}
	recursive := o.hasOption("r", "R", "recursive") || c.name == "srm" ||
		strings.HasPrefix(c.name, "trash")
	if len(o.operands) == 0 {
		w.addEffect(Delete, LevelSensitive, "", "deletes what it is told when it runs")
	}
	for _, f := range o.operands {
		if w.placeOf(f).kind == placeDisk {
			w.addEffect(Device, levelNever, f.text, "it destroys the disk device "+f.text)
			continue
		}
		w.addRemoval(f, recursive)
	}
}

func removeEmpty(w *walker, c cmd) {
	for _, f := range parseOptions(c.args, "", false).operands {
		if p := w.placeOf(f); p.kind == placeProject || p.kind == placeTemp {
			w.keepEffect(Effect{Class: Delete, Level: LevelStandard, Target: f.text, Reason: "removes the empty folder " + f.text, Reversible: true})
			continue
		}
		w.addRemoval(f, false)
	}
}

// judgeMake judges mkdir and touch: nothing is lost.
func judgeMake(w *walker, c cmd) {
	for _, f := range parseOptions(c.args, wordList("mkdir.options"), false).operands {
		before := len(w.effects)
		w.addWrite(f, "makes")
		for i := before; i < len(w.effects); i++ {
			if w.effects[i].Level == LevelStandard {
				w.effects[i].Level = LevelCreate
			}
		}
	}
}

func copyFiles(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("cp.options"), false)
	if c.name == "install" && o.hasOption("d", "directory") {
		for _, f := range o.operands {
			w.addWrite(f, "makes")
		}
		return
	}
	if m, ok := o.findOption("m", "mode"); ok && setsUser(m.value.text) {
		w.addEffect(Privilege, LevelAlways, m.value.text, "it makes a program that runs as another user")
	}
	from, to := o.operands, o.valuesOf("t", "target-directory")
	if len(to) == 0 && len(from) > 1 {
		from, to = from[:len(from)-1], from[len(from)-1:]
	}
	for _, f := range from {
		w.addRead(f, true)
		if (f.text == "/dev/null" || f.text == "/dev/zero") && len(to) > 0 {
			w.addEffect(Delete, LevelSensitive, to[0].text, "empties "+w.nameOf(to[0]))
		}
	}
	for _, f := range to {
		w.addWrite(f, "writes")
		if !o.hasOption("n", "no-clobber") {
			w.replacesIn(from, f)
		}
		w.noteWritten(f)
	}
	if o.hasOption("l", "link", "s", "symbolic-link") {
		w.judgeLinkTargets(from, "")
	}
}

// judgeLinkTargets asks about links that lead out of the project: what is written through them
// later lands there.
func (w *walker) judgeLinkTargets(targets []field, at string) {
	for _, f := range targets {
		if p := w.placeOf(f); w.ctx.Local && at != "" && !f.dyn && !f.glob && (p.kind == placeHome || p.kind == placeOutside) && !p.top && !realpath.Within(w.ctx.Project, p.path) {
			if w.linked == nil {
				w.linked = map[string]string{}
			}
			w.linked[at] = p.path // later lines see the link itself
			continue
		}
		if f.text == "/dev/null" {
			w.addEffect(Delete, LevelSensitive, f.text, "puts a link to nothing in place of a file")
		}
		if p := w.placeOf(f); p.kind != placeProject && p.kind != placeTemp && p.kind != placeStream {
			w.addEffect(Write, LevelSensitive, f.text, "makes a link to "+w.nameOf(f)+": what is written to it lands there")
		}
	}
}

func judgeLink(w *walker, c cmd) {
	o := parseOptions(c.args, "t target-directory S suffix", false)
	targets := o.operands
	switch {
	case len(o.valuesOf("t", "target-directory")) > 0:
		w.addOutputs(o.valuesOf("t", "target-directory"))
	case len(targets) > 1:
		w.addOutputs(targets[len(targets)-1:])
		targets = targets[:len(targets)-1]
	}
	if o.hasOption("s", "symbolic") && len(o.operands) > 1 { // a relative target begins where the link stands
		into := o.operands[len(o.operands)-1].text
		if v := o.valuesOf("t", "target-directory"); len(v) > 0 {
			into = v[0].text + "/"
		}
		from := append([]field(nil), targets...)
		for i, f := range from {
			if dir := path.Dir(into); !path.IsAbs(f.text) && !f.dyn && dir != "." {
				from[i] = partOf(f, dir+"/"+f.text)
			}
		}
		targets = from
	}
	at := ""
	if n := len(o.operands); n == 2 && !o.operands[1].dyn && !o.operands[1].glob && w.known && o.hasOption("s", "symbolic") {
		if at = w.placeOf(o.operands[1]).path; strings.HasSuffix(o.operands[1].text, "/") || o.operands[1].text == "." {
			at = path.Join(at, path.Base(o.operands[0].text))
		}
	}
	w.judgeLinkTargets(targets, at)
}

func judgeMove(w *walker, c cmd) {
	o := parseOptions(c.args, "t target-directory S suffix", false)
	from, to := o.operands, o.valuesOf("t", "target-directory")
	if len(to) == 0 && len(from) > 1 {
		from, to = from[:len(from)-1], from[len(from)-1:]
	}
	for _, f := range from {
		switch p := w.placeOf(f); {
		case p.top:
			w.addEffect(Delete, levelNever, f.text, "moves away "+f.text+": that is a whole system or home")
		case p.kind == placeProject && p.path == w.ctx.Project:
			w.addEffect(Delete, LevelSensitive, f.text, "moves the project away")
		case p.kind == placeCredential && !isDotenv(p.path):
			w.addRead(f, true)
		case p.kind != placeTemp:
			w.addWrite(f, "moves")
		}
	}
	for _, f := range to {
		switch p := w.placeOf(f); p.kind {
		case placeStream:
			w.addEffect(Delete, LevelSensitive, f.text, "moves files to "+f.text+", where they are lost")
		case placeTemp:
			w.addEffect(Delete, LevelSensitive, f.text, "moves files to "+f.text+", where they do not stay")
		default:
			w.addWrite(f, "writes")
			if !o.hasOption("n", "no-clobber") {
				w.replacesIn(from, f)
			}
		}
		w.noteWritten(f)
	}
}

func judgeTee(w *walker, c cmd) {
	for _, f := range parseOptions(c.args, "", false).operands {
		w.judgeSocket(f)
		if w.addWrite(f, "writes").kind == placeStream {
			continue
		}
		if w.in.any && w.in.plain && w.in.text == "" && !parseOptions(c.args, "", false).hasOption("a", "append") {
			w.addEffect(Delete, LevelSensitive, f.text, "empties "+w.nameOf(f))
		}
		if !parseOptions(c.args, "", false).hasOption("a", "append") {
			w.judgeReplacement(f, true)
		}
		w.noteWritten(f)
	}
	w.passOnFiltered()
}

func judgeTruncate(w *walker, c cmd) {
	for _, f := range parseOptions(c.args, "s size r reference", false).operands {
		w.addWrite(f, "cuts")
		w.addEffect(Delete, LevelSensitive, f.text, "cuts "+w.nameOf(f))
	}
}

func judgePatch(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("patch.options"), false)
	target := field{text: "."}
	if d := o.valuesOf("d", "directory"); len(d) > 0 {
		target = d[0]
	} else if len(o.operands) > 0 {
		target = o.operands[0]
	}
	w.addWrite(target, "patches")
	w.addOutputs(o.valuesOf("o", "output"))
}

// setsUser reports whether a mode makes a program run as its owner.
func setsUser(mode string) bool {
	if isDescriptor(mode) {
		return len(mode) >= 4 && strings.ContainsAny(mode[len(mode)-4:len(mode)-3], "2467")
	}
	return strings.Contains(mode, "s") && strings.ContainsAny(mode, "+=")
}

func judgeChmod(w *walker, c cmd) {
	o := parseOptions(c.args, "reference", false)
	files, mode := o.operands, ""
	for _, s := range o.set { // chmod -x file: what looks like an option is a mode
		if len(s.name) == 1 && strings.ContainsAny(s.name, "rwxst") && !s.long {
			mode = "-" + s.name
		}
	}
	if mode == "" && len(files) > 0 && !o.hasOption("reference") {
		mode, files = files[0].text, files[1:]
	}
	recursive := o.hasOption("R", "recursive")
	if setsUser(mode) {
		w.addEffect(Privilege, LevelAlways, mode, "it makes a program that runs as another user")
	}
	for _, f := range files {
		p := w.placeOf(f)
		switch {
		case p.top && recursive:
			w.addEffect(System, levelNever, f.text, "it changes the rights of a whole system or home")
		case p.kind == placeSocket, p.kind == placeCredential && !leavesToOwner(mode), p.kind == placeStartup && p.path != "":
			w.addEffect(System, LevelAlways, f.text, "it changes the rights of "+w.nameOf(f))
		case p.kind == placeCredential:
		case opensToEverybody(mode):
			w.addEffect(System, LevelSensitive, f.text, "it lets everybody write "+w.nameOf(f))
		case p.kind == placeProject && p.path == w.ctx.Project && recursive:
			w.addEffect(System, LevelSensitive, f.text, "it changes the rights of the whole project")
		default:
			w.addWrite(f, "changes the rights of")
		}
	}
}

// opensToEverybody reports whether everybody may write afterwards.
func opensToEverybody(mode string) bool {
	if isDescriptor(mode) {
		return strings.ContainsAny(mode[len(mode)-1:], "2367") || mode == "000" || mode == "0"
	}
	return (strings.HasPrefix(mode, "a") || strings.HasPrefix(mode, "o") || strings.HasPrefix(mode, "ugo") || strings.HasPrefix(mode, "+")) &&
		strings.Contains(mode, "w") && strings.ContainsAny(mode, "+=")
}

// leavesToOwner reports whether a mode leaves a file to its owner.
func leavesToOwner(mode string) bool {
	return mode == "600" || mode == "0600" || mode == "400" || mode == "700" || mode == "go-rwx"
}

func judgeChown(w *walker, c cmd) {
	o := parseOptions(c.args, "reference from", false)
	for _, f := range o.operandsAfter(1) {
		if p := w.placeOf(f); p.top && o.hasOption("R", "recursive") {
			w.addEffect(System, levelNever, f.text, "it changes the owner of a whole system or home")
			continue
		}
		w.addEffect(System, LevelSensitive, f.text, "it changes the owner of "+w.nameOf(f))
	}
}

func judgeRsync(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("rsync.options"), false)
	for _, v := range append(o.valuesOf("e", "rsh", "rsync-path", "password-command"), o.valuesOf("M", "remote-option")...) {
		w.walkInnerText(v)
		w.addEffect(Exec, LevelAlways, v.text, "rsync runs "+v.text)
	}
	if len(o.operands) < 2 {
		return
	}
	from, to := o.operands[:len(o.operands)-1], o.operands[len(o.operands)-1]
	if o.hasOption("n", "dry-run", "list-only") && !isRemotePath(to.text) &&
		!isRemotePath(from[0].text) {
		return
	}
	for _, s := range o.set {
		if strings.HasPrefix(s.name, "del") || s.name == "remove-source-files" || s.name == "remove-s" {
			w.addEffect(Delete, LevelSensitive, to.text,
				"deletes what is in "+to.text+" and not in the source")
		}
	}
	if isRemotePath(to.text) {
		w.addEffect(NetOut, LevelSensitive, to.text, "sends files to "+to.text)
		return
	}
	for _, f := range from {
		if isRemotePath(f.text) {
			w.addEffect(NetOut, LevelSensitive, f.text, "logs in to "+f.text)
			continue
		}
		w.addRead(f, true)
	}
	w.addWrite(to, "writes")
	if !o.hasOption("ignore-existing", "backup", "b") {
		w.replacesIn(from, to)
	}
}

// isRemotePath reports whether a path is on another machine: host:path.
func isRemotePath(s string) bool {
	if strings.Contains(s, "://") {
		return true
	}
	host, _, ok := strings.Cut(s, ":")
	return ok && host != "" && !strings.Contains(host, "/")
}

func judgeConverter(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("convert.options"), false)
	for _, v := range o.valuesOf("F", "filter", "lua-filter") {
		w.addEffect(Exec, LevelSensitive, v.text, "pandoc runs "+v.text)
	}
	for _, v := range o.valuesOf("pdf-engine") {
		w.walkInnerText(v)
	}
	for _, v := range o.valuesOf("d", "defaults") {
		w.takesCode(c.name, v)
	}
	out := o.valuesOf("o", "output")
	if len(out) == 0 && c.name != "pandoc" && len(o.operands) > 0 {
		out = o.operands[len(o.operands)-1:]
	}
	w.addOutputs(out)
}

func scriptTool(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("script.options"), true)
	for _, v := range o.valuesOf("c", "command") {
		w.walkInnerText(v)
	}
	if len(o.valuesOf("c", "command")) == 0 {
		w.addEffect(Exec, LevelSensitive, "", "it starts a shell")
	}
	w.addOutputs(o.operands)
}
