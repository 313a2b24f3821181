package provider

import (
	_ "embed"
	"encoding/json"
	"math"
	"strings"
	"sync"

	"hermes/core/chat"
)

// catalogData is what is known without asking: vendors' addresses, and models whose figures are published and do not
// depend on the length of the prompt. It is small on purpose: a wrong price is worse than none. Its figures are approximate,
// vendors change them: what a person writes under providers.NAME.models in the settings wins, and what is in neither place
// stays unknown.
//
//go:embed catalog.json
var catalogData []byte

type vendor struct {
	Name    string `json:"name"`
	BaseURL string `json:"base_url"`
	KeyEnv  string `json:"key_env"`
	BaseEnv string `json:"base_env"`
	Model   string `json:"model"` // the default one
}

type catalogue struct {
	Vendors []vendor `json:"vendors"`
	Models  []struct {
		ID        string   `json:"id"`
		Window    int      `json:"window"`
		Output    int      `json:"output"`
		In        *float64 `json:"in"` // absent: not known
		Out       float64  `json:"out"`
		Cached    float64  `json:"cached"`
		Reasoning bool     `json:"reasoning"`
		Images    bool     `json:"images"`
	} `json:"models"`
}

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

// Known returns what the catalogue knows about a model; zero fields are unknown. A vendor prefix ("openai/gpt-4o") and
// a date suffix ("gpt-4o-2024-08-06") do not matter. The price is unknown for an address that is not the vendor's own
// (resellers have their own prices), except on this machine, where a token costs nothing.
func Known(e Endpoint, id string) Model {
	m := Model{ID: id, Provider: e.Name, Name: id, Tools: true}
	name := strings.ReplaceAll(strings.ToLower(id[strings.LastIndexByte(id, '/')+1:]), "-4-5", "-4.5")
	for _, c := range catalog().Models {
		if !sameModel(name, c.ID) {
			continue
		}
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
		if v.Name != "openrouter" && sameHost(e.BaseURL, v.BaseURL) {
			return true
		}
	}
	return false
}

// Charge fills in what the usage costs at the model's prices. A cost that the server reported stays.
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
