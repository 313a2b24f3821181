package command

import (
	"path"
	"strings"

	"hermes/core/realpath"
)

// fileTools change files.
func fileTools() map[string]handler {
	return map[string]handler{
		"rm unlink srm shred wipe trash trash-put gio-trash rm-safe": remove,
		"rmdir":      removeEmpty,
		"mkdir":      makes,
		"touch":      makes,
		"cp gcp":     copyFiles,
		"mv gmv":     move,
		"install":    copyFiles,
		"ln":         link,
		"tee sponge": tee,
		"truncate":   truncate,
		"dd dcfldd":  copyDisk,
		"split csplit": func(w *walker, c cmd) {
			for _, v := range parseOptions(c.args, wordList("split.options"), false).values("filter") {
				w.walkInnerText(v)
				w.add(Exec, LevelAlways, v.text, "split runs "+v.text+" for each part")
			}
			w.writes(field{text: "."}, "writes")
		},
		"patch":              patch,
		"chmod":              chmod,
		"chown chgrp":        chown,
		"rsync":              rsync,
		"tar bsdtar gtar":    tar,
		"zip 7z 7za 7zr rar": zip,
		"unzip unrar":        unzip,
		"gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 pigz lzma brotli compress uncompress": compress,
		"ar cpio pax": archive,
		"rename prename": func(w *walker, c cmd) {
			for _, f := range parseOptions(c.args, "", false).after(1) {
				w.writes(f, "renames")
			}
			if strings.ContainsAny(operand(c), "`$") || strings.Contains(operand(c), "/e") || strings.Contains(operand(c), "system") {
				w.add(Exec, LevelAlways, operand(c), "rename runs code")
			}
		},
		"convert magick mogrify ffmpeg sox pandoc wkhtmltopdf inkscape": convert,
		"fallocate": func(w *walker, c cmd) {
			o := parseOptions(c.args, "l length o offset", false)
			if size := strings.ToUpper(valueOr(o, "", "l", "length")); strings.Contains(size, "T") || strings.Contains(size, "G") && len(size) > len("9G") {
				w.add(System, LevelSensitive, size, "it fills the disk with "+size)
			}
			w.outputs(o.operands)
		},
		"script": scriptTool,
		"mkfifo mknod": func(w *walker, c cmd) {
			w.outputs(parseOptions(c.args, "m", false).operands)
			if o := parseOptions(c.args, "m mode", false); c.name == "mknod" && len(o.operands) > 1 && o.operands[1].text != "p" {
				w.add(Device, LevelAlways, operand(c), "it makes a device")
			}
		},
	}
}

func operand(c cmd) string {
	for _, a := range c.args {
		if !strings.HasPrefix(a.text, "-") {
			return strings.ReplaceAll(a.text, unknown, "…")
		}
	}
	return ""
}

func remove(w *walker, c cmd) {
	o := parseOptions(c.args, "", false)
	if c.name == "shred" {
		o = parseOptions(c.args, wordList("rm.options"), false)
	}
	if o.has("help", "version") && len(o.operands) == 0 {
		return
	}
	recursive := o.has("r", "R", "recursive") || c.name == "srm" || strings.HasPrefix(c.name, "trash")
	if len(o.operands) == 0 {
		w.add(Delete, LevelSensitive, "", "deletes what it is told when it runs")
	}
	for _, f := range o.operands {
		if w.place(f).kind == placeDisk {
			w.add(Device, levelNever, f.text, "it destroys the disk device "+f.text)
			continue
		}
		w.removes(f, recursive)
	}
}

func removeEmpty(w *walker, c cmd) {
	for _, f := range parseOptions(c.args, "", false).operands {
		if p := w.place(f); p.kind == placeProject || p.kind == placeTemp {
			w.effect(Effect{Class: Delete, Level: LevelStandard, Target: f.text, Reason: "removes the empty folder " + f.text, Reversible: true})
			continue
		}
		w.removes(f, false)
	}
}

// makes is mkdir and touch: nothing is lost.
func makes(w *walker, c cmd) {
	for _, f := range parseOptions(c.args, wordList("mkdir.options"), false).operands {
		before := len(w.effects)
		w.writes(f, "makes")
		for i := before; i < len(w.effects); i++ {
			if w.effects[i].Level == LevelStandard {
				w.effects[i].Level = LevelCreate
			}
		}
	}
}

func copyFiles(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("cp.options"), false)
	if c.name == "install" && o.has("d", "directory") {
		for _, f := range o.operands {
			w.writes(f, "makes")
		}
		return
	}
	if m, ok := o.get("m", "mode"); ok && setsUser(m.value.text) {
		w.add(Privilege, LevelAlways, m.value.text, "it makes a program that runs as another user")
	}
	from, to := o.operands, o.values("t", "target-directory")
	if len(to) == 0 && len(from) > 1 {
		from, to = from[:len(from)-1], from[len(from)-1:]
	}
	for _, f := range from {
		w.reads(f, true)
		if (f.text == "/dev/null" || f.text == "/dev/zero") && len(to) > 0 {
			w.add(Delete, LevelSensitive, to[0].text, "empties "+w.name(to[0]))
		}
	}
	for _, f := range to {
		w.writes(f, "writes")
		if !o.has("n", "no-clobber") {
			w.replacesIn(from, f)
		}
		w.note(f)
	}
	if o.has("l", "link", "s", "symbolic-link") {
		w.links(from, "")
	}
}

