package provider_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/core/provider"
)

// deaf is a provider that no test calls: a Route only says where calls go.
type deaf struct{ e provider.Endpoint }

func (d deaf) Name() string                                   { return d.e.Name }
func (deaf) Models(context.Context) ([]provider.Model, error) { return nil, nil }
func (deaf) Stream(context.Context, provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(func(provider.Chunk, error) bool) {}
}

// chained is a Set of three servers: lab with two keys, backup, and large with a larger window.
func chained(change func(*provider.Settings)) *provider.Set {
	s := provider.Settings{
		Default: "lab/m", NoDetect: true, Fallbacks: []string{"backup/m", "large/m"},
		Kinds: map[string]provider.Maker{
			provider.ModeChat: func(e provider.Endpoint) (provider.Provider, error) { return deaf{e}, nil },
		},
		Providers: map[string]provider.Endpoint{},
	}
	for i, name := range []string{"lab", "backup", "large"} {
		s.Providers[name] = provider.Endpoint{
			BaseURL: "https://" + name + ".example/v1", Key: name + "-1", KeyFrom: strings.ToUpper(name) + "_API_KEY",
			Models: []string{"m"}, Limits: map[string]provider.Limit{"m": {Window: 1000 * (i/2 + 1)}},
		}
	}
	lab := s.Providers["lab"]
	lab.Keys = []provider.Credential{{Key: "lab-2", From: "LAB_API_KEY_2"}}
	s.Providers["lab"] = lab
	if change != nil {
		change(&s)
	}
	return provider.NewSet(s)
}

