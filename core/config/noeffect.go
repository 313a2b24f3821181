package config

import "maps"

// Setting is a key that is set, and where.
type Setting struct{ Key, Where string }

// WithoutEffect lists what is set and does nothing here, by key: settings that no part of this
// version uses yet, and those of the Python hermes, which may share the home. Whoever sets one
// should not believe that it holds.
func (c *Config) WithoutEffect() []Setting {
	found := map[string]place{}
	maps.Copy(found, c.unused)
	for _, k := range Schema() {
		if at, set := c.places[k.Name]; set && k.Later {
			found[k.Name] = at
		}
	}
	var out []Setting
	for _, key := range sortedKeys(found) {
		out = append(out, Setting{key, found[key].String()})
	}
	return out
}
