package workbench

import (
	"testing"

	"hermes/core/provider"
)

// A model is listed with its window, prices and abilities; without a key it says which it needs and
// cannot be chosen.
func TestModelItems(t *testing.T) {
	items := modelItems([]provider.Model{
		{Provider: "openai", ID: "gpt-5-mini", Window: 400_000, Priced: true, PriceIn: 0.25, PriceOut: 2, Tools: true, Images: true, Reasoning: true, Key: true, Effort: "high"},
		{Provider: "ollama", ID: "qwen", Priced: true, Key: true},
		{Provider: "lab", ID: "x", Window: 1_048_576},
	}, []provider.Model{{Provider: "anthropic", ID: "claude", Window: 1_000_000, Priced: true, PriceIn: 2, PriceOut: 10}})
	for i, want := range []struct{ detail, right, group, why string }{
		{"tools images thinks · effort high", "400k  $0.25/$2", "openai", ""},
		{"", "free", "ollama", ""},
		{"", "1M", "lab · no key", ""},
		{"", "1M  $2/$10", "anthropic · no key", "needs ANTHROPIC_API_KEY"},
	} {
		it := items[i]
		if it.Detail != want.detail || it.Right != want.right || it.Group != want.group || it.Why != want.why {
			t.Errorf("%+v, want %+v", it, want)
		}
	}
}
