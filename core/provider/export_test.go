package provider

import (
	"net"
	"slices"
	"time"
)

// NextWith is Next with its chance given.
func NextWith(err *Error, attempt int, chance float64) (time.Duration, bool) {
	return nextWait(err, attempt, chance)
}

// OnlyOllama is a catalogue with Ollama as the only server that is looked for, so that what else
// runs on the machine does not matter.
func OnlyOllama() *Catalogue {
	c := *Shipped()
	c.Vendors = slices.DeleteFunc(slices.Clone(c.Vendors), func(v Vendor) bool { return v.Local && v.Name != "ollama" })
	return &c
}

// OllamaBase is the address that OLLAMA_HOST means.
func OllamaBase(host string) (string, bool) { return ollamaBase(host) }

// CatalogSize is the number of vendors and models in the data.
func CatalogSize() (vendors, models int) { return len(Shipped().Vendors), len(Shipped().Models) }

// ReadPublic reads a public list with the shipped catalogue.
func ReadPublic(data []byte) (map[string][]ModelFacts, error) { return Shipped().readPublic(data) }

// Unfound is the error of a host that cannot be found.
func Unfound(name, model string) *Error {
	return Transport(name, model, &net.DNSError{Name: name + ".example", IsNotFound: true})
}
