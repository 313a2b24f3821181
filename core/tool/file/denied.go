package file

import (
	"os"
	"path/filepath"
	"strings"
)

// denied is a list of places with one reason: folders with all that is in them, or single files.
type denied struct {
	why   string
	file  bool
	paths []string
}

func systemWrites() []denied {
	return []denied{
		{why: "system configuration", paths: []string{"etc", "private/etc", "boot", "efi", "usr/lib/systemd", "lib/systemd", "usr/local/lib/systemd", "usr/local/etc"}},
		{why: "the kernel's own files", paths: []string{"proc", "sys", "dev"}},
		{why: "the system's programs and libraries", paths: []string{
			"bin", "sbin", "lib", "lib32", "lib64", "usr/bin", "usr/sbin", "usr/lib", "usr/lib32", "usr/lib64", "usr/libexec", "usr/local/bin", "usr/local/sbin", "System",
		}},
		{why: "what the system runs by itself", paths: []string{
			"var/spool/cron", "var/spool/at", "var/spool/anacron", "var/spool/incron", "var/at", "usr/lib/cron", "run/systemd", "var/lib/systemd",
			"Library/LaunchAgents", "Library/LaunchDaemons", "Library/StartupItems",
		}},
		{why: "the container engine's own", file: true, paths: []string{
			"var/run/docker.sock", "run/docker.sock", "run/podman/podman.sock", "var/run/podman/podman.sock",
			"run/containerd/containerd.sock", "run/crio/crio.sock", "run/buildkit/buildkitd.sock",
		}},
		{why: "the container engine's own", paths: []string{"var/lib/docker", "var/lib/containers", "var/lib/containerd"}},
	}
}

func systemReads() []denied {
	return []denied{
		{why: "password hashes", file: true, paths: []string{"etc/shadow", "etc/shadow-", "etc/gshadow", "etc/gshadow-", "etc/master.passwd"}},
		{why: "keys of this machine", paths: []string{"etc/ssl/private", "etc/NetworkManager/system-connections", "etc/wireguard"}},
	}
}

// credentialPaths are neither read nor written.
func credentialPaths() []denied {
	return []denied{
		{why: "keys", paths: []string{".gnupg", ".password-store", ".local/share/keyrings", "Library/Keychains", ".config/age", ".config/sops"}},
		{why: "credentials", paths: []string{".config/gcloud", ".azure", ".oci", ".config/doctl", ".config/op", ".config/hub", ".config/rclone"}},
		{why: "credentials", file: true, paths: []string{
			".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials", ".config/git/credentials",
			".aws/credentials", ".docker/config.json", ".config/containers/auth.json", ".kube/config", ".config/gh/hosts.yml", ".config/glab-cli/config.yml",
			".boto", ".s3cfg", ".vault-token", ".terraform.d/credentials.tfrc.json", ".terraformrc", ".cargo/credentials", ".cargo/credentials.toml",
			".gem/credentials", ".composer/auth.json", ".config/composer/auth.json", ".m2/settings-security.xml", ".databrickscfg", ".snowsql/config",
			".config/hcloud/cli.toml", ".fly/config.yml", ".huggingface/token", ".cache/huggingface/token", ".kaggle/kaggle.json",
		}},
	}
}

// homeWrites may be read, but what stands in them runs by itself or says what may come in.
func homeWrites() []denied {
	return []denied{
		{why: "keys", paths: []string{".ssh"}},
		{why: "credentials", paths: []string{".aws", ".kube", ".docker"}},
		{why: "a startup file of the shell or the session", file: true, paths: []string{
			".profile", ".bash_profile", ".bash_login", ".bash_logout", ".bashrc", ".bash_aliases", ".zshenv", ".zprofile", ".zshrc", ".zlogin", ".zlogout",
			".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".pam_environment", ".environment", ".xinitrc", ".xprofile",
			".xsession", ".xsessionrc", ".xserverrc", ".config/fish/config.fish", ".config/starship.toml", ".rhosts", ".shosts", ".forward", ".procmailrc",
		}},
		{why: "what starts by itself", paths: []string{
			".config/systemd", ".local/share/systemd", ".config/autostart", ".config/environment.d", ".config/fish/conf.d", ".config/fish/functions",
			".config/plasma-workspace", ".config/upstart", "Library/LaunchAgents", ".local/share/dbus-1/services", ".config/cron",
		}},
		{why: "git's own settings, which can run programs", file: true, paths: []string{".gitconfig", ".config/git/config", ".config/git/attributes"}},
		{why: "git's own settings, which can run programs", paths: []string{".config/git/hooks", ".git-templates"}},
		{why: "the container engine's socket", file: true, paths: []string{".docker/run/docker.sock", ".colima/default/docker.sock"}},
	}
}

// gitInternals reports a path inside of a repository's own folder: a hook or a setting there runs
// with the next git command. The list of what is ignored is a text like any other.
func gitInternals(path string, far bool) (why string, hit bool) {
	const reason = "git's own files; use git commands to change them"
	parts := strings.Split(path, "/")
	for i, name := range parts {
		if !strings.EqualFold(name, ".git") { // also .GIT: the file system may not care
			continue
		}
		rest := strings.Join(parts[i+1:], "/")
		return reason, rest != "info/exclude"
	}
	if far { // whether a folder is a repository cannot be seen from here
		return "", false
	}
	name := filepath.Base(path)
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); name, dir = filepath.Base(dir), filepath.Dir(dir) {
		switch name {
		case "hooks", "config", "config.worktree", "info", "HEAD", "objects", "refs", "packed-refs":
			if bareRepository(dir) {
				return reason, true
			}
		}
	}
	return "", false
}

// bareRepository reports whether dir is a repository without a work tree, or the folder of one that
// stands elsewhere.
func bareRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
