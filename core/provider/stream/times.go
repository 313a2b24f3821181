package stream

import (
	"cmp"
	"time"

	"hermes/core/provider"
)

// times are the endpoint's timeouts, resolved for calls that answer at once and for calls that
// think first.
type times struct {
	connect              time.Duration
	first, firstThinking time.Duration // until the headers
	idle, idleThinking   time.Duration // between content; the second one until the first content
	total                time.Duration // for the whole of a try; 0: no limit
}

// resolve applies the rule that what is configured wins, and that the defaults are longer for
// whoever thinks first.
func resolve(e provider.Endpoint) times {
	set, full := e.Timeouts, e.Timeouts.WithDefaults()
	return times{
		connect: full.Connect, first: full.FirstByte, idle: full.Idle, total: full.Total,
		firstThinking: cmp.Or(set.FirstByte, full.Thinking), idleThinking: cmp.Or(set.Idle, full.Thinking),
	}
}
