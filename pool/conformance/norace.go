//go:build !race

package conformance

// much is how many bytes pass in flat memory.
const much = 1 << 30
