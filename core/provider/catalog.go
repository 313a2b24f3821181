package provider

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// catalogData is what is known without asking: vendors' addresses, and models whose figures are
// published. It is small on purpose: a wrong price is worse than none. What is in it stays unknown
// where nothing stands. It is JSON because every start reads it, and JSON is quick to read; a
// person's own file says the same in YAML (own.go).
//
//go:embed catalog.json
var catalogData []byte

// Catalogue is what is known of vendors and models without asking them. It is immutable.
type Catalogue struct {
	Vendors []Vendor              `json:"vendors" yaml:"vendors"`
	Models  []ModelFacts          `json:"models" yaml:"models"`
	Aliases map[string]References `json:"aliases" yaml:"aliases"`

	own   []ModelFacts            // the person's word, over what servers say
	fresh map[string][]ModelFacts // the list that was fetched, by vendor
}

// Vendor is a provider that the catalogue knows.
type Vendor struct {
	Name     string   `json:"name" yaml:"name"`
	Title    string   `json:"title" yaml:"title"`
	BaseURL  string   `json:"base_url" yaml:"base_url"`   // "": BaseEnv or the settings say it
	BaseEnv  string   `json:"base_env" yaml:"base_env"`   // the variable of another address
	BasePath string   `json:"base_path" yaml:"base_path"` // of an address that has none
	Hosts    []string `json:"hosts" yaml:"hosts"`         // its other hosts; "*." stands for one name
	KeyEnv   string   `json:"key_env" yaml:"key_env"`
	AlsoEnv  []string `json:"also_env" yaml:"also_env"` // other names of the same variable
	Model    string   `json:"model" yaml:"model"`       // the default one
	Small    string   `json:"small" yaml:"small"`       // a cheap one
	Mode     string   `json:"api_mode" yaml:"api_mode"` // "": chat completions
	Reseller bool     `json:"reseller" yaml:"reseller"` // of models of other vendors, at prices of its own
	Local    bool     `json:"local" yaml:"local"`       // it is looked for on this machine
	Asked    bool     `json:"asked" yaml:"asked"`       // its variable may be there for something else: never the default
	Listed   string   `json:"listed" yaml:"listed"`     // its name in the public list of models, when that is another
	Thoughts string   `json:"thoughts" yaml:"thoughts"` // how its chat completions are asked for thoughts: see ThoughtsGoogle
	Closed   string   `json:"closed" yaml:"closed"`     // why it cannot be used from here, and what to use instead
	Aliases  []string `json:"aliases" yaml:"aliases"`
}

// ModelFacts is what is known of a model. Zero fields are unknown; prices are US dollars per
// million tokens.
type ModelFacts struct {
	Vendor    string   `json:"vendor" yaml:"vendor"`
	ID        string   `json:"id" yaml:"id"`
	Name      string   `json:"name,omitempty" yaml:"name"`
	Window    int      `json:"context_length,omitempty" yaml:"context_length"`
	MaxOutput int      `json:"max_tokens,omitempty" yaml:"max_tokens"`
	PriceIn   *float64 `json:"price_in,omitempty" yaml:"price_in"` // nil: the prices are not known
	PriceOut  float64  `json:"price_out,omitempty" yaml:"price_out"`
	Cached    float64  `json:"price_cached_in,omitempty" yaml:"price_cached_in"`
	Written   float64  `json:"price_cache_write,omitempty" yaml:"price_cache_write"`
	Over      []Tier   `json:"over,omitempty" yaml:"over"`
	Reasoning *bool    `json:"reasoning,omitempty" yaml:"reasoning"`
	Images    *bool    `json:"images,omitempty" yaml:"images"`
	Files     *bool    `json:"files,omitempty" yaml:"files"` // it reads PDF documents
	Tools     *bool    `json:"tools,omitempty" yaml:"tools"` // nil: it has them
	Cache     *bool    `json:"cache,omitempty" yaml:"cache"` // nil: when reading from it has a price
	Efforts   []string `json:"efforts,omitempty" yaml:"efforts"`
	Effort    string   `json:"reasoning_effort,omitempty" yaml:"reasoning_effort"` // what the person wants of it
	Mode      string   `json:"api_mode,omitempty" yaml:"api_mode"`                 // at the vendor's own address
}

// Tier is the price of a whole request whose prompt has more than Tokens.
type Tier struct {
	Tokens   int     `json:"tokens" yaml:"tokens"`
	PriceIn  float64 `json:"price_in" yaml:"price_in"`
	PriceOut float64 `json:"price_out" yaml:"price_out"`
	Cached   float64 `json:"price_cached_in,omitempty" yaml:"price_cached_in"`
	Written  float64 `json:"price_cache_write,omitempty" yaml:"price_cache_write"`
}

// The modes, which are names of wire formats.
const (
	ModeChat      = "chat_completions"
	ModeResponses = "codex_responses"
	ModeMessages  = "anthropic_messages"
)

// Shipped is the catalogue that comes with the program.
func Shipped() *Catalogue { return shipped() }

var shipped = sync.OnceValue(func() *Catalogue {
	c := &Catalogue{}
	if err := json.Unmarshal(catalogData, c); err != nil {
		return &Catalogue{} // a test reads the data, so this cannot ship
	}
	return c
})

// Named is the vendor that a name or an alias means.
func (c *Catalogue) Named(name string) (Vendor, bool) {
	for _, v := range c.Vendors {
		if v.Name == name {
			return v, true
		}
	}
	for _, v := range c.Vendors {
		if slices.Contains(v.Aliases, name) {
			return v, true
		}
	}
	return Vendor{}, false
}

