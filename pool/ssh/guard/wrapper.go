package guard

import (
	"path"
	"slices"
	"strings"
)

// started is what a command starts.
type started struct {
	commands    [][]word
	scripts     []script
	transparent bool // it does nothing itself: only what it starts counts
	privileged  bool // it starts that as somebody else
}

// script is a text that a shell runs, and its arguments: "$@".
type script struct {
	text string
	args []word
}

// wrapper is a program that runs its arguments.
type wrapper struct {
	valued     string   // letters of options whose value is the next argument
	long       []string // long options with a value of their own
	skip       int      // arguments of its own before the command
	assigns    bool     // NAME=value before the command
	privileged bool
}

// wrappers lists them by name.
func wrappers() map[string]wrapper {
	return map[string]wrapper{
		"env":    {valued: "uC", long: []string{"--unset", "--chdir"}, assigns: true},
		"nohup":  {},
		"nice":   {valued: "n", long: []string{"--adjustment"}},
		"ionice": {valued: "cn", long: []string{"--class", "--classdata"}},
		"chrt":   {valued: "TPD", skip: 1}, "taskset": {skip: 1},
		"timeout": {valued: "ks", long: []string{"--kill-after", "--signal"}, skip: 1},
		"time":    {valued: "fo", long: []string{"--format", "--output"}},
		"stdbuf":  {valued: "ioe", long: []string{"--input", "--output", "--error"}},
		"setsid":  {}, "command": {}, "builtin": {}, "busybox": {}, "toybox": {},
		"exec":  {valued: "a"},
		"xargs": {valued: "nIPLdEsa", long: []string{"--max-args", "--max-procs", "--max-lines", "--delimiter", "--max-chars", "--arg-file", "--replace", "--process-slot-var"}},
		"sudo":  {valued: "ughpCDRTUrt", long: []string{"--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--role", "--type"}, assigns: true, privileged: true},
		"doas":  {valued: "uC", privileged: true}, "pkexec": {long: []string{"--user"}, privileged: true},
		"chroot":  {long: []string{"--userspec", "--groups"}, skip: 1, privileged: true},
		"runuser": {valued: "ugGw", privileged: true},
		"unshare": {valued: "SGRw", privileged: true}, "nsenter": {valued: "tSGrw", privileged: true},
		"setpriv": {privileged: true}, "systemd-run": {valued: "puMHE", long: []string{"--unit", "--property", "--uid", "--gid"}, privileged: true},
	}
}

// unwrap says what a command starts.
func unwrap(argv []word) (started, error) {
	name := path.Base(argv[0].text)
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish":
		return shell(argv, false)
	case "su":
		return shell(argv, true)
	case "eval":
		return evaluated(argv)
	case "find":
		return found(argv), nil
	case "trap":
		return trapped(argv)
	case "watch", "script", "ssh", "parallel", "flock", "strace", "ltrace", "gdb", "entr":
		return started{}, nil // judged by its own name: what it starts is its own affair
	}
	w, ok := wrappers()[name]
	if !ok {
		return started{}, nil
	}
	return w.unwrap(argv)
}

func (w wrapper) unwrap(argv []word) (started, error) {
	rest := argv[1:]
	for len(rest) > 0 {
		arg := rest[0].text
		if arg == "--" {
			rest = rest[1:]
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			break
		}
		n, err := w.option(argv, rest)
		if err != nil {
			return started{}, err
		}
		rest = rest[min(n, len(rest)):]
	}
	for w.assigns && len(rest) > 0 && strings.Contains(rest[0].text, "=") {
		if name, _, _ := strings.Cut(rest[0].text, "="); decisive(name) || strings.ContainsRune(name, unknown) {
			return started{}, refuse("%q sets %s, which decides what a name starts", show(argv), name)
		}
		rest = rest[1:]
	}
	rest = rest[min(w.skip, len(rest)):]
	if len(rest) == 0 { // it lists or says something; exec alone only redirects
		return started{privileged: w.privileged, transparent: argv[0].text == "exec" && len(argv) == 1}, nil
	}
	if path.Base(argv[0].text) == "xargs" {
		rest = fed(argv[1:len(argv)-len(rest)], rest)
	}
	return started{commands: [][]word{rest}, privileged: w.privileged, transparent: !w.privileged}, nil
}

// splitString is an option of env, which may be shortened.
const splitString = "--split-string"

// option says how many arguments an option of the wrapper takes, itself among them.
func (w wrapper) option(argv, rest []word) (int, error) {
	arg := rest[0].text
	switch {
	case !rest[0].known():
		return 0, refuse("an option of %q is only known when it runs", show(argv))
	case strings.HasPrefix(arg, "--"):
		if name, _, _ := strings.Cut(arg, "="); len(name) > 2 && path.Base(argv[0].text) == "env" && strings.HasPrefix(splitString, name) {
			return 0, refuse("%q splits a text into a command, which the lists cannot judge", show(argv))
		}
		if slices.Contains(w.long, arg) {
			return 2, nil
		}
		return 1, nil
	}
	for i, c := range arg[1:] {
		if path.Base(argv[0].text) == "env" && c == 'S' {
			return 0, refuse("%q splits a text into a command, which the lists cannot judge", show(argv))
		}
		if strings.ContainsRune(w.valued, c) {
			if i == len(arg)-2 {
				return 2, nil
			}
			return 1, nil // the value is in the same argument
		}
	}
	return 1, nil
}

