// Package connect is how a person comes to a model: which servers there are, whether one answers
// with a key, and what is written down. The screen and the command line ask the questions.
package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
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
	Own     bool   // of the person's own: no vendor of the catalogue
	Mode    string // the wire format; "" for one's own: it is found out
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
			out = append(out, Server{Name: name, BaseURL: p.BaseURL, KeyEnv: cmp.Or(p.KeyEnv, KeyName(name)), Own: true, Mode: p.Mode})
		}
	}
	for i := range out {
		out[i].HasKey = Key(c, out[i]) != ""
	}
	slices.SortStableFunc(out, func(a, b Server) int { return rank(a) - rank(b) })
	return append(out, Server{Name: Custom, KeyEnv: KeyName(Custom), Own: true})
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

// KeyName is the variable for the key of a server that names none. It is never a vendor's: that
// key goes to the vendor only.
func KeyName(server string) string {
	name := plainKeyName(server)
	if slices.Contains(provider.Shipped().KeyNames(), name) {
		return "HERMES_" + name
	}
	return name
}

func plainKeyName(server string) string {
	return strings.ToUpper(strings.ReplaceAll(server, "-", "_")) + "_API_KEY"
}

// Key is the key of a server that is there already.
func Key(c *config.Config, s Server) string {
	if key := stored(c, s).APIKey; key != "" {
		return key
	}
	if s.KeyEnv == "" {
		return ""
	}
	v, _ := c.Secret(s.KeyEnv)
	return v
}

// stored is what the settings say of a server. What they say of a server of one's own is for its
// address only: another one gets no key and no header of it.
func stored(c *config.Config, s Server) config.Provider {
	p := c.Providers[s.Name]
	if s.Own && strings.TrimRight(p.BaseURL, "/") != strings.TrimRight(s.BaseURL, "/") {
		return config.Provider{}
	}
	return p
}

// Choice is what a person decided. Key "" leaves the one that is there.
type Choice struct {
	Server Server
	Key    string
	Model  string

	listed string // the format in which it listed its models
}

// Move gives the choice another address. What was found out at the old one does not count there.
func (c *Choice) Move(address string) error {
	s := c.Server
	s.BaseURL = strings.TrimRight(CompleteAddress(address), "/")
	if s.Own {
		s.Mode = ""
	}
	*c = Choice{Server: s}
	return c.Check()
}

// Check says what is wrong with the address.
func (c Choice) Check() error {
	if u, err := url.Parse(c.Server.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is no address of a server: write it like https://host/v1", c.Server.BaseURL)
	}
	return nil
}

// endpoint is the choice for those who talk there.
func (c Choice) endpoint(settings *config.Config) provider.Endpoint {
	e := provider.Endpoint{Name: c.Server.Name, BaseURL: c.Server.BaseURL, Key: cmp.Or(c.Key, Key(settings, c.Server))}
	p := stored(settings, c.Server)
	e.Headers, e.Kind = p.Headers, p.Mode
	e.Kind = cmp.Or(c.Server.Mode, e.Kind)
	return e
}

// Models asks the server for its models, with the key. It notes in which wire format a server of
// one's own answered: that is tried first then.
func (c *Choice) Models(ctx context.Context, settings *config.Config, kinds map[string]provider.Maker) (list []provider.Model, err error) {
	c.listed, err = c.inModes(settings, func(e provider.Endpoint) (err error) {
		list, err = e.Probe(ctx, kinds)
		return err
	}, provider.ClassAuth) // some take the key in a header that others do not know
	return list, err
}

// Try has the model begin an answer: only that proves the key. It notes in which wire format a
// server of one's own did.
func (c *Choice) Try(ctx context.Context, settings *config.Config, kinds map[string]provider.Maker) error {
	mode, err := c.inModes(settings, func(e provider.Endpoint) error { return e.Try(ctx, kinds, c.Model) }, "")
	if err == nil {
		c.Server.Mode = mode
	}
	return err
}

// inModes does something in the format of the server; where nobody said which that is, in each
// until one works. A failure of the class is no end. The error is that of the first.
func (c Choice) inModes(settings *config.Config, do func(provider.Endpoint) error, also provider.Class) (mode string, err error) {
	e := c.endpoint(settings)
	modes := []string{e.Kind}
	if e.Kind == "" && c.Server.Own {
		others := []string{"", provider.ModeMessages, provider.ModeResponses}
		modes = append([]string{c.listed}, slices.DeleteFunc(others, func(m string) bool { return m == c.listed })...)
	}
	for _, mode := range modes {
		e.Kind = mode
		failed := do(e)
		if failed == nil {
			return mode, nil
		}
		if err == nil {
			err = failed
		}
		if !anotherMode(failed, also) {
			break
		}
	}
	return "", err
}

