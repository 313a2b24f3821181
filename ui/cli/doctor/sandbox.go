package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"hermes/core/confine"
)

// checkSandbox tries what commands on this machine would be kept in by.
func (x *examination) checkSandbox(context.Context) {
	mode, asked := confine.Mode(x.settingOf("terminal.sandbox")), confine.Engine(x.settingOf("terminal.sandbox_engine"))
	off := mode == "" || mode == confine.Off
	if off {
		mode = confine.Strict
	}
	engine, err := confine.Choose(mode, asked)
	switch {
	case off && err == nil:
		x.addFinding("sandbox", good, "terminal.sandbox: project or strict turns it on", "off: commands on this machine may do what you may; %s can keep them in%s", engineName(engine), otherEngine(engine))
	case off:
		x.addFinding("sandbox", good, "", "off: commands on this machine may do what you may; nothing here can keep them in: %v", err)
	case err != nil:
		x.addFinding("sandbox", bad, "use a container, or set terminal.sandbox: off", "%s is asked for and not to be had, so no command runs on this machine: %v", mode, err)
	default:
		x.addFinding("sandbox", good, "", "%s: %s keep commands on this machine in%s", mode, engineName(engine), otherEngine(engine))
	}
}

// settingOf is the value of one key in effect.
func (x *examination) settingOf(key string) string {
	for _, v := range x.start.Config.Values() {
		if v.Key == key {
			return v.Value
		}
	}
	return ""
}

func engineName(e confine.Engine) string {
	if e == confine.Bubblewrap {
		return "bubblewrap and seccomp"
	}
	return "Landlock and seccomp"
}

// otherEngine says what there is beside the engine that is used.
func otherEngine(used confine.Engine) string {
	second, name := confine.Bubblewrap, "bubblewrap"
	if used == confine.Bubblewrap {
		second, name = confine.OfKernel, "Landlock"
	}
	if err := confine.Probe(second); err != nil {
		return fmt.Sprintf(" (%s: %v)", name, err)
	}
	return fmt.Sprintf(" (%s would work too: terminal.sandbox_engine)", name)
}

// checkPermissions looks for files of ours that others can read.
func (x *examination) checkPermissions(context.Context) {
	home, loose, first := x.start.Config.Paths().Home, 0, ""
	_ = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what we cannot see is not looked at
		}
		if d.IsDir() && (d.Name() == "skills" || d.Name() == "checkpoints") {
			return fs.SkipDir // no secrets, or thousands of files below a closed folder
		}
		info, err := d.Info()
		if err == nil && path != home && d.Type().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			if loose++; first == "" {
				first = path
			}
		}
		return nil
	})
	if loose > 0 {
		x.addFinding("files", warn, "chmod -R go= "+home, "%d files in the data folder can be read by others, %s first", loose, first)
	}
}
