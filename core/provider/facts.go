package provider

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"hermes/core/chat"
)

// Known returns what the catalogue knows about a model; zero fields are unknown. The price is
// unknown for an address that is not the vendor's own (resellers have their own prices), except on
// this machine, where a token costs nothing.
func Known(e Endpoint, id string) Model {
	c, m := e.catalogueOf(), Model{ID: id, Provider: e.Name, Name: id, Tools: true}
	if f := c.rowFor(e, id); f != nil {
		v, _ := e.vendorOf()
		m = f.applyTo(m, f.Vendor == v.Name && v.ownsAddress(e.BaseURL))
	}
	if e.Local() {
		m.setPrice(ModelFacts{}, true)
	}
	return c.ownWord(e, m)
}

// ownWord is m with what the person's own file says of it.
func (c *Catalogue) ownWord(e Endpoint, m Model) Model {
	for i := range c.own {
		f := &c.own[i]
		if f.ID == m.ID && (f.Vendor == "" || f.Vendor == e.Name) {
			m = f.applyTo(m, true)
		}
	}
	return m
}

// applyTo is m with what the facts say over it; prices only where they hold.
func (f ModelFacts) applyTo(m Model, priced bool) Model {
	set := func(to *bool, v *bool) {
		if v != nil {
			*to = *v
		}
	}
	m.Name = cmp.Or(f.Name, m.Name)
	m.Window, m.MaxOutput = cmp.Or(f.Window, m.Window), cmp.Or(f.MaxOutput, m.MaxOutput)
	m.Effort = cmp.Or(f.Effort, m.Effort)
	if len(f.Efforts) > 0 {
		m.Efforts = f.Efforts
	}
	set(&m.Reasoning, f.Reasoning)
	set(&m.Images, f.Images)
	set(&m.Files, f.Files)
	set(&m.Tools, f.Tools)
	m.Cache = m.Cache || f.Cached > 0
	set(&m.Cache, f.Cache)
	if f.PriceIn != nil && priced {
		m.setPrice(f, true)
	}
	return m
}

func (m *Model) setPrice(f ModelFacts, known bool) {
	m.PriceIn, m.PriceOut, m.PriceCachedIn, m.PriceWrite, m.Over, m.Priced = 0, f.PriceOut, f.Cached, f.Written, f.Over, known
	if f.PriceIn != nil {
		m.PriceIn = *f.PriceIn
	}
}

// laidOver is f with what it leaves open taken from old.
func (f ModelFacts) laidOver(old ModelFacts) *ModelFacts {
	f.Name = cmp.Or(f.Name, old.Name)
	f.Window, f.MaxOutput = cmp.Or(f.Window, old.Window), cmp.Or(f.MaxOutput, old.MaxOutput)
	f.Mode, f.Vendor, f.Effort = cmp.Or(f.Mode, old.Mode), cmp.Or(f.Vendor, old.Vendor), cmp.Or(f.Effort, old.Effort)
	if f.PriceIn == nil {
		f.PriceIn, f.PriceOut, f.Cached, f.Written, f.Over = old.PriceIn, old.PriceOut, old.Cached, old.Written, old.Over
	}
	f.Reasoning, f.Images = cmp.Or(f.Reasoning, old.Reasoning), cmp.Or(f.Images, old.Images)
	f.Files = cmp.Or(f.Files, old.Files)
	f.Tools, f.Cache = cmp.Or(f.Tools, old.Tools), cmp.Or(f.Cache, old.Cache)
	if len(f.Efforts) == 0 {
		f.Efforts = old.Efforts
	}
	return &f
}

// Charge fills in what the usage costs at the model's prices. A cost that the server reported
// stays.
func (m Model) Charge(u chat.Usage) chat.Usage {
	if u.CostKnown || !m.Priced {
		return u
	}
	p := m.priceOf(u.Input)
	fresh := max(0, u.Input-u.Cached-u.Written)
	// A price in dollars per million tokens is a price in micro-dollars per token.
	cost := float64(fresh)*p.PriceIn + float64(u.Output)*p.PriceOut +
		float64(u.Cached)*cmp.Or(p.Cached, p.PriceIn) + float64(u.Written)*cmp.Or(p.Written, p.PriceIn)
	u.Cost, u.CostKnown = int64(math.Round(cost)), true
	return u
}

// priceOf is what a request with a prompt of so many tokens costs.
func (m Model) priceOf(prompt int) Tier {
	p := Tier{PriceIn: m.PriceIn, PriceOut: m.PriceOut, Cached: m.PriceCachedIn, Written: m.PriceWrite}
	for _, t := range m.Over {
		if prompt > t.Tokens && t.Tokens >= p.Tokens {
			p = t
		}
	}
	return p
}

// atHourlyPrices is m at the prices of a cache that is kept for an hour: Anthropic asks twice the
// price of reading for that, and 1.25 times it for five minutes.
func (m Model) atHourlyPrices() Model {
	if m.PriceWrite == 0 {
		return m
	}
	m.PriceWrite = 2 * m.PriceIn
	over := make([]Tier, len(m.Over))
	for i, t := range m.Over {
		t.Written = 2 * t.PriceIn
		over[i] = t
	}
	m.Over = over
	return m
}

// mergeKnown keeps what the server said about a model and takes the rest from the catalogue.
func (m Model) mergeKnown(known Model) Model {
	m.Window, m.MaxOutput = cmp.Or(m.Window, known.Window), cmp.Or(m.MaxOutput, known.MaxOutput)
	if !m.Priced && known.Priced {
		m.PriceIn, m.PriceOut, m.PriceCachedIn, m.PriceWrite = known.PriceIn, known.PriceOut, known.PriceCachedIn, known.PriceWrite
		m.Over, m.Priced = known.Over, true
	}
	m.Reasoning = m.Reasoning || known.Reasoning
	m.Images = m.Images || known.Images
	m.Files = m.Files || known.Files
	m.Tools = m.Tools || known.Tools
	m.Cache = m.Cache || known.Cache
	m.Efforts, m.Effort = known.Efforts, cmp.Or(m.Effort, known.Effort)
	return m
}

// Abilities are what the model can do, in words; "" when nothing is known.
func (m Model) Abilities() string {
	var can []string
	for _, a := range []struct {
		has  bool
		name string
	}{{m.Tools, "tools"}, {m.Images, "images"}, {m.Files, "files"}, {m.Reasoning, "thinks"}, {m.Cache, "cache"}} {
		if a.has {
			can = append(can, a.name)
		}
	}
	return strings.Join(can, " ")
}

// Figures are the window and the prices of a million tokens read and written; what is unknown
// is left out.
func (m Model) Figures() string {
	var parts []string
	switch {
	case m.Window >= 1_000_000:
		parts = append(parts, strconv.FormatFloat(float64(m.Window/100_000)/10, 'f', -1, 64)+"M")
	case m.Window > 0:
		parts = append(parts, strconv.Itoa(m.Window/1000)+"k")
	}
	switch {
	case m.Priced && m.PriceIn == 0 && m.PriceOut == 0:
		parts = append(parts, "free")
	case m.Priced:
		parts = append(parts, fmt.Sprintf("$%s/$%s", formatDollars(m.PriceIn), formatDollars(m.PriceOut)))
	}
	return strings.Join(parts, "  ")
}

func formatDollars(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }
