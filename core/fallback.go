package core

import (
	"context"

	"hermes/core/config"
	"hermes/core/provider"
)

// FallbackCheck is what is known of one model of fallback_providers, without the network.
type FallbackCheck struct {
	Ref  string // as the settings say it
	Keys int    // that its provider has
	Err  error  // why it cannot answer; nil: as far as is known, it can
}

// CheckFallbacks looks whether each model of the chain could be asked.
func CheckFallbacks(ctx context.Context, c *config.Config) []FallbackCheck {
	known, _ := loadCatalogue(c.Paths())
	s := modelSettings(c, known, "", true)
	s.NoDetect = true
	set := provider.NewSet(s)
	defer set.Close()
	out := make([]FallbackCheck, 0, len(s.Fallbacks))
	for _, ref := range s.Fallbacks {
		keys, err := set.Keys(ctx, ref)
		out = append(out, FallbackCheck{Ref: ref, Keys: keys, Err: err})
	}
	return out
}

// KeyCounts are the numbers of keys of the providers that have several.
func KeyCounts(c *config.Config) map[string]int {
	out := map[string]int{}
	known, _ := loadCatalogue(c.Paths())
	for name, e := range modelSettings(c, known, "", true).Providers {
		if n := e.KeyCount(); n > 1 {
			out[name] = n
		}
	}
	return out
}
