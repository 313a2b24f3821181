package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"
)

// PublicList is the public list of models from which Refresh takes windows, prices and abilities.
const PublicList = "https://models.dev/api.json"

// Fetched is a list of models that was fetched, by vendor.
type Fetched struct {
	From   string                  `json:"from"`
	At     time.Time               `json:"at"`
	Models map[string][]ModelFacts `json:"models"`
}

// Count is how many models it has.
func (f *Fetched) Count() int {
	n := 0
	for _, list := range f.Models {
		n += len(list)
	}
	return n
}

const (
	maxPublicList = 64 << 20
	refreshTime   = time.Minute
)

// Refresh fetches a public list of models. It is a stranger's: figures are taken from it where they
// can be, for vendors that the catalogue knows; no address and no variable of a key ever is.
func (c *Catalogue) Refresh(ctx context.Context, from string) (*Fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	data, err := downloadFile(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("the list of models at %s: %w; what was known before still counts", cleanWords(from, ""), err)
	}
	list, err := c.readPublic(data)
	if err != nil {
		return nil, fmt.Errorf("the list of models at %s: %w; what was known before still counts", cleanWords(from, ""), err)
	}
	return &Fetched{From: from, At: time.Now().UTC().Truncate(time.Second), Models: list}, nil
}

func downloadFile(ctx context.Context, from string) ([]byte, error) {
	if hostOf(from) == "" {
		return nil, errors.New("that is no address: write https://host/path")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "hermes")
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: refreshTime, ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
	res, err := client.Do(req)
	if err != nil {
		return nil, Transport("", "", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered with HTTP %d", res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxPublicList+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxPublicList:
		return nil, fmt.Errorf("it has more than %d MB", maxPublicList>>20)
	default:
		return data, nil
	}
}

// publicModel is a model as the public list has it. Prices are dollars per million tokens.
type publicModel struct {
	Name      string  `json:"name"`
	Reasoning flag    `json:"reasoning"`
	ToolCall  *flag   `json:"tool_call"`
	Status    string  `json:"status"`
	Cost      *prices `json:"cost"`
	Limit     struct {
		Context number `json:"context"`
		Output  number `json:"output"`
	} `json:"limit"`
	Modalities struct {
		Input  []string `json:"input"`
		Output []string `json:"output"`
	} `json:"modalities"`
	Options []struct {
		Type   string   `json:"type"`
		Values []string `json:"values"`
	} `json:"reasoning_options"`
}

type prices struct {
	Input      *number `json:"input"`
	Output     number  `json:"output"`
	CacheRead  number  `json:"cache_read"`
	CacheWrite number  `json:"cache_write"`
	Tiers      []struct {
		Input      number `json:"input"`
		Output     number `json:"output"`
		CacheRead  number `json:"cache_read"`
		CacheWrite number `json:"cache_write"`
		Tier       struct {
			Size number `json:"size"`
		} `json:"tier"`
	} `json:"tiers"`
}

// flag takes true, and anything else as false.
type flag bool

// UnmarshalJSON never fails.
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "true"
	return nil
}

// readPublic reads {"VENDOR": {"models": {"ID": {...}}}} for the vendors that the catalogue knows.
// An entry that makes no sense is left out.
func (c *Catalogue) readPublic(data []byte) (map[string][]ModelFacts, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		if isHTML(data) {
			return nil, errors.New("the server answered with a web page; a sign-in page of the network may be in between")
		}
		return nil, errors.New("it is not in a form we know")
	}
	out := map[string][]ModelFacts{}
	for _, v := range c.Vendors {
		raw, ok := all[cmp.Or(v.Listed, v.Name)]
		if !ok || v.Local || v.Closed != "" {
			continue
		}
		var vendor struct {
			Models map[string]json.RawMessage `json:"models"`
		}
		if json.Unmarshal(raw, &vendor) != nil {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(vendor.Models)) {
			if f, ok := publicFacts(v.Name, id, vendor.Models[id]); ok && len(out[v.Name]) < maxModels {
				out[v.Name] = append(out[v.Name], f)
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it names no vendor that we know")
	}
	return out, nil
}

// publicFacts is one model of the list, if it is one that can talk.
func publicFacts(vendor, id string, raw json.RawMessage) (ModelFacts, bool) {
	var m publicModel
	if json.Unmarshal(raw, &m) != nil || !slices.Contains(m.Modalities.Output, "text") || m.Status == "deprecated" {
		return ModelFacts{}, false
	}
	thinks, sees := bool(m.Reasoning), slices.Contains(m.Modalities.Input, "image")
	reads := slices.Contains(m.Modalities.Input, "pdf")
	f := ModelFacts{
		Vendor: vendor, ID: id, Name: cleanWords(m.Name, ""), Window: m.Limit.Context.tokens(), MaxOutput: m.Limit.Output.tokens(),
		Reasoning: &thinks, Images: &sees, Files: &reads,
	}
	if m.ToolCall != nil {
		calls := bool(*m.ToolCall)
		f.Tools = &calls
	}
	for _, o := range m.Options {
		if o.Type == "effort" {
			f.Efforts = slices.DeleteFunc(o.Values, func(e string) bool { return !slices.Contains(Efforts(), e) })
		}
	}
	if p := m.Cost; p != nil && p.Input != nil {
		in := float64(*p.Input)
		f.PriceIn, f.PriceOut, f.Cached, f.Written = &in, float64(p.Output), float64(p.CacheRead), float64(p.CacheWrite)
		for _, t := range p.Tiers[:min(len(p.Tiers), 8)] {
			f.Over = append(f.Over, Tier{
				Tokens: t.Tier.Size.tokens(), PriceIn: float64(t.Input), PriceOut: float64(t.Output),
				Cached: float64(t.CacheRead), Written: float64(t.CacheWrite),
			})
		}
	}
	return f, f.checkFigures() == nil
}

// WithFetched is c with a list that was fetched, over what the program brought.
func (c *Catalogue) WithFetched(f *Fetched) *Catalogue {
	out := *c
	out.fresh = f.Models
	return &out
}

// ReadFetched reads a list that Save wrote; nil when there is none.
func ReadFetched(file string) (*Fetched, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f := &Fetched{}
	if err == nil {
		err = json.Unmarshal(data, f)
	}
	if err != nil {
		return nil, fmt.Errorf("the list of models in %s cannot be read, what the program brought counts: %w; `hermes model refresh` makes it anew", file, err)
	}
	for vendor, list := range f.Models {
		f.Models[vendor] = slices.DeleteFunc(list,
			func(m ModelFacts) bool { return m.checkFigures() != nil })
	}
	return f, nil
}
