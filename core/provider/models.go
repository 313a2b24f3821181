package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// modelRow is a row of GET /v1/models. Each server has its own name for the context window.
type modelRow struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Display         string `json:"display_name"`
	ContextLength   number `json:"context_length"`        // OpenRouter and others
	ContextWindow   number `json:"context_window"`        // Groq
	MaxModelLen     number `json:"max_model_len"`         // vLLM
	MaxContext      number `json:"max_context_length"`    // Mistral, LM Studio
	Loaded          number `json:"loaded_context_length"` // LM Studio: what is really in use
	MaxInput        number `json:"max_input_tokens"`      // LiteLLM
	MaxOutput       number `json:"max_completion_tokens"`
	MaxOutputTokens number `json:"max_output_tokens"`
	MaxTokens       number `json:"max_tokens"` // Anthropic
	Meta            struct {
		Ctx      number `json:"n_ctx"`
		CtxTrain number `json:"n_ctx_train"`
	} `json:"meta"` // llama.cpp
	Top struct {
		Context   number `json:"context_length"`
		MaxOutput number `json:"max_completion_tokens"`
	} `json:"top_provider"`
	Architecture json.RawMessage `json:"architecture"` // OpenRouter
	Pricing      *struct {
		Prompt     number `json:"prompt"`
		Completion number `json:"completion"`
		CacheRead  number `json:"input_cache_read"`
		CacheWrite number `json:"input_cache_write"`
	} `json:"pricing"` // OpenRouter: dollars a token
}

// number takes a JSON number, a number in a string, and anything else as 0: the rows come from a
// server.
type number float64

// UnmarshalJSON never fails, so that one odd field does not hide a whole list.
func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	if err == nil && v > 0 && !math.IsInf(v, 0) {
		*n = number(v)
	}
	return nil
}

func (n number) tokens() int { return int(min(float64(n), 1<<30)) }

// takesInput reads the row's architecture, if that is in a form we know: "image", "file".
func (r modelRow) takesInput(input string) bool {
	var a struct {
		Input []string `json:"input_modalities"`
	}
	return json.Unmarshal(r.Architecture, &a) == nil && slices.Contains(a.Input, input)
}

func (r modelRow) toModel(e Endpoint) Model {
	window := cmp.Or(r.Loaded, r.Meta.Ctx, r.ContextLength, r.ContextWindow, r.MaxModelLen, r.MaxContext, r.Top.Context,
		r.MaxInput, r.Meta.CtxTrain)
	m := Model{
		ID: r.ID, Provider: e.Name, Name: cmp.Or(r.Display, r.Name, r.ID), Window: window.tokens(),
		MaxOutput: cmp.Or(r.MaxOutput, r.MaxOutputTokens, r.MaxTokens, r.Top.MaxOutput).tokens(),
		Images:    r.takesInput("image"), Files: r.takesInput("file"),
	}
	if p := r.Pricing; p != nil && (p.Prompt > 0 || p.Completion > 0 || strings.HasSuffix(r.ID, ":free")) {
		const perMillion = 1e6
		m.PriceIn, m.PriceOut = float64(p.Prompt)*perMillion, float64(p.Completion)*perMillion
		m.PriceCachedIn, m.PriceWrite = float64(p.CacheRead)*perMillion, float64(p.CacheWrite)*perMillion
		m.Cache = p.CacheRead > 0
		m.Priced = true
	}
	return m.mergeKnown(Known(e, r.ID))
}

// maxModels bounds what a server can make us show.
const maxModels = 5000

// ParseModels reads the body of GET /v1/models: {"data": [...]}, {"models": [...]} or a bare list.
func ParseModels(e Endpoint, body []byte) ([]Model, error) {
	var list struct {
		Data   []modelRow `json:"data"`
		Models []modelRow `json:"models"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		if isHTML(body) {
			return nil, fmt.Errorf("%s: the server answered with a web page instead of a list of models; check the base URL: it usually ends with /v1; "+
				"a sign-in page of the network may be in between", e.Name)
		}
		if json.Unmarshal(body, &list.Data) != nil {
			return nil, fmt.Errorf("%s: the list of models is not in a form we know: %w", e.Name, err)
		}
	}
	rows := list.Data
	if len(rows) == 0 {
		rows = list.Models
	}
	out := make([]Model, 0, min(len(rows), maxModels))
	for _, r := range rows[:min(len(rows), maxModels)] {
		r.ID = strings.TrimPrefix(r.ID, "models/")
		if r.ID == "" || strings.ContainsFunc(r.ID, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			continue
		}
		out = append(out, r.toModel(e))
	}
	slices.SortStableFunc(out, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// isLoopback reports whether the address is on this machine, judged by its text alone: nothing is
// looked up.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// sameHost reports whether two addresses are of one host and port.
func sameHost(a, b string) bool {
	host := hostOf(a)
	return host != "" && host == hostOf(b)
}

// hostOf is the host and the port of an address; "" when it is none.
func hostOf(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(u.Host)
}
