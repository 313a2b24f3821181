package config

import (
	"os"
	"path/filepath"
	"strings"
)

// Options say where the settings come from.
type Options struct {
	Home    string            // wins over HERMES_HOME; empty: HERMES_HOME, else ~/.hermes
	Profile string            // profiles/<name> below the home; empty: HERMES_PROFILE, else the home itself
	Env     []string          // "NAME=value" each, as os.Environ gives it
	Flags   map[string]string // dotted key -> value, from the command line: {"model.default": "gpt-5"}
}

// Load reads the settings. It always returns a usable Config; what is wrong is in the problems, in file order.
// It makes no file and no folder.
func Load(o Options) (*Config, []Problem) {
	c := Defaults()
	c.origins = map[string]string{}
	c.env = newEnvironment(o.Env)
	var problems []Problem
	paths, err := o.paths(c.env)
	if err != nil {
		problems = append(problems, Problem{File: "flags", Why: err.Error()})
		paths, _ = NewPaths(c.env.home(), "")
	}
	c.paths = paths
	return c, problems
}

func (o Options) paths(env environment) (Paths, error) {
	home, profile := o.Home, o.Profile
	if home == "" {
		home = env.home()
	}
	if profile == "" {
		profile = env.process["HERMES_PROFILE"]
	}
	return NewPaths(home, profile)
}

// environment is what ${VAR} and Secret look at: the process first, then .env.
type environment struct{ process, file map[string]string }

func newEnvironment(list []string) environment {
	e := environment{process: make(map[string]string, len(list)), file: map[string]string{}}
	for _, pair := range list {
		if name, value, ok := strings.Cut(pair, "="); ok {
			e.process[name] = value
		}
	}
	return e
}

// home returns HERMES_HOME, else ~/.hermes, else "" when there is no home folder at all.
func (e environment) home() string {
	if h := e.process["HERMES_HOME"]; h != "" {
		return h
	}
	h := e.process["HOME"]
	if h == "" {
		h, _ = os.UserHomeDir()
	}
	if h == "" {
		return ""
	}
	return filepath.Join(h, ".hermes")
}

func (e environment) lookup(name string) (string, bool) {
	if v, ok := e.process[name]; ok && v != "" {
		return v, true
	}
	v, ok := e.file[name]
	return v, ok && v != ""
}

// Paths returns the places of the profile.
func (c *Config) Paths() Paths { return c.paths }

// Secret returns a variable from the environment, else from .env. The value belongs into one request header and
// nowhere else: not into logs, not into the environment of a child.
func (c *Config) Secret(name string) (string, bool) { return c.env.lookup(name) }

// Origin tells where the value of a dotted key came from: "default", ".env", "config.yaml:12", "environment", "flag".
func (c *Config) Origin(key string) string {
	if o, ok := c.origins[key]; ok {
		return o
	}
	return "default"
}
