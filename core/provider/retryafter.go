package provider

import (
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a server can ask for. A clock that jumped makes dates far away.
const maxRetryAfter = 24 * time.Hour

// RetryAfter reads how long a server asks to wait: Retry-After-Ms, Retry-After as seconds or a
// date, else words like "try again in 1m20s" in its message. 0 when it asks for nothing, or for a
// moment that has passed. A date counts from the server's own clock when it tells that: ours may
// have jumped.
func RetryAfter(h http.Header, message string, now time.Time) time.Duration {
	if ms, ok := parseAmount(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return ms
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, ok := parseAmount(v, time.Second); ok {
		return s
	}
	if t, err := http.ParseTime(v); err == nil {
		if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
			now = theirs
		}
		return boundDuration(t.Sub(now))
	}
	if d, err := time.ParseDuration(v); err == nil { // "6ms", "1m0s": some vendors do
		return boundDuration(d)
	}
	return waitIn(message)
}

func parseAmount(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) {
		return 0, false
	}
	return scaleDuration(f, unit), true
}

func scaleDuration(f float64, unit time.Duration) time.Duration {
	f = max(0, min(f, float64(maxRetryAfter)/float64(unit)))
	return time.Duration(f * float64(unit))
}

func boundDuration(d time.Duration) time.Duration { return max(0, min(d, maxRetryAfter)) }

// waitOpeners stand before a wait in the messages of vendors, in lower case.
var waitOpeners = []string{
	"try again in", "retry in", "retry after", "reset in", "resets in", "wait", "请在", "请等待", "等待",
}

// waitUnits are the units of waits. Latin ones stand alone, Chinese ones run into what follows: of
// those the longer ones come first.
var (
	waitUnits = map[string]time.Duration{
		"ms": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
		"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
		"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
		"h": time.Hour, "hour": time.Hour, "hours": time.Hour,
	}
	waitSigns = []struct {
		sign string
		long time.Duration
	}{{"毫秒", time.Millisecond}, {"秒", time.Second}, {"分钟", time.Minute}, {"小时", time.Hour}}
)

// waitIn finds a wait in a sentence.
func waitIn(message string) time.Duration {
	const enough = 4096 // no vendor tells the wait later than that
	message = strings.ToLower(message[:min(len(message), enough)])
	for rest := range textBehind(message, waitOpeners) {
		if wait, ok := readWait(strings.TrimLeft(rest, " \t\r\n:")); ok {
			return wait
		}
	}
	return 0
}

// textBehind gives what stands in text behind each of the openers, in the order of the text.
func textBehind(text string, openers []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range text {
			for _, opener := range openers {
				if rest, found := strings.CutPrefix(text[i:], opener); found && !yield(rest) {
					return
				}
			}
		}
	}
}

// readWait reads the amounts that a text begins with, like "1m20.5s" or "30 秒", as their sum.
func readWait(text string) (sum time.Duration, ok bool) {
	for {
		rest := strings.TrimLeft(text, "0123456789.")
		number := strings.TrimSuffix(text[:len(text)-len(rest)], ".")
		unit, rest := readUnit(strings.TrimLeft(rest, " \t\r\n"))
		wait, isNumber := parseAmount(number, unit)
		if unit == 0 || !isNumber {
			return sum, ok
		}
		sum, ok = boundDuration(sum+wait), true
		text = strings.TrimLeft(rest, " \t\r\n")
	}
}

// readUnit reads the unit that a text begins with; 0 when it begins with none.
func readUnit(text string) (unit time.Duration, rest string) {
	rest = strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz")
	if unit = waitUnits[text[:len(text)-len(rest)]]; unit > 0 {
		return unit, rest
	}
	for _, s := range waitSigns {
		if rest, found := strings.CutPrefix(text, s.sign); found {
			return s.long, rest
		}
	}
	return 0, text
}
