package config

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Options say where the settings come from.
type Options struct {
	Home    string            // wins over HERMES_HOME; empty: HERMES_HOME, else ~/.hermes
	Profile string            // profiles/<name> below the home; empty: HERMES_PROFILE, else the home itself
	Env     []string          // "NAME=value" each, as os.Environ gives it
	Flags   map[string]string // dotted key -> value, from the command line: {"model.default": "gpt-5"}
}

var errDotenv = errors.New("not NAME=value lines")

// Load reads the settings. It always returns a usable Config; what is wrong is in the problems, in
// file order. It makes no file and no folder.
func Load(o Options) (*Config, []Problem) {
	c := Defaults()
	c.env = newEnvironment(o.Env)
	c.places, c.unused = map[string]place{}, map[string]place{}
	var problems []Problem
	paths, err := o.Paths()
	if err != nil {
		problems = append(problems, Problem{File: FromFlags, Why: err.Error()})
		c.markUnread("", problems[0]) // whose settings these are nobody knows
		paths, _ = NewPaths(c.env.homeFolder(), "")
	}
	c.paths = paths
	file, found := c.readDotenv(paths.EnvFile)
	c.env.file = file
	problems = append(problems, found...)

	problems = append(problems, c.addLayer(".env", func(d *decoder) {
		d.overlayVariables(func(name string) string { return file[name] })
	})...)
	problems = append(problems, c.loadServers()...)
	problems = append(problems, c.loadFile()...)
	problems = append(problems, c.addLayer("environment", func(d *decoder) {
		d.overlayVariables(func(name string) string { return c.env.process[name] })
	})...)
	problems = append(problems, c.addLayer(FromFlags, func(d *decoder) {
		for _, key := range sortedKeys(o.Flags) {
			d.assignText(key, o.Flags[key], key)
		}
	})...)
	problems = append(problems, c.checkTogether()...)
	problems = append(problems, c.checkFallbacks()...)
	problems = append(problems, c.checkHooks()...)
	c.restrictDoubted(problems)
	return c, problems
}

// Paths returns the places that these options lead to.
func (o Options) Paths() (Paths, error) {
	env := newEnvironment(o.Env)
	home, profile := o.Home, o.Profile
	if home == "" {
		home = env.homeFolder()
	}
	if profile == "" {
		profile = env.process["HERMES_PROFILE"]
	}
	if profile == "" {
		profile = ActiveProfile(home)
	}
	return NewPaths(home, profile)
}

func (c *Config) loadFile() []Problem {
	const name = "config.yaml"
	data, problems := readFile(c.paths.ConfigFile, name)
	if data != nil && len(bytes.Trim(data, " \t\r\n\x00")) == 0 {
		problems = append(problems, Problem{File: name, Why: "is empty", Fix: "write the settings again, or remove the file if there are to be none"})
		data = nil
	}
	if data == nil {
		c.broken = len(problems) > 0
		for _, p := range problems {
			c.markUnread("", p)
		}
		return problems
	}
	p := parse(name, data)
	c.broken = p.broken
	garbled := len(problems) > 0
	problems = append(problems, p.problems...)
	if len(p.roots) > 0 {
		problems = append(problems, c.addLayer(name, func(d *decoder) {
			d.garbled = garbled
			d.decodeSection(d.root, joinRoots(p.roots), "")
		})...)
	}
	for _, lost := range p.lost {
		c.markUnread(lost.path, lost.why)
		c.doubtServer(lost.path, lost.why)
	}
	return problems
}

// joinRoots is one mapping of several: a key may be written twice in blocks that were read apart.
func joinRoots(roots []*yaml.Node) *yaml.Node {
	if len(roots) == 1 {
		return roots[0]
	}
	all := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	for _, root := range roots {
		all.Content = append(all.Content, root.Content...)
	}
	return all
}

// addLayer lets take put values into c under the name of their source. What it sets is no longer in
// doubt because of an earlier one.
func (c *Config) addLayer(file string, take func(*decoder)) []Problem {
	d := &decoder{file: file, env: c.env, root: reflect.ValueOf(c).Elem(), places: c.places, unused: c.unused, set: map[string]bool{}}
	take(d)
	for path := range d.set {
		delete(c.doubts, path)
	}
	for _, one := range d.doubts {
		c.markUnread(one.path, one.why)
		c.doubtServer(one.path, one.why)
	}
	return d.problems
}

// checkTogether looks at settings that must fit together. A value that does not fit is kept where
// giving it up would be less safe: a misspelt back end must not become this machine.
func (c *Config) checkTogether() []Problem {
	name := c.Terminal.Backend
	if _, named := c.Terminal.Backends[name]; named || name == "" || slices.Contains(kindNames(), name) {
		return c.checkPlaces()
	}
	where := c.places["terminal.backend"]
	p := Problem{File: where.file, Line: where.line, Column: where.column, Text: name, Why: "no such back end:"}
	p.Fix = choiceHint(name, slices.Concat(kindNames(), sortedKeys(c.Terminal.Backends)))
	return append([]Problem{p}, c.checkPlaces()...)
}

// Paths returns the places of the profile.
func (c *Config) Paths() Paths { return c.paths }

// Secret returns a variable from the environment, else from .env. The value belongs into one
// request header and nowhere else: not into logs, not into the environment of a child.
func (c *Config) Secret(name string) (string, bool) { return c.env.lookupSet(name) }

// Exported reports whether a variable comes from the environment that the program was started in,
// which counts more than .env.
func (c *Config) Exported(name string) bool { return c.env.process[name] != "" }

// Secrets returns every value that must not be shown: all of .env but plain settings, of each
// profile, and keys written in config.yaml.
func (c *Config) Secrets() []string {
	out := c.neighbourSecrets()
	for _, name := range sortedKeys(c.env.file) {
		if v := c.env.file[name]; !plainSetting(name, v) {
			out = append(out, v)
		}
	}
	for _, p := range c.Providers {
		out = append(out, p.Keys...)
	}
	for _, v := range c.Values() {
		if v.secret != "" && !plainVariable(v.Key) && !plainServerVariable(v.Key, v.secret) {
			out = append(out, v.secret, strings.TrimPrefix(v.secret, "Bearer "))
		}
	}
	return out
}

// Origin tells where the value of a dotted key came from: "default", ".env", "config.yaml:12",
// "environment", "flags".
func (c *Config) Origin(key string) string {
	if p, ok := c.places[key]; ok {
		return p.String()
	}
	return "default"
}