func route(t *testing.T, set *provider.Set) *provider.Route {
	t.Helper()
	r, err := set.Route(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// where names a leg: "lab#2" is the second key of lab.
func where(r *provider.Route) string {
	l := r.Leg()
	if l.Key > 0 {
		return fmt.Sprintf("%s#%d", l.Provider.Name(), l.Key)
	}
	return l.Provider.Name()
}

// way fails every call with the same class and says where each call went; "!" is the end. Waits are
// written when they are long.
func way(t *testing.T, r *provider.Route, e provider.Error) string {
	t.Helper()
	var out []string
	for range 50 {
		out = append(out, where(r))
		failed := e
		step := r.Failed(t.Context(), &failed)
		if !step.Again {
			return strings.Join(append(out, "!"), " ")
		}
		time.Sleep(step.Wait)
	}
	t.Fatal("it never ends")
	return ""
}

func repeat(n int, s string) string { return strings.TrimSpace(strings.Repeat(s+" ", n)) }

// Every row of the error table: which keys and which models are asked, how often, in which order.
func TestTheErrorTable(t *testing.T) {
	only := func(s *provider.Settings) { s.Fallbacks = nil }
	alone := func(s *provider.Settings) {
		s.Fallbacks = nil
		e := s.Providers["lab"]
		e.Keys = nil
		s.Providers["lab"] = e
	}
	for _, c := range []struct {
		name               string
		err                provider.Error
		alone, keys, chain string
	}{
		{
			"rate limit",
			provider.Error{Class: provider.ClassRateLimit, HTTP: 429},
			repeat(4, "lab"), "lab#1 lab#1 " + repeat(4, "lab#2"),
			"lab#1 lab#1 " + repeat(4, "lab#2") + " " + repeat(4, "backup") + " " + repeat(4, "large"),
		},
		{
			"rate limit, for long",
			provider.Error{Class: provider.ClassRateLimit, HTTP: 429, RetryAfter: time.Hour},
			"lab", "lab#1 lab#2", "lab#1 lab#2 backup large",
		},
		{
			"rate limit, longer than another key takes",
			provider.Error{Class: provider.ClassRateLimit, HTTP: 429, RetryAfter: 20 * time.Second},
			repeat(4, "lab"), "lab#1 " + repeat(4, "lab#2"),
			"lab#1 " + repeat(4, "lab#2") + " " + repeat(4, "backup") + " " + repeat(4, "large"),
		},
		{
			"overloaded",
			provider.Error{Class: provider.ClassOverloaded, HTTP: 529},
			repeat(7, "lab"), repeat(7, "lab#1"), "lab#1 lab#1 backup backup " + repeat(7, "large"),
		},
		{
			"server",
			provider.Error{Class: provider.ClassServer, HTTP: 500},
			repeat(4, "lab"), repeat(4, "lab#1"), repeat(4, "lab#1") + " " + repeat(4, "backup") + " " + repeat(4, "large"),
		},
		{
			"network",
			provider.Error{Class: provider.ClassNetwork},
			repeat(4, "lab"), repeat(4, "lab#1"), repeat(4, "lab#1") + " " + repeat(4, "backup") + " " + repeat(4, "large"),
		},
		{
			"timeout",
			provider.Error{Class: provider.ClassTimeout},
			repeat(4, "lab"), repeat(4, "lab#1"), repeat(4, "lab#1") + " " + repeat(4, "backup") + " " + repeat(4, "large"),
		},
		{
			"malformed",
			provider.Error{Class: provider.ClassMalformed},
			repeat(3, "lab"), repeat(3, "lab#1"), repeat(3, "lab#1") + " " + repeat(3, "backup") + " " + repeat(3, "large"),
		},
		{"auth", provider.Error{Class: provider.ClassAuth, HTTP: 401}, "lab", "lab#1 lab#2", "lab#1 lab#2 backup large"},
		{"billing", provider.Error{Class: provider.ClassBilling, HTTP: 402}, "lab", "lab#1 lab#2", "lab#1 lab#2 backup large"},
		{"content filter", provider.Error{Class: provider.ClassContentFilter}, "lab", "lab#1", "lab#1 backup"},
		{"no such model", provider.Error{Class: provider.ClassModelNotFound, HTTP: 404}, "lab", "lab#1", "lab#1 backup large"},
		{"format", provider.Error{Class: provider.ClassFormat, HTTP: 400}, "lab", "lab#1", "lab#1"},
		{"too large", provider.Error{Class: provider.ClassTooLarge}, "lab", "lab#1", "lab#1 backup large"},
		{"overflow", provider.Error{Class: provider.ClassContextOverflow, HTTP: 400}, "lab", "lab#1", "lab#1"},
		{"cancelled", provider.Error{Class: provider.ClassCancelled}, "lab", "lab#1", "lab#1"},
		{
			"unknown",
			provider.Error{Class: provider.ClassUnknown},
			repeat(2, "lab"), repeat(2, "lab#1"), repeat(2, "lab#1") + " " + repeat(2, "backup") + " " + repeat(2, "large"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, one := range []struct {
					change func(*provider.Settings)
					want   string
				}{{alone, c.alone}, {only, c.keys}, {nil, c.chain}} {
					set := chained(one.change)
					if got := way(t, route(t, set), c.err); got != one.want+" !" {
						t.Errorf("\n got %s\nwant %s !", got, one.want)
					}
				}
			})
		})
	}
}

// A person's bound on tries holds at every stop.
func TestMostBoundsTheTriesAtAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for most, want := range map[int]string{-1: "lab#1 backup large !", 1: "lab#1 lab#1 backup backup large large !"} {
			r, err := chained(nil).Route(t.Context(), "", most)
			if err != nil {
				t.Fatal(err)
			}
			if got := way(t, r, provider.Error{Class: provider.ClassServer}); got != want {
				t.Errorf("%d: %s", most, got)
			}
		}
	})
}

