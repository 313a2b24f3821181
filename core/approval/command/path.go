package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/realpath"
)

// kind is what a path stands for.
type kind int

const (
	placeProject kind = iota
	placeTemp
	placeStream // /dev/null, /dev/stdout ...
	placeHome   // someone's home, beside what has a name of its own here
	placeOutside
	placeGit // inside of .git
	placeStartup
	placeCredential
	placeOwn // our own data
	placeSystem
	placeDisk
	placeDevice
	placeSocket // of an engine
	placeUnknown
)

// mayHoldWork reports whether a file of this kind may hold somebody's work.
func (k kind) mayHoldWork() bool { return k != placeStream && k != placeTemp && k != placeSocket }

type place struct {
	kind kind
	path string // absolute, links followed
	wild bool   // a wildcard is in it
	top  bool   // it is a home, the root or a folder of the system as a whole
}

// placeOf says what a word means as a path.
func (w *walker) placeOf(f field) place {
	text := f.text
	if f.proc {
		return place{kind: placeStream, path: text}
	}
	at := strings.Index(text, unknown)
	if !path.IsAbs(text) && !w.known && text != "" {
		return place{kind: placeUnknown, path: text}
	}
	abs := realpath.Absolute("", w.dir, text)
	if w.ctx.Local && at < 0 && !strings.HasPrefix(abs, "/dev/") {
		abs = realpath.Of("", w.dir, text)
	}
	abs = w.throughLinks(abs)
	p := place{path: abs, wild: f.glob}
	relative := !path.IsAbs(text) && !strings.Contains(text, "..")
	p.kind = w.classifyPath(abs, relative)
	if f.glob && p.kind <= placeOutside && (secretGlob(abs, w.ctx.Home) || w.ownGlob(abs)) {
		p.kind = placeCredential
	}
	p.top = w.isWholeMachineOrHome(abs, f.glob)
	if at >= 0 && p.kind <= placeOutside {
		p.kind = placeUnknown
	}
	return p
}

// throughLinks is where a path leads when a link of this very line is in it.
func (w *walker) throughLinks(p string) string {
	if len(w.linked) == 0 {
		return p
	}
	for range maxDepth {
		before := p
		for link, to := range w.linked {
			if realpath.Within(p, link) && !realpath.Within(to, link) {
				p = path.Clean(to + strings.TrimPrefix(p, link))
			}
		}
		if p == before {
			break
		}
	}
	return p
}

// secretGlob reports whether a wildcard stands for a file or folder where secrets are kept.
func secretGlob(p, home string) bool {
	if rel := strings.TrimPrefix(strings.TrimPrefix(p, homeOf(p, home)), "/"); rel != p {
		first, _, _ := strings.Cut(rel, "/")
		for _, name := range []string{".ssh", ".aws", ".gnupg", ".kube", ".netrc", ".npmrc", ".azure", ".pgpass", ".pypirc", ".git-credentials", ".bash_history", ".docker"} {
			if ok, err := path.Match(first, name); ok && err == nil && first != name && first[0] == '.' && len(first) > 2 {
				return true
			}
		}
	}
	base := path.Base(p)
	for _, name := range []string{".env", ".netrc", ".npmrc", "id_rsa", "id_ed25519", ".git-credentials"} {
		if ok, err := path.Match(base, name); ok && err == nil && len(base) > 2 && base[0] == name[0] {
			return true
		}
	}
	return false
}

// classifyPath says what an absolute path stands for.
func (w *walker) classifyPath(p string, relative bool) kind {
	base := path.Base(p)
	if strings.HasPrefix(p, "/dev/") || p == "/dev" {
		return deviceKind(p)
	}
	if k := w.namedKind(p, base); k != placeProject {
		return k
	}
	switch {
	case w.ctx.DataDir != "" && realpath.Within(p, w.ctx.DataDir) && !realpath.Within(w.ctx.Project, w.ctx.DataDir):
		return placeOwn
	case w.inProject(p, relative):
		return placeProject
	case realpath.Within(p, "/tmp"), realpath.Within(p, "/var/tmp"), realpath.Within(p, "/private/tmp"):
		return placeTemp
	case systemDir(p):
		return placeSystem
	case homeOf(p, w.ctx.Home) != "":
		return placeHome
	default:
		return placeOutside
	}
}

// inProject takes a project that is a whole home or disk for one only where a path is written from
// inside.
func (w *walker) inProject(p string, relative bool) bool {
	root := w.ctx.Project
	proper := root != "/" && root != w.ctx.Home && root != "/tmp" && root != "/var/tmp" && !topFolder(root)
	return realpath.Within(p, root) && (proper || relative)
}