// fed marks where xargs puts what it reads: behind the command, or where a text given by an option stands.
func fed(options, command []word) []word {
	mark := ""
	for i, o := range options {
		switch {
		case o.text == "-I" && i+1 < len(options):
			mark = options[i+1].text
		case strings.HasPrefix(o.text, "-I"):
			mark = o.text[2:]
		case strings.HasPrefix(o.text, "-i"), strings.HasPrefix(o.text, "--replace"):
			mark = "{}"
		}
	}
	if mark == "" {
		return append(slices.Clone(command), word{text: string(unknown), source: "..."})
	}
	return filled(command, mark)
}

// filled makes every word unknown that holds mark.
func filled(command []word, mark string) []word {
	out := slices.Clone(command)
	for i, w := range out {
		if strings.Contains(w.text, mark) {
			out[i].text = strings.ReplaceAll(w.text, mark, string(unknown))
		}
	}
	return out
}

// shell reads sh -c 'text'. A shell that reads a file or its input is a program like others.
func shell(argv []word, privileged bool) (started, error) {
	in := started{privileged: privileged}
	for i := 1; i < len(argv); i++ {
		arg := argv[i]
		switch {
		case !arg.known():
			return in, refuse("an argument of %q is only known when it runs", show(argv))
		case arg.text == "--command" && i+1 < len(argv):
			return in.text(argv, argv[i+1], nil)
		case strings.HasPrefix(arg.text, "--command="):
			return in.text(argv, word{text: strings.TrimPrefix(arg.text, "--command="), source: arg.source}, nil)
		case arg.text == "-o" || arg.text == "+o" || arg.text == "-O" || arg.text == "+O" || arg.text == "--rcfile" || arg.text == "--init-file":
			i++
		case strings.HasPrefix(arg.text, "--"):
		case len(arg.text) > 1 && (arg.text[0] == '-' || arg.text[0] == '+'):
			if strings.Contains(arg.text, "c") {
				return in.after(argv, i+1)
			}
		case !privileged:
			return in, nil // a file
		}
	}
	return in, nil
}

// after reads the text that follows -c, behind more options.
func (in started) after(argv []word, i int) (started, error) {
	for ; i < len(argv); i++ {
		if a := argv[i].text; len(a) < 2 || (a[0] != '-' && a[0] != '+') {
			return in.text(argv, argv[i], argv[min(i+2, len(argv)):]) // between them is a name
		}
	}
	return in, nil
}

func (in started) text(argv []word, w word, args []word) (started, error) {
	if !w.known() {
		return in, refuse("the text that %q runs is only known when it runs", show(argv))
	}
	in.scripts, in.transparent = []script{{w.text, args}}, !in.privileged
	return in, nil
}

func evaluated(argv []word) (started, error) {
	texts := make([]string, 0, len(argv))
	for _, w := range argv[1:] {
		if !w.known() {
			return started{}, refuse("the text that %q runs is only known when it runs", show(argv))
		}
		texts = append(texts, w.text)
	}
	return started{scripts: []script{{text: strings.Join(texts, " ")}}, transparent: true}, nil
}

func trapped(argv []word) (started, error) {
	if len(argv) < 2 || strings.HasPrefix(argv[1].text, "-") {
		return started{transparent: true}, nil
	}
	if !argv[1].known() {
		return started{}, refuse("the text that %q runs is only known when it runs", show(argv))
	}
	return started{scripts: []script{{text: argv[1].text}}, transparent: true}, nil
}

// found reads find ... -exec command ;
func found(argv []word) (in started) {
	for i := 1; i < len(argv); i++ {
		switch argv[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(argv) && argv[end].text != ";" && argv[end].text != "+" {
				end++
			}
			if end > i+1 {
				in.commands = append(in.commands, filled(argv[i+1:end], "{}"))
			}
			i = end
		}
	}
	return in
}

// harmless says that a command is a builtin that starts nothing.
func harmless(argv []word) bool {
	switch argv[0].text {
	case "cd", "pwd", ":", "true", "false", "exit", "return", "break", "continue", "shift", "test", "[", "echo", "printf", "wait", "read",
		"unset", "umask", "jobs", "times", "getopts", "set", "type", "pushd", "popd", "dirs":
		return true
	}
	return false
}

// shielded refuses a builtin that sets a variable that decides what a name starts: read PATH, printf -v PATH.
func shielded(argv []word) error {
	switch argv[0].text {
	case "read", "printf", "getopts", "unset":
	default:
		return nil
	}
	for _, w := range argv[1:] {
		if decisive(w.text) {
			return refuse("%q sets %s, which decides what an allowed name starts", show(argv), w.text)
		}
	}
	return nil
}
