//go:build race

package hnsw

// underRace says that the race detector watches, which makes what computes ten times slower.
const underRace = true