// links asks about links that lead out of the project: what is written through them later lands
// there.
func (w *walker) links(targets []field, at string) {
	for _, f := range targets {
		if p := w.place(f); w.ctx.Local && at != "" && !f.dyn && !f.glob && (p.kind == placeHome || p.kind == placeOutside) && !p.top && !realpath.Within(w.ctx.Project, p.path) {
			if w.linked == nil {
				w.linked = map[string]string{}
			}
			w.linked[at] = p.path // later lines see the link itself
			continue
		}
		if f.text == "/dev/null" {
			w.add(Delete, LevelSensitive, f.text, "puts a link to nothing in place of a file")
		}
		if p := w.place(f); p.kind != placeProject && p.kind != placeTemp && p.kind != placeStream {
			w.add(Write, LevelSensitive, f.text, "makes a link to "+w.name(f)+": what is written to it lands there")
		}
	}
}

func link(w *walker, c cmd) {
	o := parseOptions(c.args, "t target-directory S suffix", false)
	targets := o.operands
	switch {
	case len(o.values("t", "target-directory")) > 0:
		w.outputs(o.values("t", "target-directory"))
	case len(targets) > 1:
		w.outputs(targets[len(targets)-1:])
		targets = targets[:len(targets)-1]
	}
	if o.has("s", "symbolic") && len(o.operands) > 1 { // a relative target begins where the link stands
		into := o.operands[len(o.operands)-1].text
		if v := o.values("t", "target-directory"); len(v) > 0 {
			into = v[0].text + "/"
		}
		from := append([]field(nil), targets...)
		for i, f := range from {
			if dir := path.Dir(into); !path.IsAbs(f.text) && !f.dyn && dir != "." {
				from[i] = part(f, dir+"/"+f.text)
			}
		}
		targets = from
	}
	at := ""
	if n := len(o.operands); n == 2 && !o.operands[1].dyn && !o.operands[1].glob && w.known && o.has("s", "symbolic") {
		if at = w.place(o.operands[1]).path; strings.HasSuffix(o.operands[1].text, "/") || o.operands[1].text == "." {
			at = path.Join(at, path.Base(o.operands[0].text))
		}
	}
	w.links(targets, at)
}

func move(w *walker, c cmd) {
	o := parseOptions(c.args, "t target-directory S suffix", false)
	from, to := o.operands, o.values("t", "target-directory")
	if len(to) == 0 && len(from) > 1 {
		from, to = from[:len(from)-1], from[len(from)-1:]
	}
	for _, f := range from {
		switch p := w.place(f); {
		case p.top:
			w.add(Delete, levelNever, f.text, "moves away "+f.text+": that is a whole system or home")
		case p.kind == placeProject && p.path == w.ctx.Project:
			w.add(Delete, LevelSensitive, f.text, "moves the project away")
		case p.kind == placeCredential && !dotenv(p.path):
			w.reads(f, true)
		case p.kind != placeTemp:
			w.writes(f, "moves")
		}
	}
	for _, f := range to {
		switch p := w.place(f); p.kind {
		case placeStream:
			w.add(Delete, LevelSensitive, f.text, "moves files to "+f.text+", where they are lost")
		case placeTemp:
			w.add(Delete, LevelSensitive, f.text, "moves files to "+f.text+", where they do not stay")
		default:
			w.writes(f, "writes")
			if !o.has("n", "no-clobber") {
				w.replacesIn(from, f)
			}
		}
		w.note(f)
	}
}

func tee(w *walker, c cmd) {
	for _, f := range parseOptions(c.args, "", false).operands {
		w.socket(f)
		if w.writes(f, "writes").kind == placeStream {
			continue
		}
		if w.in.any && w.in.plain && w.in.text == "" && !parseOptions(c.args, "", false).has("a", "append") {
			w.add(Delete, LevelSensitive, f.text, "empties "+w.name(f))
		}
		if !parseOptions(c.args, "", false).has("a", "append") {
			w.replaces(f, true)
		}
		w.note(f)
	}
	w.passOnFiltered()
}

func truncate(w *walker, c cmd) {
	for _, f := range parseOptions(c.args, "s size r reference", false).operands {
		w.writes(f, "cuts")
		w.add(Delete, LevelSensitive, f.text, "cuts "+w.name(f))
	}
}

func patch(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("patch.options"), false)
	target := field{text: "."}
	if d := o.values("d", "directory"); len(d) > 0 {
		target = d[0]
	} else if len(o.operands) > 0 {
		target = o.operands[0]
	}
	w.writes(target, "patches")
	w.outputs(o.values("o", "output"))
}

// setsUser reports whether a mode makes a program run as its owner.
func setsUser(mode string) bool {
	if number(mode) {
		return len(mode) >= 4 && strings.ContainsAny(mode[len(mode)-4:len(mode)-3], "2467")
	}
	return strings.Contains(mode, "s") && strings.ContainsAny(mode, "+=")
}

