package provider_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/core/chat"
	"hermes/core/provider"
)

// voice is a provider that answers by its endpoint, and notes who was asked.
type voice struct {
	deaf
	say   func(e provider.Endpoint, r provider.Request) (string, error)
	asked *[]string
}

func (v voice) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		*v.asked = append(*v.asked, v.e.Key)
		text, err := v.say(v.e, r)
		if text == "silence" {
			<-ctx.Done()
			err = provider.Transport(v.e.Name, r.Model, ctx.Err())
		}
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		_ = yield(provider.Chunk{Kind: provider.ChunkText, Text: text}, nil) &&
			yield(provider.Chunk{Kind: provider.ChunkEnd, Usage: chat.Usage{Input: 3, Output: 1}}, nil)
	}
}

// voiced is the chained Set with voices.
func voiced(say func(e provider.Endpoint, r provider.Request) (string, error)) (*provider.Set, *[]string) {
	asked := &[]string{}
	return chained(func(s *provider.Settings) {
		s.Kinds[provider.ModeChat] = func(e provider.Endpoint) (provider.Provider, error) {
			return voice{deaf{e}, say, asked}, nil
		}
	}), asked
}

func errand(l provider.Leg) provider.Request { return provider.Request{Model: l.Model.ID} }

func run(ctx context.Context, t *testing.T, set *provider.Set, e provider.Errand) (string, error) {
	t.Helper()
	r, err := set.Aside(ctx, []string{"offline", "lab/m"}, "large/m", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if e.Request == nil {
		e.Request = errand
	}
	return r.Run(ctx, e)
}

// Work beside the conversation has what a turn has: tries, keys, other models, in the same order.
func TestAnErrandGoesAlongAsATurnDoes(t *testing.T) {
	for class, want := range map[provider.Class]string{
		provider.ClassRateLimit:     "lab-1 lab-1 lab-2 lab-2 lab-2 lab-2 large-1",
		provider.ClassOverloaded:    "lab-1 lab-1 large-1",
		provider.ClassServer:        "lab-1 lab-1 lab-1 lab-1 large-1",
		provider.ClassNetwork:       "lab-1 lab-1 lab-1 lab-1 large-1",
		provider.ClassTimeout:       "lab-1 lab-1 lab-1 lab-1 large-1",
		provider.ClassMalformed:     "lab-1 lab-1 lab-1 large-1",
		provider.ClassUnknown:       "lab-1 lab-1 large-1",
		provider.ClassAuth:          "lab-1 lab-2 large-1",
		provider.ClassBilling:       "lab-1 lab-2 large-1",
		provider.ClassModelNotFound: "lab-1 large-1",
		provider.ClassTooLarge:      "lab-1 large-1",
		provider.ClassContentFilter: "lab-1 large-1",
		provider.ClassFormat:        "lab-1 large-1",
	} {
		synctest.Test(t, func(t *testing.T) {
			whole := false
			set, asked := voiced(func(e provider.Endpoint, r provider.Request) (string, error) {
				whole = whole || r.NoStream
				if e.Name == "large" {
					return "So.", nil
				}
				return "", &provider.Error{Class: class, Provider: e.Name, Model: r.Model}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			if said, err := run(ctx, t, set, provider.Errand{}); said != "So." || err != nil {
				t.Errorf("%s: %q %v", class, said, err)
			}
			if got := strings.Join(*asked, " "); got != want {
				t.Errorf("%s: asked %s, want %s", class, got, want)
			}
			if whole != (class == provider.ClassMalformed) {
				t.Errorf("%s: asked for one piece: %v", class, whole)
			}
		})
	}
}

// What an errand finds out counts for the conversation: a refused key rests.
func TestAKeyThatAnErrandFoundRefusedRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, _ := voiced(func(e provider.Endpoint, r provider.Request) (string, error) {
			if e.Key == "lab-1" {
				return "", &provider.Error{Class: provider.ClassAuth, Provider: e.Name, Model: r.Model}
			}
			return "So.", nil
		})
		if said, err := run(t.Context(), t, set, provider.Errand{}); said != "So." || err != nil {
			t.Errorf("%q %v", said, err)
		}
		if got := where(route(t, set)); got != "lab#2" {
			t.Errorf("the next turn begins at %s", got)
		}
	})
}

// A model that says nothing leaves time for the next one, and is not asked again at once.
func TestASilentModelLeavesTimeForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, asked := voiced(func(e provider.Endpoint, _ provider.Request) (string, error) {
			if e.Name == "lab" {
				return "silence", nil
			}
			return "So.", nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		if said, err := run(ctx, t, set, provider.Errand{}); said != "So." || err != nil {
			t.Errorf("%q %v", said, err)
		}
		if got := strings.Join(*asked, " "); got != "lab-1 large-1" || time.Since(began) != 15*time.Second {
			t.Errorf("asked %s in %s", got, time.Since(began))
		}
	})
}

// An answer of no use sends the errand on, without blaming the server; its tokens count.
func TestAUselessAnswerIsNobodysFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, asked := voiced(func(e provider.Endpoint, _ provider.Request) (string, error) {
			return map[string]string{"lab": " ", "large": "rubbish", "backup": "So."}[e.Name], nil
		})
		spent := 0
		said, err := run(t.Context(), t, set, provider.Errand{
			Fit: func(text string) error {
				if text == "rubbish" {
					return errors.New("it is rubbish")
				}
				return nil
			},
			Spent: func(_ provider.Leg, u chat.Usage) { spent += u.Input },
		})
		if got := strings.Join(*asked, " "); said != "So." || err != nil || got != "lab-1 large-1 backup-1" || spent != 9 {
			t.Errorf("%q %v: asked %s, %d tokens", said, err, got, spent)
		}
		if got := where(route(t, set)); got != "lab#1" {
			t.Errorf("the next turn begins at %s", got)
		}
	})
}

// When nothing helps the error names every model; a wait that is longer than the time is not begun.
func TestAnErrandThatFailsSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, asked := voiced(func(e provider.Endpoint, r provider.Request) (string, error) {
			return "", &provider.Error{Class: provider.ClassOverloaded, Provider: e.Name, Model: r.Model, RetryAfter: 50 * time.Second, Message: "busy"}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		said, err := run(ctx, t, set, provider.Errand{})
		for _, name := range []string{"lab m", "large m", "backup m"} {
			if !strings.Contains(fmt.Sprint(err), name) {
				t.Errorf("%q: %v does not name %s", said, err, name)
			}
		}
		if got := strings.Join(*asked, " "); got != "lab-1 large-1 backup-1" || time.Since(began) != 0 {
			t.Errorf("asked %s in %s", got, time.Since(began))
		}
		if _, err := set.Aside(ctx, []string{"offline"}, "", 0); err == nil || !strings.Contains(err.Error(), "offline") {
			t.Errorf("%v", err)
		}
	})
}
