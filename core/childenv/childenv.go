// Package childenv decides which environment variables a program of the model's may see: a script
// (Rule), a command on the person's own machine (Commands), and what we start for ourselves (Own).
// It imports core/secret only.
//
// The rule for scripts, in this order:
//
//  1. A credential of a model provider never passes, whoever asks.
//  2. What was let through by its exact name passes (terminal.env_passthrough, a loaded skill).
//  3. A name that holds KEY, TOKEN, SECRET, PASSWORD, CREDENTIAL, PASSWD or AUTH, anywhere and in
//     any case, does not pass.
//  4. Of the rest only a short list of exact names, LC_* and the XDG_* directories pass. Names, not
//     beginnings of names: PATH passes, PATH_TO_DATABASE does not.
package childenv

import (
	"slices"
	"strings"
)

// Rule is what is special about one person's settings. The zero Rule is ready.
type Rule struct {
	Passthrough []string // exact names that pass although the list has them not
	Credentials []string // exact names of providers' credentials: never
}

// secretMarks mark a secret. Order is that of the documentation: the first one found is the reason.
func secretMarks() []string {
	return []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "PASSWD", "AUTH"}
}

func isSafe(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "LANG", "LANGUAGE", "TERM", "COLORTERM", "TZ", "TMPDIR",
		"HOSTNAME", "EDITOR", "PYTHONPATH", "VIRTUAL_ENV":
		return true
	}
	return len(name) > len("LC_") && strings.HasPrefix(name, "LC_") || isXDGDirectory(name)
}

// isXDGDirectory reports whether name is one of the XDG directories: XDG_CONFIG_HOME,
// XDG_DATA_DIRS, XDG_RUNTIME_DIR, ...
func isXDGDirectory(name string) bool {
	rest, ok := strings.CutPrefix(name, "XDG_")
	if !ok {
		return false
	}
	for _, end := range []string{"_HOME", "_DIR", "_DIRS"} {
		if what, ok := strings.CutSuffix(rest, end); ok && what != "" {
			return true
		}
	}
	return false
}

// LooksSecret reports whether a variable's name says that its value is a secret: one of the words
// in it, or a short one of its own between underscores (MYSQL_PWD, SMTP_PASS, GITLAB_PAT).
func LooksSecret(name string) bool {
	upper := strings.ToUpper(name)
	if slices.ContainsFunc(secretMarks(), func(w string) bool { return strings.Contains(upper, w) }) {
		return true
	}
	if upper == "PWD" || upper == "OLDPWD" {
		return false
	}
	for part := range strings.SplitSeq(upper, "_") {
		switch part {
		case "PASS", "PASSPHRASE", "SSHPASS", "PWD", "PW", "PAT", "COOKIE", "COOKIES":
			return true
		}
	}
	return false
}

// Own returns what of env a program gets that we start for ourselves, not for the model (ripgrep,
// git, ssh -G, a credential helper): the person's environment without what looks like a secret.
// Places of agents and a person's name are none.
func Own(env []string) []string {
	out := make([]string, 0, len(env))
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		if ok && name != "HERMES_HOME" && (!LooksSecret(name) || isHarmless(name)) {
			out = append(out, kv)
		}
	}
	return out
}

func isHarmless(name string) bool {
	switch name {
	case "SSH_AUTH_SOCK", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "XAUTHORITY", "XKB_DEFAULT_LAYOUT",
		"TOKENIZERS_PARALLELISM", "KEYTIMEOUT", "KEYMAP", "KEYBOARD_LAYOUT", "GNOME_KEYRING_CONTROL", "PASSWORD_STORE_DIR", "STARSHIP_SESSION_KEY":
		return true
	}
	return false
}

// Judge says whether a variable passes, and why in a few words.
func (r Rule) Judge(name string) (pass bool, reason string) {
	if slices.Contains(r.Credentials, name) || slices.Contains(knownCredentials(), strings.ToUpper(name)) {
		return false, "a model provider's credential, which nothing lets through"
	}
	if slices.Contains(r.Passthrough, name) {
		return true, "let through by its name: terminal.env_passthrough or a loaded skill"
	}
	upper := strings.ToUpper(name)
	for _, w := range secretMarks() {
		if strings.Contains(upper, w) {
			return false, "the name contains " + w
		}
	}
	switch {
	case name == "":
		return false, "no variable has an empty name"
	case strings.ContainsAny(name, "=\x00"):
		return false, "no variable has such a name"
	case isSafe(name):
		return true, "on the list of safe variables"
	}
	return false, "not on the list of safe variables"
}

// Clean returns the variables of env ("NAME=value") that pass, and how many did not.
func (r Rule) Clean(env []string) (kept []string, dropped int) {
	kept = make([]string, 0, 24)
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		if pass, _ := r.Judge(name); !ok || !pass {
			dropped++
			continue
		}
		kept = append(kept, kv)
	}
	return kept, dropped
}

// knownCredentials are those of providers that may not be configured here: a skill must not get at
// them by naming them.
func knownCredentials() []string {
	return []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_TOKEN", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "OPENROUTER_API_KEY",
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "XAI_API_KEY", "TOGETHER_API_KEY",
		"FIREWORKS_API_KEY", "CEREBRAS_API_KEY", "MOONSHOT_API_KEY", "KIMI_API_KEY", "MINIMAX_API_KEY", "GLM_API_KEY", "ZAI_API_KEY",
		"ZHIPUAI_API_KEY", "DASHSCOPE_API_KEY", "NOUS_API_KEY", "HF_TOKEN", "HUGGINGFACE_API_KEY", "AZURE_OPENAI_API_KEY",
		"NVIDIA_API_KEY", "COHERE_API_KEY", "PERPLEXITY_API_KEY", "OLLAMA_API_KEY", "SILICONFLOW_API_KEY", "ARK_API_KEY",
	}
}
