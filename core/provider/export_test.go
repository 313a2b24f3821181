package provider

import (
	"testing"
	"time"
)

// NextWith is Next with its chance given.
func NextWith(err *Error, attempt int, chance float64) (time.Duration, bool) {
	return next(err, attempt, chance)
}

// OnlyOllama makes Detect look for Ollama only, so that what else runs on the machine does not
// matter.
func OnlyOllama(t *testing.T) {
	was := localServers
	localServers = localServers[:1:1]
	t.Cleanup(func() { localServers = was })
}

// OllamaBase is the address that OLLAMA_HOST means.
func OllamaBase(host string) (string, bool) { return ollamaBase(host) }

// CatalogSize is the number of vendors and models in the data.
func CatalogSize() (vendors, models int) { return len(catalog().Vendors), len(catalog().Models) }
