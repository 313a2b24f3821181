package execcode

import (
	"os"
	"path/filepath"

	"hermes/core/confine"
)

// policy is what a script may do to this machine, where the kernel can hold it to that.
type policy struct {
	temp    string   // its own folder
	write   []string // folders that it may change; of a strict one, that is temp alone
	hide    []string // files and folders that it may not even read
	network bool
}

// policyOf is the policy for a script that starts in dir and has the temporary folder temp.
func (e *Engine) policyOf(mode Mode, dir, temp string) policy {
	p := policy{temp: resolvePath(temp), hide: e.secretPlaces()}
	if mode == Strict {
		return p
	}
	p.network = true
	p.write = append(p.write, resolvePath(dir), resolvePath(os.TempDir()), "/tmp", "/var/tmp") // temp lies in the second
	if cache, err := os.UserCacheDir(); err == nil {
		p.write = append(p.write, resolvePath(cache))
	}
	return p
}

func resolvePath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// secretPlaces are places of secrets: ours, and those of the person's own programs.
func (e *Engine) secretPlaces() []string {
	out := confine.Private()
	for _, home := range e.o.Homes {
		if home != "" {
			out = append(out, home)
		}
	}
	return out
}
