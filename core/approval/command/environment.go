package command

import "strings"

// alwaysExported reports whether a variable is in the environment already, so that setting it is enough.
func alwaysExported(name string) bool {
	switch name {
	case "PATH", "PS0", "PS1", "PS2", "LD_PRELOAD", "LD_LIBRARY_PATH", "IFS", "PROMPT_COMMAND", "PS4", "BASH_ENV", "ENV", "HISTFILE", "HISTSIZE", "HOME", "PAGER", "EDITOR", "SHELL":
		return true
	default:
		return false
	}
}

// setting is a variable that a program gets: some make it run other code, or hide what it did.
func (w *walker) setting(name string, f field) {
	switch v := f.text; {
	case name == "PATH":
		w.searchPath(f)
	case one(loaders, name), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "GIT_CONFIG"), strings.HasPrefix(name, "BASH_FUNC_"), strings.HasPrefix(name, "LD_"):
		if name == "LD_LIBRARY_PATH" && w.ours(f) {
			return
		}
		w.add(Exec, LevelAlways, name, "the variable "+name+" makes programs run other code")
	case one(hooks, name):
		if v == "" || one("cat less more true : vi vim nano echo less\\ -R /bin/true /bin/cat", v) {
			return
		}
		w.inner(f)
		w.add(Exec, LevelAlways, name, "the variable "+name+" makes programs run "+v)
	case one("NODE_OPTIONS GOFLAGS RUSTFLAGS MAKEFLAGS JAVA_OPTS MAVEN_OPTS PYTEST_ADDOPTS", name):
		w.toolOptions(name, v)
	case one("PYTHONPATH NODE_PATH GOPATH CLASSPATH RUBYLIB PERL5LIB PERLLIB", name):
		if !w.ours(f) {
			w.add(Exec, LevelAlways, name, "the variable "+name+" makes programs load code from "+strings.ReplaceAll(v, unknown, "…"))
		}
	case one("CC CXX CPP LD AR AS FC HOSTCC", name):
		w.compiler(name, f)
	case one("PS0 PS1 PS2 PS3", name):
		if strings.ContainsAny(v, "`") || strings.Contains(v, "$(") {
			w.inner(field{text: ": \"" + strings.ReplaceAll(v, `"`, `\"`) + "\""})
			w.add(Exec, LevelAlways, name, "the prompt of the shell runs a command")
		}
	case one("HISTFILE HISTSIZE HISTFILESIZE HISTCONTROL HISTIGNORE SAVEHIST", name):
		w.add(History, LevelSensitive, name, "it keeps the shell from writing its history")
	case one(reroutes, name):
		w.add(NetOut, LevelSensitive, name, "the variable "+name+" sends what programs say to "+strings.ReplaceAll(v, unknown, "…"))
	default:
		w.toolSetting(name, f)
	}
}

// toolSetting is a variable of one tool, or one that says where tools keep their settings.
func (w *walker) toolSetting(name string, f field) {
	switch v := f.text; {
	case name == "LESS":
		if strings.ContainsAny(v, "+!|") || strings.Contains(v, "lesskey") {
			w.add(Exec, LevelAlways, name, "the variable LESS gives less commands, which can run programs")
		}
	case strings.HasPrefix(name, "CARGO_TARGET_") && (strings.HasSuffix(name, "_RUNNER") || strings.HasSuffix(name, "_LINKER")), strings.HasPrefix(name, "CARGO_ALIAS_"):
		w.compiler(name, f)
	case strings.HasPrefix(name, "CGO_"):
		w.toolOptions(name, v)
	case one("HOME XDG_CONFIG_HOME GIT_DIR GIT_WORK_TREE GNUPGHOME CARGO_HOME GOROOT GOENV PIP_CONFIG_FILE UV_CONFIG_FILE DOCKER_CONFIG NPM_CONFIG_USERCONFIG npm_config_userconfig", name):
		if p := w.place(f); p.kind != placeProject && (p.kind != placeTemp || !one("HOME XDG_CONFIG_HOME GNUPGHOME CARGO_HOME DOCKER_CONFIG", name)) {
			w.add(Exec, LevelSensitive, name, "programs take their settings from "+strings.ReplaceAll(v, unknown, "…"))
		}
	}
}

