package provider

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Settings say which providers exist. The zero Settings know only what Kinds offers without an
// address.
type Settings struct {
	// Default is what Resolve makes of "": "provider/model", "model" or a provider's name. Empty:
	// the first provider with a key, else a local server, else offline.
	Default string
	// Explicit says that Default was chosen for this run (a flag): HERMES_MODEL does not replace
	// it, and Resolve("") fails when it cannot be had. A default that is not explicit gives way to
	// a local server or offline while no provider is configured at all.
	Explicit bool
	// NoSubstitute says that Resolve("") fails when a Default that was chosen, wherever, cannot be
	// had, and that offline answers only where it was chosen: in a script nobody sees who answers
	// instead.
	NoSubstitute bool
	// Providers by name. Names are lower case and have no slash.
	Providers map[string]Endpoint
	// Fallbacks are asked in this order when a model cannot answer: each as Resolve takes it.
	Fallbacks []string
	// Health is what earlier calls taught; nil: nothing.
	Health *Health
	// Window is the context window of the default model in tokens, when the person says so; 0: as
	// known.
	Window int
	// Kinds are the wire formats: main passes {openai.Kind: openai.Make, "offline": offline.Make}.
	Kinds map[string]Maker
	// OllamaHost is the value of OLLAMA_HOST; only a loopback address is used.
	OllamaHost string
	// Catalogue is what is known without asking; nil: the shipped one.
	Catalogue *Catalogue
	// NoDetect keeps Resolve from looking for servers on this machine.
	NoDetect bool
}

// Maker makes a provider of one wire format. It must not use the network.
type Maker func(Endpoint) (Provider, error)

// Endpoint is one address with one credential.
type Endpoint struct {
	Name     string            // set by the Set from the map's key
	Kind     string            // wire format; "" means as the catalogue says for the model
	BaseURL  string            // with the version part: https://host/v1
	Key      string            // sent to BaseURL's host only, never logged; "" for none
	KeyFrom  string            // where Key stands: the name of a variable or of a setting
	Keys     []Credential      // more of them
	Strategy Strategy          // which of several keys a turn takes; "": FillFirst
	Models   []string          // offered in lists, the first is the default; empty: ask the server
	Headers  map[string]string // extra request headers
	Limits   map[string]Limit  // by model: what the person says about it, over what its server and the catalogue say
	Timeouts Timeouts
	CacheTTL string // how long a server keeps begins of requests that are marked for it: "5m", "1h"; "": its default

	catalogue *Catalogue // set by the Set; nil: the shipped one
}

// Limit is what a person says about a model. Zero fields say nothing; a price of both zero is no
// price.
type Limit struct {
	Window, MaxOutput int
	PriceIn, PriceOut float64 // US dollars per million tokens
	PriceCachedIn     float64 // of those read from the provider's cache; 0: as the others
	PriceWrite        float64 // of those written to it; 0: as the others
	Images            bool    // it takes images
	Files             bool    // it reads PDF documents
	Effort            string  // of its thinking
}

func (l Limit) applyTo(m Model) Model {
	if l.Window > 0 {
		m.Window = l.Window
	}
	if l.MaxOutput > 0 {
		m.MaxOutput = l.MaxOutput
	}
	if l.PriceIn > 0 || l.PriceOut > 0 {
		m.PriceIn, m.PriceOut, m.PriceCachedIn, m.PriceWrite = l.PriceIn, l.PriceOut, l.PriceCachedIn, l.PriceWrite
		m.Over, m.Priced = nil, true
	}
	m.Images = m.Images || l.Images
	m.Files = m.Files || l.Files
	m.Effort = cmp.Or(l.Effort, m.Effort)
	return m
}

// Local reports whether the endpoint is on this machine.
func (e Endpoint) Local() bool { return isLoopback(e.BaseURL) }

