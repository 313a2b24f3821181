package config

import (
	"os"
	"path/filepath"
	"strings"

	"hermes/core/ownhome"
)

// neighbourSecrets returns the values of every .env that belongs to Hermes beside the one in use:
// of the data folder, of its profiles, and of the usual folder of the person. A file that cannot be
// read as settings gives what stands behind its equal signs.
func (c *Config) neighbourSecrets() []string {
	userHome := c.env.process["HOME"]
	if userHome == "" {
		userHome, _ = os.UserHomeDir() // without one there is no usual folder
	}
	var out []string
	seen := map[string]bool{c.paths.EnvFile: true}
	for _, home := range ownhome.Homes(c.paths.Home, userHome) {
		files, _ := filepath.Glob(filepath.Join(home, "profiles", "*", ".env")) // a name with [ in it finds nothing
		for _, f := range append(files, filepath.Join(home, ".env")) {
			if seen[f] {
				continue
			}
			seen[f] = true
			for name, v := range dotenvValues(f) {
				if !plainSetting(name, v) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// dotenvValues are the variables of a .env; of one that is broken, line by line.
func dotenvValues(path string) map[string]string {
	raw, problems := readFile(path, ".env")
	if len(problems) > 0 {
		return nil
	}
	values, err := parseDotenv(raw)
	if err == nil {
		return values
	}
	values = map[string]string{}
	for line := range strings.Lines(string(raw)) {
		name, v, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if ok {
			values[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return values
}
