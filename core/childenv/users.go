package childenv

import (
	_ "embed"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed users.yaml
var usersText []byte

// users are the variables that programs take a secret from, by program.
var users = sync.OnceValue(func() map[string][]string {
	var out map[string][]string
	if yaml.Unmarshal(usersText, &out) != nil { // a test reads it
		return nil
	}
	return out
})

// UsersOf names the programs that take a secret from a variable, in order.
func UsersOf(variable string) []string {
	var out []string
	for program, names := range users() {
		if slices.Contains(names, variable) {
			out = append(out, program)
		}
	}
	slices.Sort(out)
	return out
}
