package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Engines of containers mount and unmount all the time, below these folders. bubblewrap looks at
// each mount that it binds once more, and gives up when one has gone meanwhile.
func containerEngineFolders() []string {
	out := []string{
		"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet",
		"/run/docker", "/run/containerd", "/run/containers", "/run/netns",
	}
	run := "/run/user/" + strconv.Itoa(os.Geteuid())
	for _, name := range []string{"docker", "dockerd-rootless", "containerd-rootless", "containers", "netns"} {
		out = append(out, filepath.Join(run, name))
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, name := range []string{"docker", "containers", "containerd"} {
			out = append(out, filepath.Join(home, ".local/share", name))
		}
	}
	return Existing(out)
}

// engineFolders are those of engines in which something is mounted now.
func engineFolders() []string {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var out []string
	all := containerEngineFolders()
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		for _, dir := range all {
			if at := fields[4]; at != dir && Under(at, dir) && !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		}
	}
	return out
}

// rootBut binds the file system without some folders, which are empty then: bubblewrap binds a
// folder with all that is mounted in it, so the folders around them are made anew, of what is in
// them.
func rootBut(without []string) []string {
	if len(without) == 0 {
		return []string{"--ro-bind", "/", "/"}
	}
	return bindBut(nil, "/", without)
}

func bindBut(out []string, dir string, without []string) []string {
	if slices.Contains(without, dir) {
		return append(out, "--dir", dir)
	}
	around := slices.ContainsFunc(without, func(w string) bool { return Under(w, dir) })
	entries, err := os.ReadDir(dir)
	if !around || err != nil {
		return append(out, "--ro-bind-try", dir, dir)
	}
	if dir != "/" {
		out = append(out, "--dir", dir)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch to, err := os.Readlink(path); {
		case path == "/proc" || path == "/dev": // they come of their own
		case e.Type()&fs.ModeSymlink == 0:
			out = bindBut(out, path, without)
		case err == nil:
			out = append(out, "--symlink", to, path)
		}
	}
	return out
}
