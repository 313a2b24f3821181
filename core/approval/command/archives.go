package command

import "strings"

func tar(w *walker, c cmd) {
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
	for _, v := range o.values("to-command", "checkpoint-action", "F", "info-script", "new-volume-script", "rsh-command", "rmt-command") {
		if strings.HasPrefix(v.text, "dot") || strings.HasPrefix(v.text, "echo") && !strings.HasPrefix(v.text, "exec") {
			continue
		}
		w.walkInnerText(part(v, strings.TrimPrefix(v.text, "exec=")))
		w.add(Exec, LevelAlways, v.text, "tar runs "+v.text)
	}
	for _, v := range o.values("I", "use-compress-program") {
		if name, _, _ := strings.Cut(v.text, " "); !isOneOf(wordList("tar.compressors"), name) {
			w.walkInnerText(v)
			w.add(Exec, LevelAlways, v.text, "tar runs "+v.text)
		}
	}
	for _, s := range o.set {
		if strings.HasPrefix(s.name, "checkpoint-a") && !s.has {
			w.add(Exec, LevelAlways, "", "tar runs a command")
		}
		if s.name == "remove-files" || s.name == "delete" || s.name == "recursive-unlink" {
			w.add(Delete, LevelSensitive, "", "tar deletes the files that it has read")
		}
	}
	w.tarMode(o)
}

func (w *walker) tarMode(o options) {
	files := o.values("f", "file")
	switch {
	case o.has("x", "extract", "get"):
		w.noteForeignArchives(files)
		for _, f := range files {
			if remote(f.text) {
				w.add(NetOut, LevelSensitive, f.text, "logs in to "+f.text)
			}
		}
		if o.has("O", "to-stdout") {
			w.passOnFiltered()
			w.out.decoded = true
			return
		}
		into := field{text: "."}
		if d := o.values("C", "directory"); len(d) > 0 {
			into = d[len(d)-1]
		}
		w.writes(into, "unpacks into")
		w.note(into)
		if o.has("P", "absolute-names") {
			w.add(Write, LevelSensitive, "", "unpacks to any place that the archive names")
		}
	case o.has("t", "list", "d", "diff", "compare"):
	default:
		for _, f := range o.operands {
			w.reads(f, true)
		}
		for _, f := range files {
			if remote(f.text) {
				w.add(NetOut, LevelSensitive, f.text, "sends files to "+f.text)
				continue
			}
			w.outputs([]field{f})
		}
	}
}

// noteForeignArchives remembers that an archive comes from the network.
func (w *walker) noteForeignArchives(archives []field) {
	w.strange, w.opened = w.strange || w.in.net, true
	for _, f := range archives {
		w.strange = w.strange || w.written[w.place(f).path]
	}
}

func zip(w *walker, c cmd) {
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
		w.outputs(files[:1])
		for _, f := range files[1:] {
			w.reads(f, true)
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
		for _, v := range o.values("o") {
			into = v
		}
		if last := files[len(files)-1]; c.name == "rar" && len(files) > 2 {
			into = last
		}
		w.writes(into, "unpacks into")
		w.noteForeignArchives(files[1:])
		return true
	case "d":
		w.add(Delete, LevelSensitive, "", "deletes files of the archive")
	}
	return false
}

// zipOptions are options by which zip and its like run commands or delete.
func (w *walker) zipOptions(c cmd, o options) {
	for _, s := range o.set {
		if s.name == "T" && c.name == "zip" || s.name == "TT" || strings.HasPrefix(s.name, "unzip-c") {
			w.add(Exec, LevelAlways, s.value.text, "zip runs a command to test the archive")
		}
		if c.name == "zip" && !s.long && s.name == "d" || s.name == "delete" {
			w.add(Delete, LevelSensitive, "", "deletes files of the archive")
		}
		if (s.name == "m" || s.long && isOneOf("m mo mov move", s.name)) && c.name == "zip" || s.name == "sdel" {
			w.add(Delete, LevelSensitive, "", "moves the files into the archive")
		}
	}
	for _, a := range c.args {
		if a.text == "-sdel" || a.text == "-df" {
			w.add(Delete, LevelSensitive, "", "moves the files into the archive")
		}
	}
}

func unzip(w *walker, c cmd) {
	o := parseOptions(c.args, "d x P", false)
	if o.has("l", "t", "v", "Z", "p", "c") {
		w.out.decoded = true
		return
	}
	into := field{text: "."}
	if d := o.values("d"); len(d) > 0 {
		into = d[0]
	}
	for _, f := range o.after(2) {
		if c.name == "unrar" && strings.HasSuffix(f.text, "/") {
			into = f
		}
	}
	w.noteForeignArchives(o.operands)
	w.writes(into, "unpacks into")
	w.note(into)
	if o.has(":") {
		w.add(Write, LevelSensitive, "", "unpacks to any place that the archive names")
	}
}

func compress(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("gzip.options"), false)
	if strings.HasPrefix(c.name, "un") || strings.HasPrefix(c.name, "gun") || strings.HasPrefix(c.name, "bun") || o.has("d", "decompress", "uncompress") {
		w.out.decoded = true
	}
	if w.in.any || o.has("c", "stdout", "to-stdout") {
		w.passOnFiltered()
	}
	if o.has("c", "stdout", "to-stdout", "t", "test", "l", "list") {
		return
	}
	for _, f := range o.operands {
		w.writes(f, "replaces")
	}
	w.outputs(o.values("o"))
}

func archive(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("archive.options"), false)
	for _, v := range o.values("rsh-command", "to-command") {
		w.add(Exec, LevelAlways, v.text, c.name+" runs "+v.text)
	}
	if c.name == "cpio" && (o.has("i", "extract") || o.has("p", "pass-through")) || c.name == "pax" && o.has("r") {
		w.writes(field{text: "."}, "unpacks into")
		return
	}
	if c.name == "ar" && len(o.operands) > 1 {
		w.outputs(o.operands[1:2])
	}
	w.outputs(o.values("F", "O", "file"))
	w.passOnFiltered()
}
