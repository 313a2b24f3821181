//go:build !linux

package childenv

// Conceal does nothing here: other systems show a process's environment to nobody, or have no way
// to change what they show.
func Conceal() {}
