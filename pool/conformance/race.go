//go:build race

package conformance

// much is a quarter of what it is without the race detector, which makes each byte ten times as
// expensive: a minute for each kind of back end.
const much = 1 << 28
