package provider

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hermes/core/chat"
)

// catalogData is what is known without asking: vendors' addresses, and models whose figures are
// published and do not depend on the length of the prompt. It is small on purpose: a wrong price is
// worse than none. Its figures are approximate, vendors change them: what a person writes under
// providers.NAME.models in the settings wins, and what is in neither place stays unknown.
//
//go:embed catalog.json
var catalogData []byte

type vendor struct {
	Name     string   `json:"name"`
	BaseURL  string   `json:"base_url"`
	KeyEnv   string   `json:"key_env"`
	BaseEnv  string   `json:"base_env"`
	Model    string   `json:"model"`    // the default one
	Mode     string   `json:"mode"`     // "": chat completions
	Reseller bool     `json:"reseller"` // of models of other vendors, at prices of its own
	Aliases  []string `json:"aliases"`
	Asked    bool     `json:"asked"` // its variable may be there for something else: it is never the default
}

// The modes, which are names of wire formats.
const (
	ModeChat      = "chat_completions"
	ModeResponses = "codex_responses"
	ModeMessages  = "anthropic_messages"
)

// mode is the wire format in which the endpoint serves a model: as the settings say, else as the
// catalogue knows the vendor, else by the address.
func (e Endpoint) mode(model string) string {
	if e.Kind != "" {
		return e.Kind
	}
	if v, ok := e.vendor(); ok {
		if m := row(model); m != nil && sameHost(e.BaseURL, v.BaseURL) && !v.Reseller {
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

// canonical is the name of the vendor that an alias means.
func canonical(name string) string {
	for _, v := range vendors() {
		if slices.Contains(v.Aliases, name) {
			return v.Name
		}
	}
	return name
}

// vendor is what the catalogue knows of the endpoint's vendor: by its host, else by its name.
func (e Endpoint) vendor() (vendor, bool) {
	for _, v := range vendors() {
		if sameHost(e.BaseURL, v.BaseURL) && !e.Local() {
			return v, true
		}
	}
	for _, v := range vendors() {
		if v.Name == e.Name {
			return v, true
		}
	}
	return vendor{}, false
}

type catalogue struct {
	Vendors []vendor     `json:"vendors"`
	Models  []modelFacts `json:"models"`
}

type modelFacts struct {
	ID        string   `json:"id"`
	Window    int      `json:"window"`
	Output    int      `json:"output"`
	In        *float64 `json:"in"` // absent: not known
	Out       float64  `json:"out"`
	Cached    float64  `json:"cached"`
	Reasoning bool     `json:"reasoning"`
	Images    bool     `json:"images"`
	Mode      string   `json:"mode"` // at the vendor's own address
}

// row is what the catalogue says of a model; nil when nothing. A vendor prefix ("openai/gpt-4o")
// and a date suffix ("gpt-4o-2024-08-06") do not matter.
func row(id string) *modelFacts {
	name := plainVersion().ReplaceAllString(strings.ToLower(id[strings.LastIndexByte(id, '/')+1:]), "$1.$2$3")
	var found *modelFacts
	for i, c := range catalog().Models {
		if sameModel(name, c.ID) {
			found = &catalog().Models[i]
		}
	}
	return found
}

// plainVersion finds claude-opus-4-6, which others write claude-opus-4.6.
var plainVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(claude-[a-z]+-\d+)-(\d{1,2})($|-)`)
})

var catalog = sync.OnceValue(func() catalogue {
	var c catalogue
	if err := json.Unmarshal(catalogData, &c); err != nil {
		return catalogue{} // a test reads the data, so this cannot ship
	}
	return c
})

func vendors() []vendor { return catalog().Vendors }

// KeyNames are the variables that hold the keys of the vendors that the catalogue knows.
func KeyNames() []string {
	var out []string
	for _, v := range vendors() {
		if v.KeyEnv != "" {
			out = append(out, v.KeyEnv)
		}
	}
	return out
}

func vendorModel(name string) string {
	for _, v := range vendors() {
		if v.Name == name {
			return v.Model
		}
	}
	return ""
}

// Known returns what the catalogue knows about a model; zero fields are unknown. The price is
// unknown for an address that is not the vendor's own (resellers have their own prices), except on
// this machine, where a token costs nothing.
func Known(e Endpoint, id string) Model {
	m := Model{ID: id, Provider: e.Name, Name: id, Tools: true}
	if c := row(id); c != nil {
		m.Window, m.MaxOutput, m.Reasoning, m.Images = c.Window, c.Output, c.Reasoning, c.Images
		if c.In != nil && e.vendorOwn() {
			m.PriceIn, m.PriceOut, m.PriceCachedIn, m.Priced = *c.In, c.Out, c.Cached, true
		}
	}
	if e.Local() {
		m.PriceIn, m.PriceOut, m.PriceCachedIn, m.Priced = 0, 0, 0, true
	}
	return m
}

func sameModel(name, id string) bool {
	rest, ok := strings.CutPrefix(name, id)
	if !ok {
		return false
	}
	return strings.Trim(rest, "-0123456789") == "" && (rest == "" || rest[0] == '-')
}

func (e Endpoint) vendorOwn() bool {
	for _, v := range vendors() {
		if !v.Reseller && sameHost(e.BaseURL, v.BaseURL) {
			return true
		}
	}
	return false
}

// Charge fills in what the usage costs at the model's prices. A cost that the server reported
// stays.
func (m Model) Charge(u chat.Usage) chat.Usage {
	if u.CostKnown || !m.Priced {
		return u
	}
	cached := m.PriceCachedIn
	if cached == 0 {
		cached = m.PriceIn
	}
	fresh := max(0, u.Input-u.Cached)
	// A price in dollars per million tokens is a price in micro-dollars per token.
	cost := float64(fresh)*m.PriceIn + float64(u.Cached)*cached + float64(u.Output)*m.PriceOut
	u.Cost, u.CostKnown = int64(math.Round(cost)), true
	return u
}

// merge keeps what the server said about a model and takes the rest from the catalogue.
func (m Model) merge(known Model) Model {
	if m.Window == 0 {
		m.Window = known.Window
	}
	if m.MaxOutput == 0 {
		m.MaxOutput = known.MaxOutput
	}
	if !m.Priced && known.Priced {
		m.PriceIn, m.PriceOut, m.PriceCachedIn, m.Priced = known.PriceIn, known.PriceOut, known.PriceCachedIn, true
	}
	m.Reasoning = m.Reasoning || known.Reasoning
	m.Images = m.Images || known.Images
	m.Tools = m.Tools || known.Tools
	return m
}