func deviceKind(p string) kind {
	name := strings.TrimPrefix(p, "/dev/")
	first, _, _ := strings.Cut(name, "/")
	switch first {
	case "null", "zero", "full", "stdout", "stderr", "stdin", "tty", "fd", "random", "urandom", "pts", "tcp", "udp", "ptmx":
		return placeStream
	case "shm":
		return placeTemp
	case "mem", "kmem", "port", "kvm", "input", "snd", "video0", "bus", "fuse", "net", "vhost-net", "hpet", "rtc", "watchdog", "kmsg", "console":
		return placeDevice
	case "/dev":
		return placeDevice
	}
	if strings.HasPrefix(first, "tty") {
		return placeDevice
	}
	return placeDisk
}

// homeOf returns the home that p is in, or "".
func homeOf(p, home string) string {
	switch {
	case home != "" && home != "/" && realpath.Within(p, home):
		return home
	case realpath.Within(p, "/root"):
		return "/root"
	}
	for _, all := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(p, all); ok && rest != "" {
			user, _, _ := strings.Cut(rest, "/")
			return all + user
		}
	}
	return ""
}

func systemDir(p string) bool {
	for _, d := range []string{
		"/etc", "/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/sys", "/proc", "/var", "/opt", "/run", "/srv",
		"/Library", "/System", "/Applications", "/private/etc", "/private/var", "/nix", "/snap", "/efi",
	} {
		if realpath.Within(p, d) {
			return true
		}
	}
	return p == "/"
}

// topFolder reports whether p is a folder without which a machine does not start, or that holds all
// homes.
func topFolder(p string) bool {
	switch p {
	case "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/sbin", "/sys", "/usr",
		"/var", "/Users", "/System", "/Library", "/Applications", "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/local", "/var/lib", "/mnt", "/media":
		return true
	default:
		return false
	}
}

// isWholeMachineOrHome reports whether a path, or all that is directly in it when a wildcard ends
// it, is a machine or a home as a whole.
func (w *walker) isWholeMachineOrHome(p string, glob bool) bool {
	if glob {
		for strings.ContainsAny(path.Base(p), "*?[") && p != "/" {
			p = path.Dir(p)
		}
	}
	return topFolder(p) || p == w.ctx.Home || p == homeOf(p, w.ctx.Home)
}

// namedKind finds the paths that have a meaning of their own, wherever they are.
func (w *walker) namedKind(p, base string) kind {
	home := homeOf(p, w.ctx.Home)
	rel := ""
	if home != "" {
		rel = strings.TrimPrefix(strings.TrimPrefix(p, home), "/")
	}
	switch {
	case w.ownSecret(p):
		return placeCredential
	case strings.HasSuffix(base, ".sock") && engineSocket(base), p == "/var/run/docker", p == "/run/containerd":
		return placeSocket
	case startupName(base), startupSystem(p), strings.Contains(p, "/.husky/"), rel != "" && startupHome(rel):
		return placeStartup
	case credentialName(base), credentialPath(p), rel != "" && credentialHome(rel):
		return placeCredential
	case strings.HasSuffix(p, "/.git") || strings.Contains(p, "/.git/"):
		return placeGit
	default:
		return placeProject
	}
}

func engineSocket(base string) bool {
	switch base {
	case "docker.sock", "containerd.sock", "podman.sock", "crio.sock", "buildkitd.sock", "dockershim.sock", "lxd.sock", "cri-dockerd.sock":
		return true
	default:
		return false
	}
}

func startupName(base string) bool {
	switch base {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".gitconfig",
		"authorized_keys", "authorized_keys2", ".rhosts", ".shosts", ".netrc", ".curlrc", ".wgetrc", ".pythonrc", "sitecustomize.py", "usercustomize.py":
		return base != ".netrc"
	default:
		return false
	}
}

func startupHome(rel string) bool {
	for _, d := range []string{
		".ssh/rc", ".ssh/config", ".ssh/environment", ".config/autostart", ".config/systemd", ".config/environment.d", ".config/fish", ".config/git",
		".config/cron", ".config/nvim", ".local/share/systemd", ".local/bin", "bin", ".hermes", "Library/LaunchAgents", "Library/LaunchDaemons", ".vimrc", ".vim",
		".emacs", ".emacs.d", ".tmux.conf", ".screenrc", ".config/pip", ".pip", ".condarc", ".cargo/config", ".cargo/config.toml", ".config/plasma-workspace",
		".local/share/dbus-1", ".local/share/applications", ".oh-my-zsh", ".claude", ".cursor", ".codex", ".gemini", ".docker/cli-plugins", ".gdbinit", ".Rprofile",
		".config/containers", ".gitattributes", ".githooks", ".irbrc", ".psqlrc", ".sqliterc", ".perldb", ".lldbinit", ".config/kglobalshortcutsrc",
	} {
		if realpath.Within(rel, d) {
			return true
		}
	}
	return false
}

