package config

import (
	"strings"

	"hermes/core/childenv"
)

// plainSetting reports whether a variable of .env is a setting rather than a secret: to hide an
// address or the name of a model wherever they stand would hide half of what is said. When in doubt
// it is a secret.
func plainSetting(name, value string) bool {
	if childenv.LooksSecret(name) {
		return false
	}
	if _, rest, ok := strings.Cut(value, "://"); ok {
		return !strings.ContainsAny(rest, "@?#") && len(rest) < 80
	}
	if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~/") {
		return true
	}
	for _, end := range []string{"MODEL", "REGION", "HOST", "PORT", "PATH", "DIR", "HOME", "LEVEL", "BACKEND", "PROVIDER", "LANG", "TZ", "TIMEZONE"} {
		if name == end || strings.HasSuffix(name, "_"+end) {
			return len(value) < 40
		}
	}
	return false
}

// plainServerVariable reports whether a variable of a server of tools is a setting, such as the
// path of its file.
func plainServerVariable(key, value string) bool {
	above, name, ok := strings.Cut(strings.TrimPrefix(key, ofServers), ".env.")
	return ok && above != "" && strings.HasPrefix(key, ofServers) && plainSetting(name, value)
}

// plainVariable reports whether a dotted key is a variable of a back end that no name makes a
// secret. Each is masked where settings are shown, but to hide "--no-sandbox" or "production"
// wherever a command prints it would make its output useless.
func plainVariable(key string) bool {
	i := strings.LastIndexByte(key, '.')
	if i < 0 || !strings.HasPrefix(key, "terminal.") {
		return false
	}
	above, name := key[:i], key[i+1:]
	return (strings.HasSuffix(above, ".env") || strings.HasSuffix(above, ".docker_env")) && !childenv.LooksSecret(name)
}
