//go:build !amd64

package hnsw

// dotBefore is the product of two vectors of one length; the one of next comes after.
func dotBefore(a, b, _ []float32) float32 { return dotPlain(a, b) }