// The next turn leaves out what rests, and when the rest is over one turn finds out whether it is
// well: one at a time, with one call.
func TestTheWayBackToTheFirstModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := chained(nil)
		down := &provider.Error{Class: provider.ClassModelNotFound, HTTP: 404}
		first := route(t, set)
		if step := first.Failed(t.Context(), down); !step.Moved || where(first) != "backup" {
			t.Fatal(where(first))
		}
		first.Worked()
		second := route(t, set)
		skipped, yes := second.Skipped()
		if where(second) != "backup" || !yes || skipped.From.Ref() != "lab/m" || skipped.Cause.Class != provider.ClassModelNotFound || skipped.Wait <= 0 {
			t.Fatalf("%s %v %+v", where(second), yes, skipped)
		}
		time.Sleep(skipped.Wait)
		probe, other := route(t, set), route(t, set)
		if where(probe) != "lab#1" || where(other) != "backup" {
			t.Fatalf("probe %s, other %s", where(probe), where(other))
		}
		if step := probe.Failed(t.Context(), &provider.Error{Class: provider.ClassServer}); !step.Moved || where(probe) != "backup" {
			t.Fatalf("a probe has one call: %s", where(probe))
		}
		after := route(t, set)
		longer, _ := after.Skipped()
		if where(after) != "backup" || longer.Wait < 50*time.Second || longer.Wait > time.Minute {
			t.Fatalf("the second rest is twice the first: %s %s", where(after), longer.Wait)
		}
		time.Sleep(longer.Wait)
		again := route(t, set)
		again.Close() // interrupted before anything came
		well := route(t, set)
		well.Worked()
		if a, b := route(t, set), route(t, set); where(a) != "lab#1" || where(b) != "lab#1" {
			t.Fatalf("%s %s", where(a), where(b))
		}
	})
}

// When everything rests the first model is asked: resting must not become an outage.
func TestAllRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := chained(nil)
		way(t, route(t, set), provider.Error{Class: provider.ClassAuth, HTTP: 401})
		if r := route(t, set); where(r) != "large" { // the last one was not left for another
			t.Fatal(where(r))
		}
		set = chained(func(s *provider.Settings) { s.Fallbacks = s.Fallbacks[:1] })
		r := route(t, set)
		r.Leave(t.Context(), &provider.Error{Class: provider.ClassModelNotFound})
		other, err := set.Route(t.Context(), "backup/m", 0)
		if err != nil || where(other) != "backup" {
			t.Fatal(err)
		}
	})
}

func TestKeysRestAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := chained(func(s *provider.Settings) { s.Fallbacks = nil })
		r := route(t, set)
		limited := &provider.Error{Class: provider.ClassRateLimit, HTTP: 429, RetryAfter: 10 * time.Minute}
		step := r.Failed(t.Context(), limited)
		if !step.Moved || where(r) != "lab#2" || limited.Key != "LAB_API_KEY" || step.From.KeyFrom != "LAB_API_KEY" {
			t.Fatalf("%s %+v", where(r), limited)
		}
		r.Worked()
		if p, _, err := set.Resolve(t.Context(), ""); err != nil || p.(deaf).e.Key != "lab-2" {
			t.Fatal("who calls beside the turn takes the key that does not rest")
		}
		time.Sleep(10*time.Minute - time.Second)
		if r := route(t, set); where(r) != "lab#2" {
			t.Fatal("the key came back too soon")
		}
		time.Sleep(time.Second)
		if r := route(t, set); where(r) != "lab#1" {
			t.Fatal("the key did not come back")
		}
	})
}

