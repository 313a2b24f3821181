package approval

import (
	"path"
	"slices"
	"strings"
)

const switchesOff = "it switches the machine off"

// programs maps a command to the look at its arguments.
func programs() map[string]func(args []string, depth int) string {
	off := func([]string, int) string { return switchesOff }
	return map[string]func([]string, int) string{
		"rm": remove, "dd": copyDisk, "kill": killAll, "systemctl": systemctl, "init": runLevel, "telinit": runLevel,
		"shutdown": off, "reboot": off, "halt": off, "poweroff": off,
		"sh": nested, "bash": nested, "dash": nested, "zsh": nested, "ksh": nested, "ash": nested,
		"eval": func(args []string, depth int) string { return floor(strings.Join(args, " "), depth+1) },
	}
}

// unwrap drops what only runs another command: sudo -u root, env A=b, nohup, time ...
func unwrap(words []string) []string {
	for len(words) > 0 {
		takesValue, ok := wrappers()[path.Base(words[0])]
		if !ok {
			return words
		}
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			skip := 1
			if slices.Contains(takesValue, words[0]) {
				skip = min(2, len(words))
			}
			words = words[skip:]
		}
	}
	return words
}

// wrappers are commands that run their arguments, with the options of theirs that take a separate value.
func wrappers() map[string][]string {
	return map[string][]string{
		"sudo": {"-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"}, "doas": {"-u", "-C"}, "env": {"-u", "-C", "-S"},
		"nohup": nil, "nice": {"-n"}, "ionice": {"-c", "-n"}, "time": nil, "exec": {"-a"}, "command": nil,
		"builtin": nil, "setsid": nil, "busybox": nil, "xargs": {"-n", "-I", "-P", "-L", "-d"},
	}
}

func remove(args []string, _ int) string {
	recursive := false
	var targets []string
	for i, a := range args {
		switch {
		case a == "--":
			targets = append(targets, args[i+1:]...)
			return removes(recursive, targets)
		case strings.HasPrefix(a, "--"):
			recursive = recursive || a == "--recursive"
		case strings.HasPrefix(a, "-") && len(a) > 1:
			recursive = recursive || strings.ContainsAny(a, "rR")
		default:
			targets = append(targets, a)
		}
	}
	return removes(recursive, targets)
}

func removes(recursive bool, targets []string) string {
	if !recursive {
		return ""
	}
	for _, t := range targets {
		switch clean := path.Clean(strings.TrimSuffix(t, "*")); {
		case t == "" || t == "*":
		case clean == "/" || system(clean):
			return "it deletes the system"
		case clean == "~" || strings.HasPrefix(t, "~") && !strings.Contains(strings.TrimSuffix(clean, "/"), "/"):
			return "it deletes a home"
		case path.Dir(clean) == "/home" || path.Dir(clean) == "/Users":
			return "it deletes a home"
		}
	}
	return ""
}

// system reports whether p is a folder without which a machine does not start, or that holds all homes.
func system(p string) bool {
	switch p {
	case "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/sbin", "/sys", "/usr",
		"/var", "/Users", "/System", "/Library", "/Applications":
		return true
	default:
		return false
	}
}

func copyDisk(args []string, _ int) string {
	for _, a := range args {
		if to, ok := strings.CutPrefix(a, "of="); ok && isDisk(to) {
			return "it writes over a disk device"
		}
	}
	return ""
}

// isDisk reports whether p is a device that is not one of the harmless ones.
func isDisk(p string) bool {
	clean := path.Clean(p)
	name, ok := strings.CutPrefix(clean, "/dev/")
	if !ok {
		return false
	}
	switch name, _, _ = strings.Cut(name, "/"); name {
	case "null", "zero", "full", "stdout", "stderr", "stdin", "tty", "fd", "pts", "shm", "tcp", "udp", "random", "urandom":
		return false
	default:
		return !strings.HasPrefix(name, "tty")
	}
}

// killAll recognises -1 as a process: every process that may be signalled. As the first word it is the signal 1.
func killAll(args []string, _ int) string {
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		skip := 1
		if args[0] == "-s" || args[0] == "-n" {
			skip = min(2, len(args))
		}
		args = args[skip:]
	}
	if slices.Contains(args, "-1") {
		return "it kills every process"
	}
	return ""
}

func systemctl(args []string, _ int) string {
	for _, a := range args {
		switch a {
		case "poweroff", "reboot", "halt", "kexec", "soft-reboot":
			return switchesOff
		}
	}
	return ""
}

func runLevel(args []string, _ int) string {
	if slices.Contains(args, "0") || slices.Contains(args, "6") {
		return switchesOff
	}
	return ""
}

// nested looks into the text of sh -c.
func nested(args []string, depth int) string {
	if text, ok := script(args); ok {
		return floor(text, depth+1)
	}
	return ""
}

// script returns the text of sh -c.
func script(args []string) (text string, ok bool) {
	for i, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}