func chmod(w *walker, c cmd) {
	o := parseOptions(c.args, "reference", false)
	files, mode := o.operands, ""
	for _, s := range o.set { // chmod -x file: what looks like an option is a mode
		if len(s.name) == 1 && strings.ContainsAny(s.name, "rwxst") && !s.long {
			mode = "-" + s.name
		}
	}
	if mode == "" && len(files) > 0 && !o.has("reference") {
		mode, files = files[0].text, files[1:]
	}
	recursive := o.has("R", "recursive")
	if setsUser(mode) {
		w.add(Privilege, LevelAlways, mode, "it makes a program that runs as another user")
	}
	for _, f := range files {
		p := w.place(f)
		switch {
		case p.top && recursive:
			w.add(System, levelNever, f.text, "it changes the rights of a whole system or home")
		case p.kind == placeSocket, p.kind == placeCredential && !leavesToOwner(mode), p.kind == placeStartup && p.path != "":
			w.add(System, LevelAlways, f.text, "it changes the rights of "+w.name(f))
		case p.kind == placeCredential:
		case opens(mode):
			w.add(System, LevelSensitive, f.text, "it lets everybody write "+w.name(f))
		case p.kind == placeProject && p.path == w.ctx.Project && recursive:
			w.add(System, LevelSensitive, f.text, "it changes the rights of the whole project")
		default:
			w.writes(f, "changes the rights of")
		}
	}
}

// opens reports whether everybody may write afterwards.
func opens(mode string) bool {
	if number(mode) {
		return strings.ContainsAny(mode[len(mode)-1:], "2367") || mode == "000" || mode == "0"
	}
	return (strings.HasPrefix(mode, "a") || strings.HasPrefix(mode, "o") || strings.HasPrefix(mode, "ugo") || strings.HasPrefix(mode, "+")) &&
		strings.Contains(mode, "w") && strings.ContainsAny(mode, "+=")
}

// leavesToOwner reports whether a mode leaves a file to its owner.
func leavesToOwner(mode string) bool {
	return mode == "600" || mode == "0600" || mode == "400" || mode == "700" || mode == "go-rwx"
}

func chown(w *walker, c cmd) {
	o := parseOptions(c.args, "reference from", false)
	for _, f := range o.after(1) {
		if p := w.place(f); p.top && o.has("R", "recursive") {
			w.add(System, levelNever, f.text, "it changes the owner of a whole system or home")
			continue
		}
		w.add(System, LevelSensitive, f.text, "it changes the owner of "+w.name(f))
	}
}

func rsync(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("rsync.options"), false)
	for _, v := range append(o.values("e", "rsh", "rsync-path", "password-command"), o.values("M", "remote-option")...) {
		w.walkInnerText(v)
		w.add(Exec, LevelAlways, v.text, "rsync runs "+v.text)
	}
	if len(o.operands) < 2 {
		return
	}
	from, to := o.operands[:len(o.operands)-1], o.operands[len(o.operands)-1]
	if o.has("n", "dry-run", "list-only") && !remote(to.text) && !remote(from[0].text) {
		return
	}
	for _, s := range o.set {
		if strings.HasPrefix(s.name, "del") || s.name == "remove-source-files" || s.name == "remove-s" {
			w.add(Delete, LevelSensitive, to.text, "deletes what is in "+to.text+" and not in the source")
		}
	}
	if remote(to.text) {
		w.add(NetOut, LevelSensitive, to.text, "sends files to "+to.text)
		return
	}
	for _, f := range from {
		if remote(f.text) {
			w.add(NetOut, LevelSensitive, f.text, "logs in to "+f.text)
			continue
		}
		w.reads(f, true)
	}
	w.writes(to, "writes")
	if !o.has("ignore-existing", "backup", "b") {
		w.replacesIn(from, to)
	}
}

// remote reports whether a path is on another machine: host:path.
func remote(s string) bool {
	if strings.Contains(s, "://") {
		return true
	}
	host, _, ok := strings.Cut(s, ":")
	return ok && host != "" && !strings.Contains(host, "/")
}

func convert(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("convert.options"), false)
	for _, v := range o.values("F", "filter", "lua-filter") {
		w.add(Exec, LevelSensitive, v.text, "pandoc runs "+v.text)
	}
	for _, v := range o.values("pdf-engine") {
		w.walkInnerText(v)
	}
	for _, v := range o.values("d", "defaults") {
		w.takesCode(c.name, v)
	}
	out := o.values("o", "output")
	if len(out) == 0 && c.name != "pandoc" && len(o.operands) > 0 {
		out = o.operands[len(o.operands)-1:]
	}
	w.outputs(out)
}

func scriptTool(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("script.options"), true)
	for _, v := range o.values("c", "command") {
		w.walkInnerText(v)
	}
	if len(o.values("c", "command")) == 0 {
		w.add(Exec, LevelSensitive, "", "it starts a shell")
	}
	w.outputs(o.operands)
}
