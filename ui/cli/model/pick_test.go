package model

import (
	"strings"
	"testing"

	"hermes/core/provider"
)

func TestModelOptions(t *testing.T) {
	got := modelOptions([]provider.Model{
		{Provider: "mine", ID: "m\x1b[2J", Key: true},
		{Provider: "lab", ID: "large", Window: 200_000, Priced: true, PriceIn: 1, PriceOut: 2.5, Tools: true, Key: true},
		{Provider: "lab", ID: "small", Window: 1_500_000, Priced: true},
	})
	want := []string{
		"lab/large  200k  $1/$2.5  tools",
		"lab/small     1.5M  free    (no key)",
		"mine/m",
	}
	for i, o := range got {
		if strings.ContainsRune(o.Key, 0x1b) || !strings.HasPrefix(o.Key, want[i]) {
			t.Errorf("line %d is %q, want %q", i, o.Key, want[i])
		}
	}
	if got[2].Value != "mine/m\x1b[2J" {
		t.Errorf("chosen would be %q", got[2].Value)
	}
}
