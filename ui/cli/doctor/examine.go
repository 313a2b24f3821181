package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"hermes/core"
	"hermes/core/crash"
	"hermes/core/provider"
	"hermes/ui/cli/base"
)

const (
	lowDisk   = 1 << 30 // bytes: below it doctor warns
	emptyDisk = 64 << 20
	lookTime  = 2 * time.Second // for the database
	dialTime  = 300 * time.Millisecond
)

// examination gathers findings; each method looks at one thing and changes nothing.
type examination struct {
	c        *command
	start    base.Start
	findings []finding
}

func (x *examination) addFinding(name string, v verdict, fix, found string, args ...any) {
	x.findings = append(x.findings, finding{Name: name, Verdict: v, Found: fmt.Sprintf(found, args...), Fix: fix})
}

func (x *examination) checkProgram(context.Context) {
	x.addFinding("program", good, "", "%s", x.c.Version())
}

func (x *examination) checkSettings(ctx context.Context) {
	path := x.start.Config.Paths().ConfigFile
	for _, w := range x.c.WrongNames(ctx, x.start.Config) {
		x.addFinding("settings", warn, w.Fix, "%s", w)
	}
	for _, p := range x.start.Problems {
		x.addFinding("settings", bad, "`hermes config edit` opens the file", "%s", p)
	}
	if unused := x.start.Config.WithoutEffect(); len(unused) > 0 {
		var names []string
		for _, s := range unused {
			names = append(names, s.Key)
		}
		verb := "has"
		if len(names) > 1 {
			verb = "have"
		}
		x.addFinding("settings", warn, "`hermes config check` lists each with its line", "%s %s no effect in this version", strings.Join(names, ", "), verb)
	}
	if len(x.start.Problems) > 0 {
		return
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		x.addFinding("settings", good, "", "no %s: everything is as it comes", path)
		return
	}
	x.addFinding("settings", good, "", "%s has no mistakes", path)
}

func (x *examination) checkHome(context.Context) {
	home := x.start.Config.Paths().Home
	info, err := os.Stat(home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.newHome(home)
	case err != nil:
		x.addFinding("home", bad, "set HERMES_HOME to a folder you may use", "%v", err)
	case !info.IsDir():
		x.addFinding("home", bad, "set HERMES_HOME to a folder", "%s is not a folder", home)
	case unix.Access(home, unix.W_OK) != nil:
		x.addFinding("home", bad, "chown it, or set HERMES_HOME to a folder you may write to", "%s cannot be written to", home)
	case info.Mode().Perm()&0o077 != 0:
		x.addFinding("home", warn, "chmod 700 "+home, "%s can be read by others (mode %04o)", home, info.Mode().Perm())
	default:
		x.addFinding("home", good, "", "%s", home)
	}
}

// newHome looks at the nearest folder above that exists.
func (x *examination) newHome(home string) {
	parent := filepath.Dir(home)
	for !base.IsFolder(parent) && parent != filepath.Dir(parent) {
		parent = filepath.Dir(parent)
	}
	if unix.Access(parent, unix.W_OK) != nil {
		x.addFinding("home", bad, "set HERMES_HOME to a folder you may write to", "%s cannot be made: %s is not yours", home, parent)
		return
	}
	x.addFinding("home", good, "", "%s will be made at first use", home)
}

func (x *examination) checkSecrets(context.Context) {
	path := x.start.Config.Paths().EnvFile
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	if info.Mode().Perm()&0o077 != 0 {
		x.addFinding("secrets", bad, "chmod 600 "+path, "%s can be read by others (mode %04o)", path, info.Mode().Perm())
		return
	}
	x.addFinding("secrets", good, "", "%s is readable by you only", path)
}

func (x *examination) checkDatabase(ctx context.Context) {
	if x.c.Program.SQLite != nil {
		x.addFinding("sqlite", good, "", "%s", x.c.Program.SQLite())
	}
	path := x.start.Config.Paths().DB
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	wrong, all := "", false
	if look := x.c.Program.Database; look != nil {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		wrong, all = look(ctx, path)
	}
	switch {
	case wrong != "":
		x.addFinding("database", bad, "`hermes sessions check` repairs it, as the next start does: what can be read is taken over, and the damaged file is kept beside it",
			"%s is damaged: %s", path, base.OneLine(wrong))
	case all:
		x.addFinding("database", good, "", "%s, %s, no damage", path, base.ByteSize(info.Size()))
	default:
		x.addFinding("database", good, "", "%s, %s; `hermes sessions check` examines all of it", path, base.ByteSize(info.Size()))
	}
}

func (x *examination) checkDisk(context.Context) {
	dir := x.start.Config.Paths().Home
	for !base.IsFolder(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return
	}
	free := int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // the types differ between systems
	v, fix := good, ""
	switch {
	case free < emptyDisk:
		v, fix = bad, "make room: conversations cannot be stored"
	case free < lowDisk:
		v, fix = warn, "make room soon"
	}
	x.addFinding("disk", v, fix, "%s free", base.ByteSize(free))
}