// anotherMode reports whether a failure may mean that the server speaks another format.
func anotherMode(err error, also provider.Class) bool {
	var e *provider.Error
	if !errors.As(err, &e) {
		return true
	}
	switch e.Class {
	case provider.ClassModelNotFound, provider.ClassFormat, provider.ClassMalformed, provider.ClassServer, provider.ClassUnknown:
		return true
	default:
		return e.Class == also
	}
}

// OwnName is a name for a server of one's own, by its address: that of its domain, with a number
// where another server has it.
func OwnName(address string, settings *config.Config) string {
	name := domainName(address)
	c := Choice{Server: Server{Name: name, BaseURL: strings.TrimRight(address, "/"), Own: true}}
	for n := 2; settings != nil && c.taken(settings) != nil; n++ {
		c.Server.Name = fmt.Sprintf("%s-%d", name, n)
	}
	return c.Server.Name
}

func domainName(address string) string {
	u, err := url.Parse(address)
	if err != nil || net.ParseIP(u.Hostname()) != nil {
		return Custom
	}
	labels := strings.Split(strings.ToLower(u.Hostname()), ".")
	name := labels[max(len(labels)-2, 0)]
	if c := (Choice{Server: Server{Name: name, Own: true}}); name == "localhost" || c.CheckName(nil) != nil {
		return Custom
	}
	return name
}

// Call gives a server of one's own its name, and finds the key that there is by that name.
func (c *Choice) Call(name string, settings *config.Config) error {
	named := *c
	s := &named.Server
	s.Name = name
	if err := named.CheckName(settings); err != nil {
		return err
	}
	s.KeyEnv = cmp.Or(settings.Providers[name].KeyEnv, KeyName(name))
	s.HasKey = Key(settings, *s) != ""
	*c = named
	return nil
}

// maxName bounds the name of a server, in bytes: what is longer is a key that was pasted too early.
const maxName = 32

// CheckName says what is wrong with the name of a server of one's own, nil when nothing is.
func (c Choice) CheckName(settings *config.Config) error {
	name := c.Server.Name
	if len(name) > maxName {
		return fmt.Errorf("a name has at most %d characters; the key is asked for after it", maxName)
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.Trim(name, "-") != name {
		return fmt.Errorf("%q: use small letters, digits and -", name)
	}
	if v, known := provider.Shipped().Named(name); known {
		return fmt.Errorf("%q is the name of a vendor, %s", name, v.Title)
	}
	if KeyName(name) != plainKeyName(name) {
		return fmt.Errorf("%q would keep its key as %s, which is a vendor's", name, plainKeyName(name))
	}
	if name == provider.Offline {
		return fmt.Errorf("%q is taken", name)
	}
	if settings == nil {
		return nil
	}
	return c.taken(settings)
}

// taken says which server at another address has the name, nil when none has it.
func (c Choice) taken(settings *config.Config) error {
	name := c.Server.Name
	p, there := settings.Providers[name]
	address := p.BaseURL
	if m := settings.Model; address == "" && m.BaseURL != "" && name == modelServer(m) {
		address, there = m.BaseURL, true
	}
	if there && strings.TrimRight(address, "/") != strings.TrimRight(c.Server.BaseURL, "/") {
		return fmt.Errorf("%q is the name of the server at %s", name, cmp.Or(address, "no address yet"))
	}
	return nil
}

// modelServer is the server that an address under model belongs to.
func modelServer(m config.Model) string {
	if m.Provider == "" || m.Provider == "auto" {
		return Custom
	}
	return m.Provider
}

// Refused reports whether the server did not take the key.
func Refused(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Class == provider.ClassAuth
}

// FailureWords says why a server or a model did not answer: the message, and what to do. The words
// may be the server's.
func FailureWords(err error) string {
	var e *provider.Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return err.Error()
	}
	said := e.Message
	if e.HTTP != 0 {
		said = fmt.Sprintf("%s (HTTP %d)", said, e.HTTP)
	}
	if e.Class == provider.ClassAuth {
		return "The key was not taken: " + said
	}
	if e.Hint != "" {
		said += "; " + e.Hint
	}
	return said
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
	if c.Key != "" || s.HasKey || Key(settings, *s) != "" {
		values = append(values, [2]string{"providers." + s.Name + ".key_env", s.KeyEnv})
	}
	if s.Mode != "" && s.Own {
		values = append(values, [2]string{"providers." + s.Name + ".api_mode", s.Mode})
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
	old := modelServer(m)
	if p := c.Providers[old]; p.BaseURL == "" {
		values = append(values, [2]string{"providers." + old + ".base_url", m.BaseURL})
		if m.APIKeyEnv != "" && p.KeyEnv == "" {
			values = append(values, [2]string{"providers." + old + ".key_env", m.APIKeyEnv})
		}
	}
	return append(values, [2]string{"model.base_url", ""})
}
