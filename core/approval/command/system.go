package command

import "strings"

func judgeMultiplexer(w *walker, c cmd) {
	if !strings.Contains(joinedText(c.args), "#(") && isOneOf(wordList("tmux.shows"), firstOperand(c)) || len(c.args) > 0 && isOneOf("-V -ls -list -v", c.args[0].text) {
		return
	}
	w.addEffect(Exec, LevelSensitive, firstOperand(c), c.name+" runs commands that outlive this one")
}

// askFullDisk asks about dd that nothing ends but a full disk.
func (w *walker) askFullDisk(text string) {
	from := strings.Contains(text, " if=/dev/zero ") || strings.Contains(text, " if=/dev/urandom ") || strings.Contains(text, " if=/dev/random ")
	if from && !strings.Contains(text, " count=") && strings.Contains(text, " of=") && !strings.Contains(text, " of=/dev/") {
		w.addEffect(System, LevelSensitive, "", "it writes until the disk is full")
	}
}

// overText reports whether what dd writes has the name of something that people write, and not that
// of an image.
func overText(args []field) bool {
	for _, a := range args {
		if v, ok := strings.CutPrefix(a.text, "of="); ok && !strings.HasPrefix(v, "/tmp/") && !strings.HasPrefix(v, "/dev/") {
			base := pathBase(v)
			at := strings.LastIndexByte(base, '.')
			return at > 0 && !isOneOf(".img .bin .iso .dat .raw .tmp .file .test .blob .qcow2 .disk .data .out", base[at:])
		}
	}
	return false
}

func makeFilesystem(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("mkfs.options"), false)
	if o.hasOption("help", "version", "V", "n", "no-act") && len(o.operands) == 0 {
		return
	}
	if c.name == "wipefs" && !o.hasOption("a", "all", "o") || c.name == "badblocks" && !o.hasOption("w", "n") || c.name == "sgdisk" && o.hasOption("p") {
		return
	}
	w.addEffect(Device, levelNever, firstOperand(c), "it makes a file system over what is there")
}

func copyDisk(w *walker, c cmd) {
	empty := false
	defer func() {
		if empty {
			w.addEffect(Delete, LevelSensitive, joinedText(c.args), "empties a file")
		}
	}()
	for _, a := range c.args {
		name, v, _ := strings.Cut(a.text, "=")
		f := partOf(a, v)
		switch name {
		case "of":
			if p := w.addWrite(f, "writes"); p.kind == placeProject {
				w.noteWritten(f)
			}
			w.judgeReplacement(f, false)
			if f.dyn {
				w.addEffect(Device, LevelAlways, f.text, "which device or file it writes over is known only when it runs")
			}
		case "if":
			w.addRead(f, true)
			empty = empty || v == "/dev/null" || isOneOf("/dev/zero /dev/urandom /dev/random", v) && overText(c.args)
		case "count":
			empty = empty || v == "0" && !strings.Contains(joinedText(c.args), "seek=")
		}
	}
	w.askFullDisk(joinedText(c.args) + " ")
	w.passOnFiltered()
}