func TestStrategies(t *testing.T) {
	three := func(s provider.Strategy) *provider.Set {
		return chained(func(all *provider.Settings) {
			e := all.Providers["lab"]
			e.Strategy, e.Keys = s, append(e.Keys, provider.Credential{Key: "lab-3"}, provider.Credential{Key: "lab-1"})
			all.Providers["lab"], all.Fallbacks = e, nil
		})
	}
	ways := func(set *provider.Set, n int) (out []string) {
		for range n {
			out = append(out, where(route(t, set)))
		}
		return out
	}
	if got := ways(three(provider.FillFirst), 3); !slices.Equal(got, []string{"lab#1", "lab#1", "lab#1"}) {
		t.Error(got)
	}
	if got := ways(three(provider.RoundRobin), 4); !slices.Equal(got, []string{"lab#1", "lab#2", "lab#3", "lab#1"}) {
		t.Error(got)
	}
	least := three(provider.LeastUsed)
	r := route(t, least)
	r.Failed(t.Context(), &provider.Error{Class: provider.ClassAuth}) // to key 2, which is not counted for it
	if got := ways(least, 3); !slices.Equal(got, []string{"lab#2", "lab#3", "lab#2"}) {
		t.Error(got)
	}
	seen := map[string]bool{}
	for _, w := range ways(three(provider.RandomKey), 200) {
		seen[w] = true
	}
	if len(seen) != 3 {
		t.Error(seen)
	}
}

// A turn waits at most so long for what fails, whatever servers ask for.
func TestTheBudgetOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		way(t, route(t, chained(nil)), provider.Error{Class: provider.ClassRateLimit, RetryAfter: time.Minute})
		if took := time.Since(began); took < 4*time.Minute || took > 5*time.Minute {
			t.Error(took)
		}
	})
}

func TestALargerWindow(t *testing.T) {
	r := route(t, chained(nil))
	step := r.Larger(t.Context(), &provider.Error{Class: provider.ClassContextOverflow})
	if !step.Moved || where(r) != "large" {
		t.Fatal(where(r))
	}
	if step := r.Larger(t.Context(), &provider.Error{Class: provider.ClassContextOverflow}); step.Again {
		t.Fatal("there is none that is larger")
	}
	if r := route(t, chained(nil)); where(r) != "lab#1" {
		t.Fatal("an overflow is no fault of the model's")
	}
}

// A machine without network: no server can be found. That is waited for, visibly, and no try is
// burnt.
func TestOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := route(t, chained(nil))
		began, waits := time.Now(), 0
		for range 100 {
			failed := provider.Unfound("test", "m")
			step := r.Failed(t.Context(), failed)
			if !step.Again {
				break
			}
			if step.Offline {
				waits++
			}
			time.Sleep(step.Wait)
		}
		if took := time.Since(began); waits < 5 || took < 4*time.Minute || took > 5*time.Minute {
			t.Errorf("%d waits in %s", waits, took)
		}
	})
}

func TestHurriedTriesAreNotCounted(t *testing.T) {
	r := route(t, chained(func(s *provider.Settings) { s.Fallbacks = nil }))
	for range 20 {
		if step := r.Failed(t.Context(), &provider.Error{Class: provider.ClassServer}); !step.Again {
			t.Fatal("a person may ask as often as they like")
		}
		r.Hurried()
	}
}

func TestAMissingModelIsSuggested(t *testing.T) {
	set := chained(func(s *provider.Settings) {
		s.Fallbacks = nil
		e := s.Providers["lab"]
		e.Models = []string{"large-model-2"}
		s.Providers["lab"], s.Default = e, "lab/large-model"
	})
	failed := &provider.Error{Class: provider.ClassModelNotFound, Hint: "check the name"}
	route(t, set).Failed(t.Context(), failed)
	if !strings.Contains(failed.Hint, "did you mean lab/large-model-2?") {
		t.Error(failed.Hint)
	}
}

func TestKeysFromTheEnvironment(t *testing.T) {
	s := provider.Settings{NoDetect: true, Default: "openai/gpt-5"}.WithEnv(env(
		"OPENAI_API_KEY", "a-key", "OPENAI_API_KEY_2", "b-key", "OPENAI_API_KEY_4", "d-key", "GROQ_API_KEY_2", "alone"))
	if e := s.Providers["openai"]; e.KeyCount() != 2 || e.Keys[0].Key != "b-key" || e.Keys[0].From != "OPENAI_API_KEY_2" {
		t.Errorf("%+v", e.Keys)
	}
	if _, there := s.Providers["groq"]; there {
		t.Error("a second key without a first")
	}
}
