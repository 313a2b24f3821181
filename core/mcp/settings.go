package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/config"
)

// Limits of a server that says nothing else.
const (
	defaultStart = 60 * time.Second
	defaultCall  = 300 * time.Second
)

// Settings are one server as the person wrote it.
type Settings struct {
	Name string
	config.MCPServer
	From    string // the file: "config.yaml:12"
	Problem string // why it must not be started as it is written

	// Plugin says that it is the program of one, which is stopped after Tries failures; 0: never.
	Plugin bool
	Tries  int
}

// kindWord is what people call it.
func (s Settings) kindWord() string {
	if s.Plugin {
		return "plugin"
	}
	return "MCP server"
}

// FromConfig lists the servers of the settings, by name.
func FromConfig(c *config.Config) map[string]Settings {
	out := map[string]Settings{}
	for name, s := range c.MCPServers {
		one := Settings{Name: name, MCPServer: s, From: originOf(c, name), Problem: c.ServerProblem(name)}
		if one.Problem == "" {
			if err := one.whyUnusable(); err != nil {
				one.Problem = err.Error()
			}
		}
		out[name] = one
	}
	return out
}

// originOf is where the entry stands.
func originOf(c *config.Config, name string) string {
	for _, key := range []string{"command", "url"} {
		if from := c.Origin("mcp_servers." + name + "." + key); from != "default" {
			return from
		}
	}
	return "config.yaml"
}

var (
	validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._@/-]{0,63}$`) })
	variable  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })
)

// whyUnusable says what keeps the entry from being a server.
func (s Settings) whyUnusable() error {
	switch {
	case !validName().MatchString(s.Name):
		return fmt.Errorf("%q is no name for a server: use up to 64 letters, digits, dots, dashes and underscores", s.Name)
	case s.Command == "" && s.URL == "":
		return errors.New("it has neither a command nor a url: write one of them")
	case s.Command != "" && s.URL != "":
		return errors.New("it has a command and a url: keep one of them")
	case s.usesStdio() && s.Command == "":
		return errors.New("transport stdio wants a command")
	case !s.usesStdio() && s.URL == "":
		return fmt.Errorf("transport %s wants a url", s.Transport)
	}
	if unset := s.unsetVariables(); len(unset) > 0 {
		return fmt.Errorf("%s is not set: write it into .env (`hermes config set %s VALUE`) or export it", strings.Join(unset, ", "), unset[0])
	}
	if _, err := newRules(s.Permissions); err != nil {
		return err
	}
	return nil
}

// unsetVariables are the variables that the entry names and nobody has set: the settings left them
// as they are written.
func (s Settings) unsetVariables() []string {
	texts := append([]string{s.Command, s.Cwd, s.URL}, s.Args...)
	texts = append(texts, s.Roots...)
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for _, v := range values {
			texts = append(texts, v)
		}
	}
	var out []string
	for _, text := range texts {
		for _, m := range variable().FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s Settings) usesStdio() bool {
	return s.Transport == "stdio" || s.Transport == "" && s.URL == ""
}

func (s Settings) startLimit() time.Duration {
	if s.ConnectTimeout > 0 {
		return s.ConnectTimeout
	}
	return defaultStart
}

func (s Settings) callLimit() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return defaultCall
}

// Where is what the server is, in a few words: its command line or its host.
func (s Settings) Where() string {
	if !s.usesStdio() {
		u, err := url.Parse(s.URL)
		if err != nil {
			return "an address that cannot be read"
		}
		return u.Redacted()
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}

// Warning is what a person should know about the entry; "" is nothing.
func (s Settings) Warning() string {
	if s.Command != "npx" && s.Command != "uvx" && s.Command != "bunx" {
		return ""
	}
	for _, a := range s.Args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if at := strings.LastIndexByte(a, '@'); at <= 0 && !strings.Contains(a, "==") {
			return s.Command + " runs the newest " + a + " each time: name a version (" + a + "@1.2.3) to keep what you looked at"
		}
		return ""
	}
	return ""
}
