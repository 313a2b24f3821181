package shelltext

import (
	"slices"
	"testing"
)

func TestDeciding(t *testing.T) {
	for text, want := range map[string][]string{
		"make test":                            {"make test"},
		"cd x && make test":                    {"cd x", "make test"},
		"cd x; make test":                      {"make test"},
		"make test; true":                      {"true"},
		"make test || true":                    nil,
		"make test | tail -5":                  {"tail -5"},
		"set -o pipefail; make test | tee log": {"make test", "tee log"},
		"set -e; make test; date":              {"set -e", "make test", "date"},
		"set -e; set +e; make test; date":      nil,
		"set -e; { make test; date; } && ls":   {"set -e", "date", "ls"},
		"! make test":                          nil,
		"make test &":                          nil,
		"(cd x; make test)":                    {"make test"},
		"timeout 60 make test":                 {"make test"},
		"CI=1 env A=b make test 2>&1":          {"make test"},
		"bash -c 'make test; true'":            {"true"},
		"bash -c 'cd x && make test'":          {"cd x", "make test"},
		"time make test":                       {"make test"},
		"find . -exec make test ';'":           nil,
		"ls | xargs make test":                 nil,
		"setsid make test":                     nil,
		"make() { true; }; make test":          nil,
		"alias make=true; make test":           nil,
		"trap 'exit 0' EXIT; make test":        nil,
		"exit 0; make test":                    nil,
		"if make test; then ls; fi":            nil,
		"echo make test":                       {"echo make test"},
		"make 'test":                           nil,
	} {
		var got []string
		for _, words := range Deciding(text) {
			got = append(got, Join(words))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
