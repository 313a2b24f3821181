package docker

import (
	"strings"
	"testing"
)

func FuzzParseMount(f *testing.F) {
	for _, seed := range []string{"/a:/b", "~/a:/b:ro", "a:b", "::", "/a:/b/../..:rw"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, bad := parseMount(text)
		if (bad == "") != (m.Target != "") && bad == "" {
			t.Errorf("%q: %+v, %q", text, m, bad)
		}
		if bad == "" && (m.Target[0] != '/' || strings.Contains(m.Target, "/../")) {
			t.Errorf("%q: target %q", text, m.Target)
		}
	})
}
