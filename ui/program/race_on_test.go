//go:build race

package program

// underRace says that the race detector watches, which takes several times the memory.
const underRace = true
