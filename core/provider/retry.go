package provider

import (
	"math/rand/v2"
	"time"
)

// maxRetryWait is how long it is worth to wait for the same provider. What asks for more is for
// another key, another provider or another day.
const maxRetryWait = 60 * time.Second

// Next decides whether to send the same request to the same provider again after its attempt-th
// failure (1, 2 ...), and how long to wait before. It is for requests that have not run any tool
// yet. The wait varies by a quarter, so that many clients do not come back together.
func Next(err *Error, attempt int) (wait time.Duration, again bool) {
	return nextWait(err, attempt, rand.Float64())
}

// nextWait is Next with its chance, 0 to 1, given.
func nextWait(err *Error, attempt int, chance float64) (time.Duration, bool) {
	if err == nil || attempt < 1 || !err.Class.Retryable() || err.RetryAfter > maxRetryWait {
		return 0, false
	}
	steps := waitLadder(err.Class)
	if attempt > len(steps) {
		return 0, false
	}
	wait := steps[attempt-1]
	wait += time.Duration((chance - 0.5) / 2 * float64(wait))
	// What the server asks for is a minimum: sooner is a wasted call.
	return max(wait, err.RetryAfter), true
}

// waitLadder is the waits before the tries of a class; its length is their number.
func waitLadder(c Class) []time.Duration {
	switch c {
	case ClassRateLimit:
		return []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}
	case ClassOverloaded:
		return []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 15 * time.Second, 30 * time.Second, 48 * time.Second}
	case ClassServer:
		return []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
	case ClassNetwork, ClassTimeout:
		return []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}
	case ClassMalformed:
		return []time.Duration{500 * time.Millisecond, time.Second} // the second one with Request.NoStream
	case ClassUnknown:
		return []time.Duration{time.Second}
	default:
		return nil
	}
}

// WithoutStream reports whether the try after the attempt-th failure should ask for the answer in
// one piece.
func WithoutStream(err *Error, attempt int) bool {
	return err != nil && err.Class == ClassMalformed && attempt >= 2
}
