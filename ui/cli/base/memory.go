package base

import (
	"hermes/core/config"
	"hermes/core/memory"
)

// OpenMemory is the memory of a profile, with the limits of its settings.
func OpenMemory(cfg *config.Config) *memory.Store {
	return memory.New(cfg.Paths().Home, func() memory.Limits {
		return memory.Limits{Notes: cfg.Memory.CharLimit, User: cfg.Memory.UserCharLimit}
	})
}
