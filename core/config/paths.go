package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Paths are the places of one profile. Only Ensure touches the disk.
type Paths struct {
	Home        string // HERMES_HOME, or its profiles/<name>
	Root        string // HERMES_HOME, whatever the profile
	Profile     string // "" for the home itself
	ConfigFile  string
	EnvFile     string // secrets
	DB          string // conversations; never state.db, which is the Python program's
	LogDir      string
	LogFile     string
	CrashDir    string
	AuditDir    string // what the agent did, one file a month
	CacheDir    string
	SpillDir    string // full output of tools whose result was cut
	ModelsFile  string // vendors, models and aliases of the person's own
	FetchedFile string // the list of models that was fetched
	RestsFile   string // which keys and models rest for a rate limit
	HistoryFile string // prompts, one JSON string a line
	ThemesDir   string
	SkillsDir   string
}

var profileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// DefaultProfile is the name of the home itself.
const DefaultProfile = "default"

// CheckProfileName says what is wrong with the name of a profile.
func CheckProfileName(name string) error {
	if !profileName().MatchString(name) {
		return fmt.Errorf("profile %q: a name has letters, digits, dot, dash and underscore only", name)
	}
	return nil
}

// ActiveProfileFile holds the name of the profile that is used when none is named. The Python
// program has the same one.
func ActiveProfileFile(home string) string { return filepath.Join(home, "active_profile") }

// ActiveProfile is the profile of a home that is used when none is named; "" for the home itself.
func ActiveProfile(home string) string {
	data, err := os.ReadFile(ActiveProfileFile(home))
	name := strings.TrimSpace(string(data))
	if err != nil || name == DefaultProfile || CheckProfileName(name) != nil {
		return ""
	}
	return name
}

// NewPaths returns the places below home, or below its profiles/<profile>.
func NewPaths(home, profile string) (Paths, error) {
	if home == "" {
		return Paths{}, errors.New("no home folder: set HERMES_HOME to a folder for settings and conversations")
	}
	abs, err := filepath.Abs(home)
	if err != nil {
		return Paths{}, fmt.Errorf("home folder %s: %w", home, err)
	}
	root := abs
	if profile == DefaultProfile {
		profile = ""
	}
	if profile != "" {
		if err := CheckProfileName(profile); err != nil {
			return Paths{}, err
		}
		abs = filepath.Join(abs, "profiles", profile)
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{abs}, parts...)...) }
	return Paths{
		Home: abs, Root: root, Profile: profile,
		ConfigFile: in("config.yaml"), EnvFile: in(".env"), DB: in("workbench.db"),
		LogDir: in("logs"), LogFile: in("logs", "workbench.log"), CrashDir: in("logs", "crashes"), AuditDir: in("logs", "audit"),
		CacheDir: in("cache"), SpillDir: in("cache", "spill"),
		ModelsFile: in("models.yaml"), FetchedFile: in("models.fetched.json"), RestsFile: in("cache", "rests.json"),
		HistoryFile: in("workbench_history.jsonl"), ThemesDir: in("themes"), SkillsDir: in("skills"),
	}, nil
}

// Ensure makes the folders that the program writes to, readable by the owner only.
func (p Paths) Ensure() error {
	for _, dir := range []string{p.Home, p.LogDir, p.CrashDir, p.CacheDir, p.SpillDir, p.ThemesDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder %s: %w (set HERMES_HOME to a folder you may write to)", dir, err)
		}
	}
	return nil
}
