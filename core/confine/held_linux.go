package confine

import (
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// held are the paths of a project that are mounted over themselves.
type held []mount

type mount struct {
	path string
	open bool   // it can be written in: only its place is fixed
	id   string // device and number
}

// heldPlaces are what is fixed and the folders around it, which could be moved away else. A link in
// the project may lead anywhere: what is outside of the project gets no mount, or it would be
// shown, and the folder around it be writable.
func (p Policy) heldPlaces() (out held) {
	project, err := filepath.EvalSymlinks(p.Project)
	if err != nil || statProgram() == "" {
		return nil
	}
	for _, path := range Existing(p.protectedPlaces()) {
		if path == project || !Under(path, project) {
			continue
		}
		if up := filepath.Dir(path); up != project {
			out = out.withPath(up, true)
		}
		out = out.withPath(path, false)
	}
	return out
}

func (h held) withPath(path string, open bool) held {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return h
	}
	return append(h, mount{path, open, strconv.FormatUint(uint64(st.Dev), 10) + ":" + strconv.FormatUint(st.Ino, 10)}) //nolint:unconvert // its type differs between systems
}

// checkScript is what the command is started by, inside: it looks whether the mounts are of what
// was looked at. A command that still runs in the background could have put a link there meanwhile,
// and bubblewrap follows it.
func (h held) checkScript() []string {
	if len(h) == 0 {
		return nil
	}
	const script = `n=$1 stat=$2; shift 2
while [ "$n" -gt 0 ]; do
	[ "$("$stat" -c %d:%i "$1")" = "$2" ] || { echo "hermes: $1 changed while the sandbox was made, so nothing was run; try again" >&2; exit 126; }
	shift 2; n=$((n-1))
done
exec "$@"`
	out := []string{"/bin/sh", "-c", script, "sh", strconv.Itoa(len(h)), statProgram()}
	for _, m := range h {
		out = append(out, m.path, m.id)
	}
	return out
}

// statProgram is the system's own: one in PATH may be the project's.
func statProgram() string {
	for _, path := range []string{"/usr/bin/stat", "/bin/stat"} {
		if unix.Access(path, unix.X_OK) == nil {
			return path
		}
	}
	return ""
}
