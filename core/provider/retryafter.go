package provider

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxRetryAfter bounds what a server can ask for. A clock that jumped makes dates far away.
const maxRetryAfter = 24 * time.Hour

// RetryAfter reads how long a server asks to wait: Retry-After-Ms, Retry-After as seconds or a
// date, else words like "try again in 1m20s" in its message. 0 when it asks for nothing, or for a
// moment that has passed. A date counts from the server's own clock when it tells that: ours may
// have jumped.
func RetryAfter(h http.Header, message string, now time.Time) time.Duration {
	if ms, ok := amount(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return ms
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, ok := amount(v, time.Second); ok {
		return s
	}
	if t, err := http.ParseTime(v); err == nil {
		if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
			now = theirs
		}
		return bounded(t.Sub(now))
	}
	if d, err := time.ParseDuration(v); err == nil { // "6ms", "1m0s": some vendors do
		return bounded(d)
	}
	return waitIn(message)
}

func amount(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) {
		return 0, false
	}
	return scaled(f, unit), true
}

func scaled(f float64, unit time.Duration) time.Duration {
	f = max(0, min(f, float64(maxRetryAfter)/float64(unit)))
	return time.Duration(f * float64(unit))
}

func bounded(d time.Duration) time.Duration { return max(0, min(d, maxRetryAfter)) }

var (
	waitWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:try again in|retry in|retry after|reset in|wait|请在|请等待|等待)\s*:?\s*((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|毫秒|秒|分钟|小时|[smh])\s*)+)`)
	})
	waitParts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\d+(?:\.\d+)?)\s*([a-z毫秒分钟小时]+)`)
	})
)

// waitIn finds a wait in a sentence.
func waitIn(message string) time.Duration {
	const enough = 4096 // no vendor tells the wait later than that
	m := waitWords().FindStringSubmatch(message[:min(len(message), enough)])
	if m == nil {
		return 0
	}
	var sum time.Duration
	for _, p := range waitParts().FindAllStringSubmatch(strings.ToLower(m[1]), -1) {
		f, err := strconv.ParseFloat(p[1], 64)
		if err != nil {
			continue
		}
		sum = bounded(sum + scaled(f, unit(p[2])))
	}
	return sum
}

func unit(name string) time.Duration {
	switch {
	case name == "ms" || strings.HasPrefix(name, "milli") || name == "毫秒":
		return time.Millisecond
	case strings.HasPrefix(name, "m") || name == "分钟":
		return time.Minute
	case strings.HasPrefix(name, "h") || name == "小时":
		return time.Hour
	default:
		return time.Second
	}
}