// vendorName is the name of the vendor that an alias means.
func (c *Catalogue) vendorName(name string) string {
	if v, ok := c.Named(name); ok {
		return v.Name
	}
	return name
}

// KeyNames are the variables that hold the keys of the vendors that the catalogue knows.
func (c *Catalogue) KeyNames() []string {
	var out []string
	for _, v := range c.Vendors {
		out = append(out, v.keyNames()...)
	}
	return out
}

func (v Vendor) keyNames() []string {
	if v.KeyEnv == "" {
		return nil
	}
	return append([]string{v.KeyEnv}, v.AlsoEnv...)
}

// ownsAddress reports whether an address is the vendor's own: its key may go there.
func (v Vendor) ownsAddress(base string) bool {
	if v.Local {
		return false
	}
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && !strings.HasPrefix(v.BaseURL, u.Scheme+":") {
		return false
	}
	if sameHost(base, v.BaseURL) {
		return true
	}
	return u.Port() == "" && slices.ContainsFunc(v.Hosts, func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ToLower(u.Hostname()))
		return err == nil && ok && strings.Count(pattern, ".") == strings.Count(u.Hostname(), ".")
	})
}

// addressFor is base, with the vendor's path where it has none.
func (v Vendor) addressFor(base string) string {
	u, err := url.Parse(base)
	if err != nil || v.BasePath == "" || strings.Trim(u.Path, "/") != "" || !v.ownsAddress(base) {
		return base
	}
	u.Path = v.BasePath
	return u.String()
}

// catalogueOf is the catalogue that the endpoint's set goes by.
func (e Endpoint) catalogueOf() *Catalogue {
	if e.catalogue != nil {
		return e.catalogue
	}
	return Shipped()
}

// vendorOf is what the catalogue knows of the endpoint's vendor: by its host, else by its name.
func (e Endpoint) vendorOf() (Vendor, bool) {
	c := e.catalogueOf()
	for _, v := range c.Vendors {
		if v.ownsAddress(e.BaseURL) {
			return v, true
		}
	}
	for _, v := range c.Vendors {
		if v.Name == e.Name {
			return v, true
		}
	}
	return Vendor{}, false
}

// ThoughtsGoogle is Gemini's way in its compatible end point: thoughts come when they are asked for
// in extra_body, and then as content that is marked.
// https://ai.google.dev/gemini-api/docs/openai#thinking
const ThoughtsGoogle = "google"

// Thoughts is how chat completions of the endpoint are asked for thoughts; "": by their effort.
func (e Endpoint) Thoughts() string {
	v, _ := e.vendorOf()
	return v.Thoughts
}

// vendorOwn reports whether the endpoint is one of a vendor that sells its own models.
func (e Endpoint) vendorOwn() bool {
	v, ok := e.vendorOf()
	return ok && !v.Reseller && v.ownsAddress(e.BaseURL)
}

// modeFor is the wire format in which the endpoint serves a model: as the settings say, else as the
// catalogue knows the vendor, else by the address.
func (e Endpoint) modeFor(model string) string {
	if e.Kind != "" {
		return e.Kind
	}
	if v, ok := e.vendorOf(); ok {
		if m := e.catalogueOf().rowFor(e, model); m != nil && v.ownsAddress(e.BaseURL) && !v.Reseller {
			return cmp.Or(m.Mode, v.Mode, ModeChat)
		}
		return cmp.Or(v.Mode, ModeChat)
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return ModeChat
	}
	switch path := strings.TrimRight(u.Path, "/"); {
	case strings.HasSuffix(path, "/anthropic"), strings.HasSuffix(path, "/messages"):
		return ModeMessages
	case strings.HasSuffix(path, "/responses"):
		return ModeResponses
	default:
		return ModeChat
	}
}

// rowFor is what the catalogue says of a model; nil when nothing. What was fetched for the
// endpoint's vendor comes before what the program brought; both before what is known of the same
// name elsewhere.
func (c *Catalogue) rowFor(e Endpoint, id string) *ModelFacts {
	v, ok := e.vendorOf()
	if ok {
		if m := findRow(c.fresh[v.Name], "", id); m != nil {
			if old := findRow(c.Models, v.Name, id); old != nil {
				m = m.laidOver(*old)
			}
			return m
		}
		if m := findRow(c.Models, v.Name, id); m != nil {
			return m
		}
	}
	return findRow(c.Models, "", id)
}

// findRow finds the row of a model, the one with the longest name that fits. A vendor prefix
// ("openai/gpt-4o") and a date suffix ("gpt-4o-2024-08-06") do not matter.
func findRow(list []ModelFacts, vendor, id string) *ModelFacts {
	name := plainModelName(id)
	var found *ModelFacts
	for i := range list {
		m := &list[i]
		if vendor != "" && m.Vendor != vendor || found != nil && len(m.ID) <= len(found.ID) {
			continue
		}
		if m.ID == id || sameModel(name, plainModelName(m.ID)) {
			found = m
		}
	}
	return found
}

// plainModelName is the name of a model without the vendor's, in the one form of its version.
func plainModelName(id string) string {
	name := strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	if !strings.HasPrefix(name, "claude-") {
		return name
	}
	return plainVersion().ReplaceAllString(name, "$1.$2$3")
}

// plainVersion finds claude-opus-4-6, which others write claude-opus-4.6.
var plainVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(claude-[a-z]+-\d+)-(\d{1,2})($|-)`)
})

// sameModel reports whether name is the model id, or a dated release of it.
func sameModel(name, id string) bool {
	rest, ok := strings.CutPrefix(name, id)
	if !ok {
		return false
	}
	return rest == "" || rest[0] == '-' && len(rest) > 4 && strings.Trim(rest, "-0123456789") == ""
}
