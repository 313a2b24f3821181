package config

import "testing"

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"4g": 4 << 30, "512m": 512 << 20, "512": 512 << 20, "1.5g": 3 << 29, "64k": 64 << 10, "100b": 100, "2GiB": 2 << 30, "2 GB": 2 << 30, "1t": 1 << 40,
		"0": 0, "none": NoLimit, "Unlimited": NoLimit, "1_024": 1 << 30,
	} {
		if got, ok := ParseSize(text); !ok || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
		if again, ok := ParseSize(want.String()); !ok || again != want {
			t.Errorf("%s does not come back from %q", text, want)
		}
	}
	for _, text := range []string{"", "g", "4x", "-4g", "4gg", "4gigabytes", "NaN", "Infg", "99999999t", "0x10"} {
		if got, ok := ParseSize(text); ok {
			t.Errorf("%q is taken as %d", text, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"4g", "512m", "none", "1.5 GiB", "", "e9k"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := ParseSize(text)
		if again, back := ParseSize(s.String()); ok && (!back || again != s) {
			t.Errorf("%q is %d, written %q, read back as %d", text, s, s, again)
		}
	})
}
