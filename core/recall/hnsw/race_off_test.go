//go:build !race

package hnsw

const underRace = false