func startupSystem(p string) bool {
	for _, d := range []string{
		"/etc/init.d", "/etc/systemd", "/lib/systemd", "/usr/lib/systemd", "/etc/rc.local", "/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/zsh",
		"/etc/ld.so.preload", "/etc/ld.so.conf.d", "/etc/sudoers", "/etc/sudoers.d", "/var/spool/cron", "/var/spool/at", "/etc/xdg/autostart", "/etc/udev",
		"/Library/LaunchDaemons", "/Library/LaunchAgents", "/etc/pam.d", "/etc/modules", "/etc/environment", "/etc/inittab", "/etc/anacrontab", "/run/systemd",
		"/etc/update-motd.d", "/etc/apt/apt.conf.d", "/etc/NetworkManager/dispatcher.d", "/etc/X11", "/etc/security", "/etc/bashrc", "/etc/zshrc", "/etc/ld.so.conf",
	} {
		if realpath.Within(p, d) {
			return true
		}
	}
	return strings.HasPrefix(p, "/etc/cron") || strings.HasPrefix(p, "/etc/rc")
}

func credentialName(base string) bool {
	switch base {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ed25519_sk", "id_ecdsa_sk", ".netrc", ".git-credentials", ".pypirc", ".pgpass", ".my.cnf", ".vault-token",
		".htpasswd", "credentials.json", "service-account.json", "secrets.yml", "secrets.yaml", "master.key", ".bash_history", ".zsh_history", ".psql_history",
		".mysql_history", ".python_history", ".node_repl_history", "kubeconfig", ".s3cfg", ".boto", ".dockercfg", "wallet.dat", "key3.db", "key4.db", "logins.json":
		return true
	}
	if base == ".env" || strings.HasPrefix(base, ".env.") || base == ".envrc" {
		switch path.Ext(base) {
		case ".example", ".sample", ".template", ".dist", ".defaults", ".schema":
			return false
		}
		return true
	}
	switch path.Ext(base) {
	case ".key", ".p12", ".pfx", ".kdbx", ".jks", ".keystore", ".ppk":
		return true
	case ".pem":
		return strings.Contains(base, "key") || strings.Contains(base, "priv")
	default:
		return false
	}
}

// credentialFolders are the files and folders of a home where secrets are kept.
var credentialFolders = []string{
	".ssh", ".aws", ".gnupg", ".kube", ".docker/config.json", ".config/gcloud", ".azure", ".config/gh", ".npmrc", ".password-store", ".local/share/keyrings", ".mozilla",
	".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", "Library/Keychains", "Library/Cookies",
	"Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "snap/firefox", ".config/doctl", ".config/rclone", ".oci", ".terraform.d", ".cargo/credentials",
	".cargo/credentials.toml", ".gem/credentials", ".config/hub", ".config/op", ".bitcoin", ".ethereum", ".electrum", ".config/heroku", ".thunderbird",
	".pki", ".subversion/auth", ".m2/settings.xml", ".gradle/gradle.properties", ".config/netlify", ".fly", ".Xauthority", ".ICEauthority", ".huggingface", ".cache/huggingface/token",
}

func credentialHome(rel string) bool {
	if realpath.Within(rel, ".ssh") {
		return !strings.HasSuffix(rel, ".pub") && path.Base(rel) != "known_hosts"
	}
	return slices.ContainsFunc(credentialFolders, func(d string) bool { return realpath.Within(rel, d) })
}

func credentialPath(p string) bool {
	switch p {
	case "/etc/shadow", "/etc/gshadow", "/etc/master.passwd", "/etc/security/opasswd", "/etc/krb5.keytab", "/etc/shadow-", "/etc/gshadow-", "/proc/kcore":
		return true
	}
	if realpath.Within(p, "/run/secrets") || realpath.Within(p, "/var/run/secrets") || realpath.Within(p, "/etc/ssl/private") || realpath.Within(p, "/etc/kubernetes") {
		return true
	}
	if strings.HasPrefix(p, "/etc/ssh/") && strings.HasSuffix(p, "_key") {
		return true
	}
	return strings.HasPrefix(p, "/proc/") && (strings.HasSuffix(p, "/environ") || strings.HasSuffix(p, "/mem"))
}

