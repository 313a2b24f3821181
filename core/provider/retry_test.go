package provider_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/provider"
)

var classes = []provider.Class{
	provider.ClassRateLimit, provider.ClassOverloaded, provider.ClassServer, provider.ClassNetwork, provider.ClassTimeout,
	provider.ClassMalformed, provider.ClassTooLarge, provider.ClassAuth, provider.ClassBilling, provider.ClassContextOverflow, provider.ClassContentFilter,
	provider.ClassModelNotFound, provider.ClassFormat, provider.ClassCancelled, provider.ClassUnknown,
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		class   provider.Class
		after   time.Duration
		attempt int
		wait    time.Duration
		again   bool
	}{
		{provider.ClassRateLimit, 0, 1, 2 * time.Second, true},
		{provider.ClassRateLimit, 0, 2, 4 * time.Second, true},
		{provider.ClassRateLimit, 0, 4, 0, false},
		{provider.ClassRateLimit, 20 * time.Second, 1, 20 * time.Second, true},
		{provider.ClassRateLimit, 61 * time.Second, 1, 0, false},
		{provider.ClassOverloaded, 0, 3, 4 * time.Second, true},
		{provider.ClassOverloaded, 0, 4, 15 * time.Second, true},
		{provider.ClassOverloaded, 0, 7, 0, false},
		{provider.ClassServer, 0, 3, 4 * time.Second, true},
		{provider.ClassNetwork, 0, 1, 500 * time.Millisecond, true},
		{provider.ClassNetwork, 0, 4, 0, false},
		{provider.ClassMalformed, 0, 2, time.Second, true},
		{provider.ClassMalformed, 0, 3, 0, false},
		{provider.ClassUnknown, 0, 2, 0, false},
		{provider.ClassAuth, time.Second, 1, 0, false},
		{provider.ClassTooLarge, 0, 1, 0, false},
		{provider.ClassContextOverflow, 0, 1, 0, false},
		{provider.ClassCancelled, 0, 1, 0, false},
		{provider.ClassServer, 0, 0, 0, false},
	} {
		wait, again := provider.NextWith(&provider.Error{Class: c.class, RetryAfter: c.after}, c.attempt, 0.5)
		if wait != c.wait || again != c.again {
			t.Errorf("%s after failure %d: %s %v, want %s %v", c.class, c.attempt, wait, again, c.wait, c.again)
		}
	}
	if _, again := provider.Next(nil, 1); again {
		t.Error("a success is tried again")
	}
}

func TestNextIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &provider.Error{
			Class:      rapid.SampledFrom(classes).Draw(t, "class"),
			RetryAfter: time.Duration(rapid.Int64Range(-1, int64(2*time.Minute)).Draw(t, "after")),
		}
		attempt := rapid.IntRange(-1, 20).Draw(t, "attempt")
		wait, again := provider.NextWith(e, attempt, rapid.Float64Range(0, 1).Draw(t, "chance"))
		switch {
		case again && !e.Class.Retryable():
			t.Fatal("what cannot succeed is tried again")
		case again && (wait <= 0 || wait > time.Minute || wait < e.RetryAfter):
			t.Fatalf("waits %s", wait)
		case again && attempt > 6, !again && wait != 0:
			t.Fatalf("attempt %d: %s %v", attempt, wait, again)
		}
	})
}

func TestWithoutStream(t *testing.T) {
	broken := &provider.Error{Class: provider.ClassMalformed}
	if provider.WithoutStream(broken, 1) || !provider.WithoutStream(broken, 2) || provider.WithoutStream(&provider.Error{Class: provider.ClassServer}, 2) {
		t.Error("the second try after a broken stream, and only that, asks for one piece")
	}
}
