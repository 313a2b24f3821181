package core

import (
	"fmt"
	"slices"
	"strings"

	"hermes/core/config"
	"hermes/core/nearest"
	"hermes/core/provider"
)

// CheckProviders says which settings name a provider that is neither one of the settings nor a
// vendor of the catalogue, by key. A model behind such a name would be looked for elsewhere.
func CheckProviders(c *config.Config) map[string]error {
	known, _ := loadCatalogue(c.Paths())
	names := []string{"", "auto", "main", "custom", provider.Offline}
	for name := range modelSettings(c, known, "", true).Providers {
		names = append(names, name)
	}
	for _, v := range known.Vendors {
		names = append(append(names, v.Name), v.Aliases...)
	}
	wrong := map[string]error{}
	for _, v := range c.Values() {
		name, ok := providerIn(v)
		if !ok || slices.Contains(names, name) {
			continue
		}
		near := ""
		if n, ok := nearest.Name(name, names); ok {
			near = ", did you mean " + n + "?"
		}
		wrong[v.Key] = fmt.Errorf("there is no provider %q%s", name, near)
	}
	return wrong
}

// providerIn is the provider that a setting names, if it names one.
func providerIn(v config.Value) (name string, ok bool) {
	if name, ok = strings.CutPrefix(v.Key, "credential_pool_strategies."); ok {
		return name, true
	}
	section, key, _ := strings.Cut(v.Key, ".")
	aside := section == "auxiliary" && strings.HasSuffix(key, ".provider")
	return v.Value, aside || v.Key == "model.provider" || v.Key == "memory.embedding.provider"
}
