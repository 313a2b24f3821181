package provider

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"time"
)

// Health is what calls taught about keys and models: which of them rest, and until when. It
// outlives a change of the settings. Moments are kept with the monotonic clock, so that a jump of
// the machine's clock wakes nothing and keeps nothing asleep. It is safe for concurrent use.
type Health struct {
	mu     sync.Mutex
	chance func() float64
	rests  map[string]rest  // by key or model: see restOfKey, restOfModel
	uses   map[string]int64 // by key: the calls that it was chosen for
	turns  map[string]int   // by provider: whose turn it is

	file   string               // where limits are kept, see KeepIn; "": nowhere
	known  map[string]time.Time // by what is kept there: when this program learned of it
	failed func(error)
}

// rest is how long something is left alone.
type rest struct {
	until   time.Time
	failed  int // times in a row
	class   Class
	probing time.Time // until when a call finds out whether it is well again
}

// NewHealth returns a Health that knows of no failure.
func NewHealth() *Health {
	return &Health{chance: rand.Float64, rests: map[string]rest{}, uses: map[string]int64{}, turns: map[string]int{}, known: map[string]time.Time{}}
}

func restOfKey(provider, key string) string { return hashOf("key", provider, key) }
func restOfModel(ref string) string         { return hashOf("model", ref) }

// How long keys and models rest at first, and at most. What a server says about its own reset wins.
const (
	keyRest, keyRestMost     = time.Minute, 15 * time.Minute
	modelRest, modelRestMost = 30 * time.Second, 10 * time.Minute

	authRest     = 5 * time.Minute
	billingRest  = time.Hour
	notFoundRest = 10 * time.Minute

	// probeTime is how long one call may find out alone whether a model is well again.
	probeTime = 5 * time.Minute
)

// benchKey lets a key rest after a failure that is the key's.
func (h *Health) benchKey(name, key string, failed *Error) {
	h.restModel(restOfKey(name, key), failed, keyRest, keyRestMost)
}

// benchModel lets a model rest after the calls to it were given up.
func (h *Health) benchModel(ref string, failed *Error) {
	h.restModel(restOfModel(ref), failed, modelRest, modelRestMost)
}

func (h *Health) restModel(id string, failed *Error, first, most time.Duration) {
	h.mu.Lock()
	before := h.rests[id]
	r := rest{failed: before.failed + 1, class: failed.Class}
	r.until = time.Now().Add(h.restLength(failed, first, most, r.failed))
	h.rests[id], h.known[id] = r, time.Now()
	h.mu.Unlock()
	if r.class == ClassRateLimit || before.class == ClassRateLimit {
		h.keepRests(id)
	}
}

// restLength is how long a rest is, the times-th in a row.
func (h *Health) restLength(failed *Error, first, most time.Duration, times int) time.Duration {
	long := min(most, first<<min(times-1, 10))
	long -= time.Duration(h.chance() / 8 * float64(long)) // so that not all come back together
	switch failed.Class {
	case ClassAuth:
		long = authRest
	case ClassBilling:
		long = billingRest
	case ClassModelNotFound:
		long = notFoundRest
	default:
	}
	return cmp.Or(failed.RetryAfter, long)
}

// noteWorked says that a call with the key worked at the model.
func (h *Health) noteWorked(name, key, ref string) {
	var kept []string
	h.mu.Lock()
	for _, id := range []string{restOfKey(name, key), restOfModel(ref)} {
		if h.rests[id].class == ClassRateLimit {
			kept = append(kept, id)
			h.known[id] = time.Now()
		}
		delete(h.rests, id)
	}
	h.mu.Unlock()
	if len(kept) > 0 {
		h.keepRests(kept...)
	}
}

// restOf is when a rest ends; the zero time when there is none.
func (h *Health) restOf(id string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.rests[id]; time.Now().Before(r.until) {
		return r.until
	}
	return time.Time{}
}

// enterModel reports whether a call may go to a model. After a rest only one at a time may, as a
// probe.
func (h *Health) enterModel(ref string) (ok, probe bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id, now := restOfModel(ref), time.Now()
	r, rested := h.rests[id]
	switch {
	case !rested:
		return true, false
	case now.Before(r.until), now.Before(r.probing):
		return false, false
	}
	r.probing = now.Add(probeTime)
	h.rests[id] = r
	return true, true
}

// leaveProbe ends a probe that found nothing out.
func (h *Health) leaveProbe(ref string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, rested := h.rests[restOfModel(ref)]; rested {
		r.probing = time.Time{}
		h.rests[restOfModel(ref)] = r
	}
}

// whyResting is the class of the failure that a model rests for.
func (h *Health) whyResting(ref string) Class {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rests[restOfModel(ref)].class
}
