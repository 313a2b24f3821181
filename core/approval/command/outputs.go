package command

import "strings"

// optionFiles asks about files outside of the project that an option names for what a program
// writes, whichever program it is: logs, reports, traces. Programs with a language of their own in
// place of options are left to themselves.
func (w *walker) optionFiles(c cmd) {
	if isOneOf("find gfind test [ [[ grep egrep fgrep rg ag ack git set shopt ssh scp sftp mount ps lsof ls echo printf sed expr tmux screen docker podman kubectl", c.name) {
		return
	}
	for i, a := range c.args {
		name, value, has := strings.Cut(a.text, "=")
		switch {
		case a.text == "--":
			return
		case !strings.HasPrefix(name, "-"):
			continue
		case has:
			w.optionFile(strings.TrimLeft(name, "-"), partOf(a, value))
		case i+1 < len(c.args) && !strings.HasPrefix(c.args[i+1].text, "-"):
			w.optionFile(strings.TrimLeft(name, "-"), c.args[i+1])
		case len(a.text) > 3 && (a.text[1] == 'o' || a.text[1] == 'O') && (a.text[2] == '/' || a.text[2] == '~'):
			w.optionFile("o", partOf(a, a.text[2:]))
		}
	}
}

func (w *walker) optionFile(name string, v field) {
	if !isOneOf(wordList("outputs.options"), name) || v.dyn && strings.HasPrefix(v.text, unknown) || v.text == "-" {
		return
	}
	if p := w.placeOf(v); p.kind != placeProject && p.kind != placeTemp && p.kind != placeUnknown {
		w.addWrite(v, "writes")
	}
}

// decodedArguments asks about words that only decoding or the network shows: they may be options.
func (w *walker) decodedArguments(c cmd) {
	if isOneOf("echo printf test [ [[ cat head tail wc grep egrep fgrep ls stat file cut tr export local declare return exit seq sleep expr jq base64 md5sum sha256sum diff cmp xargs sh bash eval", c.name) {
		return
	}
	for _, a := range c.args {
		if a.dyn && strings.HasPrefix(a.text, unknown) && (a.from.decoded || a.from.net) {
			w.addEffect(Exec, LevelSensitive, c.name, "an argument of "+c.name+" is known only when it runs: it is decoded or fetched")
			return
		}
	}
}
