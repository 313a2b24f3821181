package hnsw

import "golang.org/x/sys/cpu"

const blockSize = 32 // numbers that dotBlocks takes at a time

// hasBlocks: the processor has the instructions of dotBlocks (AVX2 and FMA: since 2013).
var hasBlocks = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// dotBlocks is the product of blocks*blockSize numbers of each. What stands at next is brought near
// meanwhile: most of the time of a search is waiting for memory.
//
//go:noescape
func dotBlocks(a, b, next *float32, blocks int) float32

// dotBefore is the product of two vectors of one length; the one of next comes after.
func dotBefore(a, b, next []float32) float32 {
	blocks := len(a) / blockSize
	if blocks == 0 || !hasBlocks {
		return dotPlain(a, b)
	}
	whole := blocks * blockSize
	b, next = b[:len(a)], next[:len(a)]
	sum := dotBlocks(&a[0], &b[0], &next[0], blocks)
	if whole < len(a) {
		sum += dotPlain(a[whole:], b[whole:])
	}
	return sum
}