func (x *examination) checkTerminal(context.Context) {
	file, ok := x.c.Streams.Out.(*os.File)
	if !ok || !base.IsTerminal(file) {
		x.addFinding("terminal", good, "", "not a terminal now")
		return
	}
	w, h, err := term.GetSize(int(file.Fd()))
	name := x.c.Getenv("TERM")
	switch {
	case name == "" || name == "dumb":
		x.addFinding("terminal", bad, "set TERM to what your terminal is, for example xterm-256color", "TERM is %q", name)
	case err != nil || w < 40 || h < 12:
		x.addFinding("terminal", warn, "the workbench wants 40x12 at least", "%s, %dx%d", name, w, h)
	default:
		x.addFinding("terminal", good, "", "%s, %dx%d, %s", name, w, h, x.colourLevel())
	}
}

// colourLevel tells the colour level as the environment announces it.
func (x *examination) colourLevel() string {
	truecolor := x.c.Getenv("COLORTERM")
	switch {
	case x.c.Getenv("NO_COLOR") != "":
		return "no colours (NO_COLOR)"
	case truecolor == "truecolor" || truecolor == "24bit":
		return "true colours"
	case strings.Contains(x.c.Getenv("TERM"), "256"):
		return "256 colours"
	default:
		return "16 colours"
	}
}

func (x *examination) checkTools(context.Context) {
	for _, tool := range []struct{ name, why string }{
		{"git", "projects are found by their repository"},
		{"rg", "ripgrep makes search_files faster; without it hermes searches itself"},
	} {
		path, err := x.lookPath(tool.name)
		if err != nil {
			x.addFinding(tool.name, warn, tool.why, "not found")
			continue
		}
		x.addFinding(tool.name, good, "", "%s", path)
	}
}

// lookPath searches the PATH of the command's environment.
func (x *examination) lookPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(x.c.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// checkFallbacks says which models stand in for others, with how many keys.
func (x *examination) checkFallbacks(ctx context.Context) {
	for name, n := range core.KeyCounts(x.start.Config) {
		how := cmp.Or(x.start.Config.KeyStrategies[name], string(provider.FillFirst))
		x.addFinding("model", good, "", "%d keys for %s, used by %s", n, name, how)
	}
	var fine []string
	for _, f := range core.CheckFallbacks(ctx, x.start.Config) {
		if f.Err == nil { // else it is among the names of the settings that are wrong
			fine = append(fine, f.Ref)
		}
	}
	if len(fine) > 0 {
		x.addFinding("model", good, "", "when the chosen model cannot answer: %s",
			strings.Join(fine, ", then "))
	}
}

func (x *examination) checkModel(ctx context.Context) {
	cfg := x.start.Config
	keys := x.providerKeys()
	local := localServers(ctx)
	switch {
	case len(keys) > 0:
		x.addFinding("model", good, "", "key in %s", strings.Join(keys, ", "))
	case len(x.serverAddresses()) > 0:
		x.addFinding("model", good, "", "server %s, without a key",
			strings.Join(x.serverAddresses(), ", "))
	case len(local) > 0:
		x.addFinding("model", good, "", "on this machine: %s", strings.Join(local, ", "))
	default:
		x.addFinding("model", warn, "`hermes setup` asks for a provider and a key", "no key and no server was found: hermes starts with offline, which is not a language model")
	}
	for name, p := range cfg.Providers {
		if p.KeyEnv == "" {
			continue
		}
		if _, ok := cfg.Secret(p.KeyEnv); !ok {
			x.addFinding("model", warn, "`hermes config set "+p.KeyEnv+" -` asks for it", "provider %s wants its key in %s, which is not set", name, p.KeyEnv)
		}
	}
}

// providerKeys names the variables that hold a provider's key.
func (x *examination) providerKeys() []string {
	cfg := x.start.Config
	names := []string{"OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", cfg.Model.APIKeyEnv}
	for _, p := range cfg.Providers {
		names = append(names, p.KeyEnv)
	}
	var found []string
	seen := map[string]bool{"": true}
	for _, name := range names {
		if _, ok := cfg.Secret(name); ok && !seen[name] {
			seen[name] = true
			found = append(found, name)
		}
	}
	return found
}

// serverAddresses lists the addresses that the settings and the environment name. A server of one's
// own often wants no key.
func (x *examination) serverAddresses() []string {
	cfg := x.start.Config
	fromEnv, _ := cfg.Secret("OPENAI_BASE_URL")
	addresses := []string{cfg.Model.BaseURL, fromEnv}
	for _, p := range cfg.Providers {
		addresses = append(addresses, p.BaseURL)
	}
	slices.Sort(addresses)
	return slices.DeleteFunc(slices.Compact(addresses), func(address string) bool { return address == "" })
}

// localServers tries the usual ports of model servers on this machine, all at once.
func localServers(ctx context.Context) []string {
	servers := []struct{ name, address string }{
		{"Ollama", "127.0.0.1:11434"}, {"LM Studio", "127.0.0.1:1234"}, {"llama.cpp", "127.0.0.1:8080"},
	}
	up := make([]bool, len(servers))
	var wait sync.WaitGroup
	dialer := net.Dialer{Timeout: dialTime}
	for i, s := range servers {
		wait.Add(1)
		crash.Go("doctor "+s.name, func() {
			defer wait.Done()
			conn, err := dialer.DialContext(ctx, "tcp", s.address)
			if err == nil {
				_ = conn.Close()
				up[i] = true
			}
		})
	}
	wait.Wait()
	var out []string
	for i, s := range servers {
		if up[i] {
			out = append(out, s.name+" ("+s.address+")")
		}
	}
	return out
}