// Timeouts are the watchdogs of a stream, on the monotonic clock. Zero fields mean the default.
type Timeouts struct {
	Connect   time.Duration // address, connection and TLS: 10 s
	FirstByte time.Duration // from the request to the first byte of the answer: 60 s
	Idle      time.Duration // between pieces of content; keep-alive bytes do not count: 90 s
	Total     time.Duration // from the connection to the end of the answer; 0: no limit
	Thinking  time.Duration // replaces FirstByte and Idle until the first content, with reasoning or a local server: 300 s
}

// WithDefaults fills the zero fields.
func (t Timeouts) WithDefaults() Timeouts {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&t.Connect, 10*time.Second)
	set(&t.FirstByte, 60*time.Second)
	set(&t.Idle, 90*time.Second)
	set(&t.Thinking, 300*time.Second)
	return t
}

// WithEnv adds the providers whose key is in the environment, and fills the missing key and address
// of the configured ones. A key goes to its own provider only: OPENAI_API_KEY to the address of
// "openai" (OPENAI_BASE_URL when that is set), OPENROUTER_API_KEY to openrouter.ai, and so on.
// HERMES_MODEL replaces Default unless that is Explicit.
func (s Settings) WithEnv(getenv func(string) string) Settings {
	s.Providers = maps.Clone(s.Providers)
	if s.Providers == nil {
		s.Providers = map[string]Endpoint{}
	}
	for _, v := range s.catalogueOf().Vendors {
		e, configured := s.Providers[v.Name]
		if e, ok := v.endpointFor(e, configured, getenv); ok {
			s.Providers[v.Name] = e
		}
	}
	if m := getenv("HERMES_MODEL"); m != "" && !s.Explicit {
		s.Default = m
	}
	if s.OllamaHost == "" {
		s.OllamaHost = getenv("OLLAMA_HOST")
	}
	return s
}

func (s Settings) catalogueOf() *Catalogue {
	if s.Catalogue != nil {
		return s.Catalogue
	}
	return Shipped()
}

// endpointFor is e with the address and the key that the environment has for the vendor. It reports
// whether there is anything to talk to.
func (v Vendor) endpointFor(e Endpoint, configured bool, getenv func(string) string) (Endpoint,
	bool,
) {
	said := ""
	if v.BaseEnv != "" {
		said = getenv(v.BaseEnv)
	}
	key := ""
	for _, name := range v.keyNames() {
		key = cmp.Or(key, getenv(name))
	}
	base := cmp.Or(e.BaseURL, said)
	keyless := v.KeyEnv == "" && !v.Local // a server of the person's own
	if !configured && (key == "" && base == "" && !keyless || v.Closed != "") {
		return e, false
	}
	base = cmp.Or(base, v.BaseURL)
	if base == "" { // a key for an address that nobody said
		return e, configured
	}
	// An address in the file that is not the vendor's gets no key that it was not given.
	if own := v.ownsAddress(base) || said != "" && sameHost(base, said); own {
		for _, name := range v.keyNames() {
			if getenv(name) != "" {
				e = e.WithKeys(name, getenv)
			}
		}
	}
	e.BaseURL = v.addressFor(base)
	return e, true
}

// WithKeys adds the keys of a variable and of those that are numbered after it. A key that the
// endpoint has already stays its only one.
func (e Endpoint) WithKeys(name string, getenv func(string) string) Endpoint {
	if e.Key == "" {
		e.Key, e.KeyFrom = getenv(name), name
	}
	if e.KeyFrom == name {
		e.Keys = append(slices.Clip(e.Keys), numberedKeys(name, getenv)...)
	}
	return e
}

// providerNames returns the configured providers in the order in which a default is looked for:
// vendors in the order of the catalogue, then the others by name.
func (s Settings) providerNames() []string {
	out := slices.Sorted(maps.Keys(s.Providers))
	rank := map[string]int{}
	for i, v := range s.catalogueOf().Vendors {
		rank[v.Name] = i + 1
	}
	slices.SortStableFunc(out, func(a, b string) int {
		ra, rb := rank[a], rank[b]
		if ra == 0 {
			ra = len(rank) + 1
		}
		if rb == 0 {
			rb = len(rank) + 1
		}
		if ra != rb {
			return ra - rb
		}
		return strings.Compare(a, b)
	})
	return out
}
