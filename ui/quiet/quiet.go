// Package quiet keeps the terminal from being questioned while packages initialise.
//
// bubbletea v1 asks it for its background colour in an init function, long before main. The answer
// costs a round trip before the first frame; a terminal that never answers costs five seconds. We
// resolve light and dark by configuration, so the answer is of no use. termenv, which does the
// asking, holds back where the variable CI is set; so it is set until bubbletea's init is over.
// Restore puts the environment back; package ui calls it in its own init, which runs after.
//
// Go initialises packages in the order of their import paths as soon as what they import is ready.
// This package imports nothing but os, and lipgloss and bubbletea need much that comes later in
// that order, so it is first. A test in ui starts a program on a pseudo-terminal and fails should
// that ever change.
package quiet

import "os"

const name = "CI"

var hidden = hideTerminal()

func hideTerminal() bool {
	if os.Getenv(name) != "" {
		return false
	}
	return os.Setenv(name, "hermes is starting") == nil
}

// Restore puts the environment back as it was. It may be called more than once.
func Restore() {
	if hidden {
		hidden = os.Unsetenv(name) != nil
	}
}
