package store

import (
	"bufio"
	"io"
	"os"
	"strings"

	"hermes/core/realpath"
)

// networkFS reports whether path lies on a file system without the shared memory that a write-ahead
// log needs.
func networkFS(path string) (fsType string, network bool) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", false
	}
	defer f.Close()
	fsType = fsTypeOf(f, path)
	return fsType, isNetwork(fsType)
}

// fsTypeOf finds the innermost mount that holds path.
func fsTypeOf(mountinfo io.Reader, path string) (fsType string) {
	best := -1
	in := bufio.NewScanner(mountinfo)
	for in.Scan() {
		head, tail, ok := strings.Cut(in.Text(), " - ")
		fields, kind := strings.Fields(head), strings.Fields(tail)
		if !ok || len(fields) < 5 || len(kind) == 0 {
			continue
		}
		dir := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`).Replace(fields[4])
		if realpath.Within(path, dir) && len(dir) >= best {
			best, fsType = len(dir), kind[0]
		}
	}
	return fsType
}
