package childenv

import (
	"slices"
	"testing"
)

// The file is read whole, and each variable in it is one that commands do not get by themselves.
func TestWhoUsesAWithheldVariable(t *testing.T) {
	t.Parallel()
	if got := UsersOf("NPM_TOKEN"); !slices.Equal(got, []string{"npm", "pnpm", "yarn"}) {
		t.Errorf("NPM_TOKEN: %q", got)
	}
	if got := UsersOf("GITHUB_TOKEN"); !slices.Equal(got, []string{"gh"}) {
		t.Errorf("GITHUB_TOKEN: %q", got)
	}
	if got := UsersOf("PATH"); got != nil {
		t.Errorf("PATH: %q", got)
	}
	for program, names := range users() {
		for _, name := range names {
			if !LooksSecret(name) {
				t.Errorf("%s: %s passes anyway", program, name)
			}
		}
	}
}