// compiler is a variable that names a tool of builds: one of the system or of the project, and no shell.
func (w *walker) compiler(name string, f field) {
	words := strings.Fields(f.text)
	if len(words) == 0 {
		return
	}
	first := part(f, words[0])
	p := w.place(first)
	if base := pathBase(first.text); one("sh bash dash zsh python python3 perl node ruby eval curl wget nc", base) ||
		strings.Contains(first.text, "/") && p.kind != placeProject && p.kind != placeSystem || strings.ContainsAny(f.text, ";|&`$") && !f.dyn {
		w.add(Exec, LevelAlways, name, "the variable "+name+" makes builds run "+f.text)
	}
}

// toolOptions are options that a tool takes from its environment.
func (w *walker) toolOptions(name, v string) {
	for _, bad := range []string{"require", "import", "loader", "-r ", "toolexec", "-exec", "linker", "eval", "javaagent", "OnError", "SHELL", "-p ", "-e ", "inspect", "extld", "-fplugin", "-wrapper", "-specs", "-f/", "-f ", "--file", "--eval", "RUNNER"} {
		if strings.Contains(v, bad) {
			w.add(Exec, LevelAlways, name, "the variable "+name+" makes programs run other code")
			return
		}
	}
}

// Variables that load code, name a program to run, or say where data goes.
const (
	loaders = `MAKEFILES GOCACHEPROG RUSTDOC NPM_CONFIG_SCRIPT_SHELL BASH_ENV ENV PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONUSERBASE PYTHONWARNINGS PERL5OPT PERL5DB RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GCONV_PATH LOCPATH
		NLSPATH TERMINFO RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC CARGO_BUILD_RUSTC_WRAPPER PS4 PROMPT_COMMAND PROMPT_DIRTRIM TAR_OPTIONS RIPGREP_CONFIG_PATH GIT_TEMPLATE_DIR
		GIT_EXEC_PATH OPENSSL_CONF GIO_EXTRA_MODULES QT_PLUGIN_PATH VIMINIT EXINIT MYVIMRC LUA_INIT SQLITE_HISTORY GTK_MODULES AWKLIBPATH ZDOTDIR NODE_EXTRA_CA_CERTS_ MALLOC_ PHPRC PHP_INI_SCAN_DIR
		npm_config_script_shell npm_config_node_options GCC_EXEC_PREFIX COMPILER_PATH CMAKE_C_COMPILER_LAUNCHER SSH_SK_PROVIDER KRB5_CONFIG`
	hooks = `PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS LESSOPEN
		LESSCLOSE BROWSER SHELL MAKESHELL KUBE_EDITOR FCEDIT SYSTEMD_PAGER DIFFPROG RSYNC_RSH CVS_RSH SVN_SSH DELTA_PAGER BAT_PAGER AWS_PAGER GH_PAGER GH_EDITOR PSQL_EDITOR PSQL_PAGER HGEDITOR SVN_EDITOR`
	reroutes = `DOCKER_HOST KUBECONFIG AWS_ENDPOINT_URL PIP_INDEX_URL PIP_EXTRA_INDEX_URL npm_config_registry NPM_CONFIG_REGISTRY GOPROXY GONOSUMDB GONOSUMCHECK GOFLAGS_ GOINSECURE UV_INDEX_URL
		http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy SSLKEYLOGFILE ANTHROPIC_BASE_URL OPENAI_BASE_URL OPENAI_API_BASE CARGO_REGISTRIES_CRATES_IO_INDEX`
)

// ours reports whether every part of a list of folders is in the project or the system's own.
func (w *walker) ours(f field) bool {
	for p := range strings.SplitSeq(f.text, ":") {
		if p == "" || strings.Trim(p, unknown) == "" {
			continue
		}
		at := w.place(field{text: p, dyn: strings.Contains(p, unknown)})
		if at.kind != placeProject && (at.kind != placeSystem || strings.Contains(p, unknown)) {
			return false
		}
	}
	return true
}

func (w *walker) searchPath(f field) {
	for p := range strings.SplitSeq(f.text, ":") {
		if strings.Trim(p, unknown) == "" && p != "" {
			continue // the old one
		}
		at := w.place(field{text: p, dyn: strings.Contains(p, unknown)})
		switch {
		case p == "" || p == ".":
		case at.kind == placeSystem && !strings.Contains(p, unknown), toolFolder(p + "/"):
			continue
		case at.kind == placeHome || at.kind == placeStartup:
			continue // ~/go/bin, ~/.local/bin: the person's own
		}
		w.add(Exec, LevelAlways, "PATH", "programs are first looked for in "+strings.ReplaceAll(p, unknown, "…"))
	}
}
