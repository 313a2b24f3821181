package command

import (
	"path"
	"strings"
)

func judgeTar(w *walker, c cmd) {
	args := c.args
	if len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && !args[0].dyn { // tar xzf: letters without a dash
		first := args[0]
		first.text = "-" + first.text
		args = append([]field{first}, args[1:]...)
		if strings.Count(first.text, "f") == 1 && !strings.HasSuffix(first.text, "f") { // their values follow in their order
			first.text = strings.ReplaceAll(first.text, "f", "") + "f"
			args[0] = first
		}
	}
	o := parseOptions(args, wordList("tar.options"), false)
	for _, v := range o.valuesOf("to-command", "checkpoint-action", "F", "info-script", "new-volume-script", "rsh-command", "rmt-command") {
		if strings.HasPrefix(v.text, "dot") || strings.HasPrefix(v.text, "echo") && !strings.HasPrefix(v.text, "exec") {
			continue
		}
		w.walkInnerText(partOf(v, strings.TrimPrefix(v.text, "exec=")))
		w.addEffect(Exec, LevelAlways, v.text, "tar runs "+v.text)
	}
	for _, v := range o.valuesOf("I", "use-compress-program") {
		if name, _, _ := strings.Cut(v.text, " "); !isOneOf(wordList("tar.compressors"), name) {
			w.walkInnerText(v)
			w.addEffect(Exec, LevelAlways, v.text, "tar runs "+v.text)
		}
	}
	for _, s := range o.set {
		if strings.HasPrefix(s.name, "checkpoint-a") && !s.has {
			w.addEffect(Exec, LevelAlways, "", "tar runs a command")
		}
		if s.name == "remove-files" || s.name == "delete" || s.name == "recursive-unlink" {
			w.addEffect(Delete, LevelSensitive, "", "tar deletes the files that it has read")
		}
	}
	w.tarMode(o)
}

func (w *walker) tarMode(o options) {
	files := o.valuesOf("f", "file")
	switch {
	case o.hasOption("x", "extract", "get"):
		w.noteForeignArchives(files)
		for _, f := range files {
			if isRemotePath(f.text) {
				w.addEffect(NetOut, LevelSensitive, f.text, "logs in to "+f.text)
			}
		}
		if o.hasOption("O", "to-stdout") {
			w.passOnFiltered()
			w.out.decoded = true
			return
		}
		into := field{text: "."}
		if d := o.valuesOf("C", "directory"); len(d) > 0 {
			into = d[len(d)-1]
		}
		w.addWrite(into, "unpacks into")
		w.noteWritten(into)
		if o.hasOption("P", "absolute-names") {
			w.addEffect(Write, LevelSensitive, "", "unpacks to any place that the archive names")
		}
	case o.hasOption("t", "list", "d", "diff", "compare"):
	default:
		for _, f := range o.operands {
			w.addRead(f, true)
			for _, dir := range o.valuesOf("C", "directory") {
				w.addRead(partOf(f, path.Join(dir.text, f.text)), true)
			}
		}
		for _, f := range files {
			if isRemotePath(f.text) {
				w.addEffect(NetOut, LevelSensitive, f.text, "sends files to "+f.text)
				continue
			}
			w.addOutputs([]field{f})
		}
	}
}

// noteForeignArchives remembers that an archive comes from the network.
func (w *walker) noteForeignArchives(archives []field) {
	w.strange, w.opened = w.strange || w.in.net, true
	for _, f := range archives {
		w.strange = w.strange || w.written[w.placeOf(f).path]
	}
}

func judgeZip(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("zip.options"), false)
	w.zipOptions(c, o)
	files := o.operands
	if c.name != "zip" && len(files) > 0 {
		if w.archiveVerb(c, o, files) {
			return
		}
		files = files[1:]
	}
	if len(files) > 0 {
		w.addOutputs(files[:1])
		for _, f := range files[1:] {
			w.addRead(f, true)
		}
	}
}

// archiveVerb is the first word of 7z and rar; it reports whether that says all.
func (w *walker) archiveVerb(c cmd, o options, files []field) bool {
	switch files[0].text {
	case "l", "t", "i", "h", "v":
		return true
	case "x", "e":
		into := field{text: "."}
		for _, v := range o.valuesOf("o") {
			into = v
		}
		if last := files[len(files)-1]; c.name == "rar" && len(files) > 2 {
			into = last
		}
		w.addWrite(into, "unpacks into")
		w.noteForeignArchives(files[1:])
		return true
	case "d":
		w.addEffect(Delete, LevelSensitive, "", "deletes files of the archive")
	}
	return false
}

// zipOptions are options by which zip and its like run commands or delete.
func (w *walker) zipOptions(c cmd, o options) {
	for _, s := range o.set {
		if s.name == "T" && c.name == "zip" || s.name == "TT" || strings.HasPrefix(s.name, "unzip-c") {
			w.addEffect(Exec, LevelAlways, s.value.text, "zip runs a command to test the archive")
		}
		if c.name == "zip" && !s.long && s.name == "d" || s.name == "delete" {
			w.addEffect(Delete, LevelSensitive, "", "deletes files of the archive")
		}
		if (s.name == "m" || s.long && isOneOf("m mo mov move", s.name)) && c.name == "zip" || s.name == "sdel" {
			w.addEffect(Delete, LevelSensitive, "", "moves the files into the archive")
		}
	}
	for _, a := range c.args {
		if a.text == "-sdel" || a.text == "-df" {
			w.addEffect(Delete, LevelSensitive, "", "moves the files into the archive")
		}
	}
}

func judgeUnzip(w *walker, c cmd) {
	o := parseOptions(c.args, "d x P", false)
	if o.hasOption("l", "t", "v", "Z", "p", "c") {
		w.out.decoded = true
		return
	}
	into := field{text: "."}
	if d := o.valuesOf("d"); len(d) > 0 {
		into = d[0]
	}
	for _, f := range o.operandsAfter(2) {
		if c.name == "unrar" && strings.HasSuffix(f.text, "/") {
			into = f
		}
	}
	w.noteForeignArchives(o.operands)
	w.addWrite(into, "unpacks into")
	w.noteWritten(into)
	if o.hasOption(":") {
		w.addEffect(Write, LevelSensitive, "", "unpacks to any place that the archive names")
	}
}

func judgeCompress(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("gzip.options"), false)
	if strings.HasPrefix(c.name, "un") || strings.HasPrefix(c.name, "gun") || strings.HasPrefix(c.name, "bun") || o.hasOption("d", "decompress", "uncompress") {
		w.out.decoded = true
	}
	if w.in.any || o.hasOption("c", "stdout", "to-stdout") {
		w.passOnFiltered()
	}
	if o.hasOption("c", "stdout", "to-stdout", "t", "test", "l", "list") {
		return
	}
	for _, f := range o.operands {
		w.addWrite(f, "replaces")
	}
	w.addOutputs(o.valuesOf("o"))
}

func judgeArchiver(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("archive.options"), false)
	for _, v := range o.valuesOf("rsh-command", "to-command") {
		w.addEffect(Exec, LevelAlways, v.text, c.name+" runs "+v.text)
	}
	if c.name == "cpio" && (o.hasOption("i", "extract") || o.hasOption("p", "pass-through")) || c.name == "pax" && o.hasOption("r") {
		w.addWrite(field{text: "."}, "unpacks into")
		return
	}
	if c.name == "ar" && len(o.operands) > 1 {
		w.addOutputs(o.operands[1:2])
	}
	w.addOutputs(o.valuesOf("F", "O", "file"))
	w.passOnFiltered()
}
