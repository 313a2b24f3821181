// Package connect is how a person comes to a model: which servers there are, whether one answers
// with a key, and what is written down. The screen and the command line ask the questions.
package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"hermes/core/config"
	"hermes/core/provider"
)

// Custom is the name of a server that is known by its address only.
const Custom = "custom"

// Server is somebody who has models.
type Server struct {
	Name    string
	BaseURL string // "": the person says it
	KeyEnv  string // the variable that keeps its key; "": it wants none
	Local   bool   // on this machine
	HasKey  bool   // there is one already
}

// Host is what a person knows of the address.
func (s Server) Host() string {
	u, err := url.Parse(s.BaseURL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Servers are those that can be connected: those with a key first, then as the catalogue has them,
// those of the settings, and one whose address is asked for.
func Servers(c *config.Config) []Server {
	var out []Server
	known := map[string]bool{}
	for _, p := range provider.Places() {
		s := Server{Name: p.Name, BaseURL: p.BaseURL, KeyEnv: p.KeyEnv, Local: p.Local}
		if mine, ok := c.Providers[p.Name]; ok {
			s.BaseURL, s.KeyEnv = cmp.Or(mine.BaseURL, s.BaseURL), cmp.Or(mine.KeyEnv, s.KeyEnv)
		}
		out, known[p.Name] = append(out, s), true
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		if p := c.Providers[name]; !known[name] && name != Custom && p.BaseURL != "" {
			out = append(out, Server{Name: name, BaseURL: p.BaseURL, KeyEnv: cmp.Or(p.KeyEnv, KeyName(name))})
		}
	}
	for i := range out {
		out[i].HasKey = Key(c, out[i]) != ""
	}
	slices.SortStableFunc(out, func(a, b Server) int { return rank(a) - rank(b) })
	return append(out, Server{Name: Custom, KeyEnv: KeyName(Custom)})
}

func rank(s Server) int {
	switch {
	case s.HasKey:
		return 0
	case s.Local:
		return 2
	default:
		return 1
	}
}

// KeyName is the variable for the key of a server that names none.
func KeyName(server string) string {
	return strings.ToUpper(strings.ReplaceAll(server, "-", "_")) + "_API_KEY"
}

// Key is the key of a server that is there already.
func Key(c *config.Config, s Server) string {
	if p, ok := c.Providers[s.Name]; ok && p.APIKey != "" {
		return p.APIKey
	}
	if s.KeyEnv == "" {
		return ""
	}
	v, _ := c.Secret(s.KeyEnv)
	return v
}

// Choice is what a person decided. Key "" leaves the one that is there.
type Choice struct {
	Server Server
	Key    string
	Model  string
}

// Check says what is wrong with the address.
func (c Choice) Check() error {
	if u, err := url.Parse(c.Server.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("address %q: begin with http:// or https://", c.Server.BaseURL)
	}
	return nil
}

// endpoint is the choice for those who talk there.
func (c Choice) endpoint(settings *config.Config) provider.Endpoint {
	e := provider.Endpoint{Name: c.Server.Name, BaseURL: c.Server.BaseURL, Key: cmp.Or(c.Key, Key(settings, c.Server))}
	if p, ok := settings.Providers[c.Server.Name]; ok {
		e.Headers, e.Kind = p.Headers, p.Mode
	}
	return e
}

// Models asks the server for its models, with the key.
func (c Choice) Models(ctx context.Context, settings *config.Config, kinds map[string]provider.Maker) ([]provider.Model, error) {
	return c.endpoint(settings).Probe(ctx, kinds)
}

// Try has the model begin an answer: only that proves the key.
func (c Choice) Try(ctx context.Context, settings *config.Config, kinds map[string]provider.Maker) error {
	return c.endpoint(settings).Try(ctx, kinds, c.Model)
}

// Refused reports whether the server did not take the key.
func Refused(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Class == provider.ClassAuth
}

// Save writes the choice down: the key first, to .env, because without it the rest is of no use.
func (c *Choice) Save(settings *config.Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	paths, s := settings.Paths(), &c.Server
	s.KeyEnv = cmp.Or(s.KeyEnv, KeyName(s.Name))
	if c.Key != "" {
		if settings.Exported(s.KeyEnv) && Key(settings, *s) != c.Key {
			s.KeyEnv = "HERMES_" + s.KeyEnv // what is exported counts more than .env
		}
		if err := config.SetSecret(paths, s.KeyEnv, c.Key); err != nil {
			return err
		}
	}
	values := [][2]string{{"model.provider", s.Name}, {"model.default", c.Model}, {"providers." + s.Name + ".base_url", s.BaseURL}}
	if c.Key != "" || s.HasKey {
		values = append(values, [2]string{"providers." + s.Name + ".key_env", s.KeyEnv})
	}
	values = append(moved(settings), values...)
	for _, v := range values {
		if err := config.Set(paths, v[0], v[1]); err != nil {
			return err
		}
	}
	return nil
}

// moved are the settings that keep an address under model: for the server that it belongs to, so
// that it does not count for the new one.
func moved(c *config.Config) (values [][2]string) {
	m := c.Model
	if m.BaseURL == "" {
		return nil
	}
	old := m.Provider
	if old == "" || old == "auto" {
		old = Custom
	}
	if p := c.Providers[old]; p.BaseURL == "" {
		values = append(values, [2]string{"providers." + old + ".base_url", m.BaseURL})
		if m.APIKeyEnv != "" && p.KeyEnv == "" {
			values = append(values, [2]string{"providers." + old + ".key_env", m.APIKeyEnv})
		}
	}
	return append(values, [2]string{"model.base_url", ""})
}
