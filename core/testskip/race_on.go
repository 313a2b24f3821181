//go:build race

package testskip

// UnderRace says that the race detector watches. It makes what computes ten times slower and takes
// several times the memory.
const UnderRace = true
