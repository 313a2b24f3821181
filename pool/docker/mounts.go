package docker

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/mount"

	"hermes/pool"
)

// mountRules decide what of the host may be seen in a container.
type mountRules struct {
	home  string // the user's
	agent string // Hermes' own data folder
	local bool   // the engine sees the files that we see, so that links and sockets can be looked at
}

// closedDirs are folders that nothing may be mounted from, from their parents neither. Below them
// only what open names.
func (g mountRules) closedDirs() []string {
	list := []string{"/etc", "/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/var/lib/docker", "/var/lib/containerd", "/var/lib/containers"}
	for _, name := range []string{".ssh", ".aws", ".gnupg", ".docker", ".kube", ".config/gcloud", ".netrc", ".hermes"} {
		if g.home != "" {
			list = append(list, filepath.Join(g.home, name))
		}
	}
	if g.agent != "" {
		list = append(list, g.agent)
	}
	return list
}

// openDirs are folders below closed ones that may be mounted: caches are made for it, certificates
// are public.
func (g mountRules) openDirs(readOnly bool) []string {
	list := g.cacheDirs()
	if readOnly {
		list = append(list, "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/localtime", "/etc/timezone")
	}
	return list
}

// cacheDirs are the folders that are made for containers: that of the data folder, and of one where
// it usually is, which settings name whatever the data folder is called.
func (g mountRules) cacheDirs() (list []string) {
	if g.agent != "" {
		list = append(list, filepath.Join(g.agent, "cache"))
	}
	if g.home != "" {
		list = append(list, filepath.Join(g.home, ".hermes", "cache"))
	}
	return list
}

var volumeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]+$`) })

// checkMounts checks what is to be mounted, and returns it as the engine wants it.
func (g mountRules) checkMounts(specs []pool.Mount) ([]mount.Mount, error) {
	var out []mount.Mount
	seen := map[string]bool{}
	for _, m := range specs {
		one, err := g.checkMount(m)
		if err == nil && seen[one.Target] {
			err = errors.New("something else is mounted there already")
		}
		if err != nil {
			return nil, fmt.Errorf("extra_mounts %s:%s: %w", m.Source, m.Target, err)
		}
		seen[one.Target] = true
		out = append(out, one)
	}
	return out, nil
}

func (g mountRules) checkMount(m pool.Mount) (mount.Mount, error) {
	target, err := checkTarget(m.Target)
	if err != nil {
		return mount.Mount{}, err
	}
	out := mount.Mount{Type: mount.TypeVolume, Source: m.Source, Target: target, ReadOnly: m.ReadOnly}
	if volumeName().MatchString(m.Source) {
		return out, nil
	}
	out.Type = mount.TypeBind // unlike a -v it fails when the source is missing, instead of making an empty folder
	out.Source, err = g.resolveSource(m.Source, m.ReadOnly)
	return out, err
}

// checkTarget returns the path inside of the container.
func checkTarget(target string) (string, error) {
	if !path.IsAbs(target) {
		return "", fmt.Errorf("the path in the container, %q, must begin with /", target)
	}
	clean := path.Clean(target)
	if clean == "/" {
		return "", errors.New("the root of the container cannot be replaced")
	}
	for _, dir := range []string{"/proc", "/sys", "/dev", runnerDir} {
		if isWithin(clean, dir) {
			return "", fmt.Errorf("%s in the container is not for mounts", dir)
		}
	}
	return clean, nil
}

// resolveSource returns the path on the host, without links: what is checked is what is mounted.
func (g mountRules) resolveSource(src string, readOnly bool) (string, error) {
	if rest, ok := strings.CutPrefix(src, "~"); ok && (rest == "" || rest[0] == '/') && g.home != "" {
		src = g.home + rest
	}
	if !filepath.IsAbs(src) {
		return "", fmt.Errorf("%q is neither a path that begins with / or ~/ nor the name of a volume", src)
	}
	clean := filepath.Clean(src)
	if err := g.refuseSource(clean, readOnly); err != nil {
		return "", err
	}
	if !g.local {
		return clean, nil // the files are on the engine's machine, which says itself when something is missing
	}
	if slices.ContainsFunc(g.cacheDirs(), func(dir string) bool { return isWithin(clean, dir) }) {
		_ = os.MkdirAll(clean, 0o700) // ours, and made for this; what goes wrong is said below
	}
	real, err := filepath.EvalSymlinks(clean)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist on this machine: create it first", clean)
	}
	if err != nil {
		return "", err
	}
	if err := g.refuseSource(real, readOnly); err != nil {
		return "", fmt.Errorf("it leads to %s: %w", real, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is a socket, a pipe or a device: who holds it can leave the container", real)
	}
	return real, nil
}

// refuseSource says why a path may not be mounted.
func (g mountRules) refuseSource(src string, readOnly bool) error {
	if src == "/" || (g.home != "" && (src == g.home || src == resolveLinks(g.home))) {
		return fmt.Errorf("%s is everything: mount the folder that is needed", src)
	}
	if slices.Contains([]string{"docker.sock", "podman.sock", "containerd.sock", "crio.sock"}, filepath.Base(src)) {
		return fmt.Errorf("%s is an engine's socket: who holds it owns the machine", src)
	}
	for _, dir := range g.openDirs(readOnly) {
		if isWithin(src, dir) || isWithin(src, resolveLinks(dir)) {
			return nil
		}
	}
	for _, dir := range g.closedDirs() {
		for _, dir := range []string{dir, resolveLinks(dir)} {
			if isWithin(src, dir) || isWithin(dir, src) {
				return fmt.Errorf("%s holds or is part of %s, which no container may see", src, dir)
			}
		}
	}
	return nil
}

// resolveLinks is dir without links; dir itself when it cannot be followed.
func resolveLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// isWithin says whether p is dir or below it. Both are clean.
func isWithin(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}