// nameOf is how a sentence calls a path.
func (w *walker) nameOf(f field) string {
	text := strings.ReplaceAll(f.text, unknown, "…")
	switch p := w.placeOf(f); p.kind {
	case placeProject:
		return text + " (in the project)"
	case placeUnknown:
		return text + " (known only when it runs)"
	case placeTemp:
		return text + " (temporary)"
	default:
		if text != p.path && !strings.Contains(p.path, unknown) {
			text += " (" + p.path + ", outside of the project)"
			return text
		}
		return text + " (outside of the project)"
	}
}

// addWrite notes that a command changes or makes a file.
func (w *walker) addWrite(f field, how string) place {
	p := w.placeOf(f)
	name := w.nameOf(f)
	w.namedByData = w.namedByData || f.from.data
	w.rememberChanged(f, p)
	switch p.kind {
	case placeStream:
	case placeProject, placeTemp:
		w.keepEffect(Effect{Class: Write, Level: LevelStandard, Target: f.text, Reason: how + " " + name, Reversible: true})
	case placeDisk:
		w.addEffect(Device, levelNever, f.text, "it writes over the disk device "+f.text)
	case placeDevice:
		w.addEffect(Device, LevelAlways, f.text, "it writes to the device "+f.text)
	case placeStartup:
		w.addEffect(Persist, LevelAlways, f.text, how+" "+name+", which other programs run later")
	case placeGit:
		w.addEffect(Persist, LevelAlways, f.text, how+" "+name+": git runs and trusts what is in there")
	case placeCredential:
		if isDotenv(p.path) && w.inProject(p.path, !filepath.IsAbs(f.text)) && !w.ownSecret(p.path) {
			w.keepEffect(Effect{Class: Write, Level: LevelStandard, Target: f.text, Reason: how + " " + name, Reversible: true})
			return p
		}
		w.addEffect(Credential, LevelAlways, f.text, how+" "+name+", where secrets are kept")
	case placeOwn:
		w.addEffect(Persist, LevelAlways, f.text, how+" "+name+": it belongs to Hermes itself")
	case placeSocket:
		w.addEffect(Privilege, LevelAlways, f.text,
			"it talks to a container engine: that is as good as root")
	case placeSystem:
		w.addEffect(System, LevelSensitive, f.text, how+" "+name+", which belongs to the system")
	case placeUnknown:
		w.addEffect(Write, LevelSensitive, f.text, how+" "+name)
	default:
		w.addEffect(Write, LevelSensitive, f.text, how+" "+name)
	}
	return p
}

func isDotenv(p string) bool { b := path.Base(p); return b == ".env" || strings.HasPrefix(b, ".env.") }

// addRead notes that a command reads a file, when that says anything: keys, devices.
func (w *walker) addRead(f field, sure bool) {
	p := w.placeOf(f)
	switch p.kind {
	case placeCredential:
		w.addEffect(Credential, LevelSensitive, f.text, "reads "+w.nameOf(f)+", where secrets are kept")
		w.out.secret = true
	case placeDisk, placeDevice:
		if sure {
			w.addEffect(Device, LevelAlways, f.text, "reads the device "+f.text)
		}
	case placeSocket:
		w.addEffect(Privilege, LevelAlways, f.text,
			"it talks to a container engine: that is as good as root")
	default:
	}
}

// addRemoval notes a deletion.
func (w *walker) addRemoval(f field, recursive bool) {
	p := w.placeOf(f)
	w.rememberChanged(f, p)
	how := "deletes "
	if recursive {
		how = "deletes recursively "
	}
	switch {
	case recursive && p.top && !w.ctx.Sandboxed, recursive && w.isEmptyVariableSlash(f):
		w.addEffect(Delete, levelNever, f.text, how+f.text+": that is a whole system or home")
	case p.kind == placeDisk || p.kind == placeDevice:
		w.addEffect(Device, LevelAlways, f.text, how+f.text)
	default:
		e := Effect{Class: Delete, Level: LevelSensitive, Target: f.text, Reason: how + w.nameOf(f), Reversible: p.kind == placeProject && isRebuilt(f.text)}
		if recursive && w.ctx.Local && p.kind != placeUnknown && !f.glob {
			e.Folder = p.path
		}
		w.keepEffect(e)
	}
}

// isEmptyVariableSlash reports whether f is a variable that the line never set, with "/" behind it:
// empty, it is the root.
func (w *walker) isEmptyVariableSlash(f field) bool { return f.text == "/*" || f.text == "/" }

// isRebuilt reports whether a folder holds only what a build makes again.
func isRebuilt(p string) bool {
	switch path.Base(strings.TrimSuffix(p, "/")) {
	case "build", "dist", "out", "target", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "coverage", ".next", ".nuxt", ".turbo", ".tox", "htmlcov", ".coverage", ".cache":
		return true
	default:
		return false
	}
}
