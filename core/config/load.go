package config

import (
	"errors"
	"reflect"
	"slices"
)

// Options say where the settings come from.
type Options struct {
	Home    string            // wins over HERMES_HOME; empty: HERMES_HOME, else ~/.hermes
	Profile string            // profiles/<name> below the home; empty: HERMES_PROFILE, else the home itself
	Env     []string          // "NAME=value" each, as os.Environ gives it
	Flags   map[string]string // dotted key -> value, from the command line: {"model.default": "gpt-5"}
}

var errDotenv = errors.New("not NAME=value lines")

// Load reads the settings. It always returns a usable Config; what is wrong is in the problems, in file order.
// It makes no file and no folder.
func Load(o Options) (*Config, []Problem) {
	c := Defaults()
	c.env = newEnvironment(o.Env)
	c.places = map[string]place{}
	var problems []Problem
	paths, err := o.Paths()
	if err != nil {
		problems = append(problems, Problem{File: "flags", Why: err.Error()})
		paths, _ = NewPaths(c.env.home(), "")
	}
	c.paths = paths
	file, found := readDotenv(paths.EnvFile)
	c.env.file = file
	problems = append(problems, found...)

	problems = append(problems, c.layer(".env", func(d *decoder) {
		d.overlay(func(name string) string { return file[name] })
	})...)
	problems = append(problems, c.loadFile()...)
	problems = append(problems, c.layer("environment", func(d *decoder) {
		d.overlay(func(name string) string { return c.env.process[name] })
	})...)
	problems = append(problems, c.layer("flags", func(d *decoder) {
		for _, key := range sortedKeys(o.Flags) {
			d.assign(key, o.Flags[key], key)
		}
	})...)
	return c, append(problems, c.check()...)
}

// Paths returns the places that these options lead to.
func (o Options) Paths() (Paths, error) {
	env := newEnvironment(o.Env)
	home, profile := o.Home, o.Profile
	if home == "" {
		home = env.home()
	}
	if profile == "" {
		profile = env.process["HERMES_PROFILE"]
	}
	return NewPaths(home, profile)
}

func (c *Config) loadFile() []Problem {
	data, problems := readFile(c.paths.ConfigFile, "config.yaml")
	if data == nil {
		c.broken = len(problems) > 0
		return problems
	}
	p := parse("config.yaml", data)
	c.broken = p.broken
	problems = append(problems, p.problems...)
	for _, root := range p.roots {
		problems = append(problems, c.layer("config.yaml", func(d *decoder) { d.section(d.root, root, "") })...)
	}
	return problems
}

// layer lets take put values into c under the name of their source.
func (c *Config) layer(file string, take func(*decoder)) []Problem {
	d := &decoder{file: file, env: c.env, root: reflect.ValueOf(c).Elem(), places: c.places}
	take(d)
	return d.problems
}

// check looks at settings that must fit together. A value that does not fit is kept where giving it up would be less safe:
// a misspelt back end must not become this machine.
func (c *Config) check() []Problem {
	name := c.Terminal.Backend
	if _, named := c.Terminal.Backends[name]; named || name == "" || slices.Contains(kinds, name) {
		return c.checkPlaces()
	}
	where := c.places["terminal.backend"]
	p := Problem{File: where.file, Line: where.line, Column: where.column, Text: name, Why: "no such back end:"}
	p.Fix = choiceHint(name, slices.Concat(kinds, sortedKeys(c.Terminal.Backends)))
	return append([]Problem{p}, c.checkPlaces()...)
}

// Paths returns the places of the profile.
func (c *Config) Paths() Paths { return c.paths }

// Secret returns a variable from the environment, else from .env. The value belongs into one request header and
// nowhere else: not into logs, not into the environment of a child.
func (c *Config) Secret(name string) (string, bool) { return c.env.lookup(name) }

// Secrets returns every value that must not be shown: all of .env but plain settings, and keys written in config.yaml.
func (c *Config) Secrets() []string {
	var out []string
	for _, name := range sortedKeys(c.env.file) {
		if v := c.env.file[name]; !plainSetting(name, v) {
			out = append(out, v)
		}
	}
	for _, v := range c.Values() {
		if v.secret != "" && !plainVariable(v.Key) {
			out = append(out, v.secret)
		}
	}
	return out
}

// Origin tells where the value of a dotted key came from: "default", ".env", "config.yaml:12", "environment", "flags".
func (c *Config) Origin(key string) string {
	if p, ok := c.places[key]; ok {
		return p.String()
	}
	return "default"
}
