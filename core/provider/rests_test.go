package provider_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/core/atomicfile"
	"hermes/core/provider"
)

// started is a Set as a program has it that starts now and keeps its rests in a file.
func started(t *testing.T, file string, change func(*provider.Settings)) *provider.Set {
	t.Helper()
	return chained(func(s *provider.Settings) {
		if change != nil {
			change(s)
		}
		s.Health = provider.NewHealth()
		s.Health.KeepIn(file, func(err error) { t.Error(err) })
	})
}

// A key that a rate limit made rest rests for the next program too, until its time is over; one
// that works again does not.
func TestARateLimitOutlivesTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "cache", "rests.json")
		only := func(s *provider.Settings) { s.Fallbacks = nil }
		limited := &provider.Error{Class: provider.ClassRateLimit, HTTP: 429, RetryAfter: 10 * time.Minute}
		route(t, started(t, file, only)).Failed(t.Context(), limited)
		if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), "lab") {
			t.Fatalf("%v; a name or a key is in %s", err, data)
		}
		time.Sleep(9 * time.Minute)
		if got := where(route(t, started(t, file, only))); got != "lab#2" {
			t.Fatalf("after 9 minutes %s", got)
		}
		time.Sleep(time.Minute)
		last := started(t, file, only)
		r := route(t, last)
		if got := where(r); got != "lab#1" {
			t.Fatalf("after 10 minutes %s", got)
		}
		r.Failed(t.Context(), &provider.Error{Class: provider.ClassRateLimit, RetryAfter: time.Hour})
		p, err := last.Route(t.Context(), "", 0)
		if err != nil || where(p) != "lab#2" {
			t.Fatal(err)
		}
		p.Worked()
		if got := where(route(t, started(t, file, only))); got != "lab#2" {
			t.Fatalf("another key that works wakes this one: %s", got)
		}
	})
}

// A model whose keys all rest is left out by the next program too, and found out by one call when
// its time is over. What a person mends before they start again is not kept.
func TestTheWayBackAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "rests.json")
		r := route(t, started(t, file, nil))
		for where(r) != "backup" {
			r.Failed(t.Context(), &provider.Error{Class: provider.ClassRateLimit, RetryAfter: 10 * time.Minute})
		}
		next := route(t, started(t, file, nil))
		skipped, yes := next.Skipped()
		if where(next) != "backup" || !yes || skipped.Cause.Class != provider.ClassRateLimit || skipped.Wait < 9*time.Minute {
			t.Fatalf("%s %+v", where(next), skipped)
		}
		time.Sleep(10 * time.Minute)
		set := started(t, file, nil)
		if r := route(t, set); where(r) != "lab#1" {
			t.Fatal(where(r))
		}
		for _, class := range []provider.Class{provider.ClassAuth, provider.ClassBilling, provider.ClassServer, provider.ClassNetwork} {
			file := filepath.Join(t.TempDir(), "rests.json")
			way(t, route(t, started(t, file, nil)), provider.Error{Class: class})
			if r := route(t, started(t, file, nil)); where(r) != "lab#1" {
				t.Errorf("%s: %s", class, where(r))
			}
		}
	})
}

// Whatever is in the file, and whatever the clock was: a program starts, and nothing rests for
// longer than it was told to.
func TestFilesOfRests(t *testing.T) {
	of := func(text string) func(string, string) string { return func(string, string) string { return text } }
	for name, c := range map[string]struct {
		text func(written, year string) string
		want string
	}{
		"as it was":             {func(written, _ string) string { return written }, "lab#2"},
		"written in the future": {func(written, year string) string { return strings.ReplaceAll(written, year, "2950-") }, "lab#2"},
		"until far away": {func(written, year string) string {
			return strings.Replace(written, `"until":"`+year, `"until":"9950-`, 1)
		}, "lab#2"},
		"written in the past":    {func(written, year string) string { return strings.ReplaceAll(written, year, "1990-") }, "lab#1"},
		"broken":                 {func(written, _ string) string { return written[:len(written)/2] }, "lab#1"},
		"empty":                  {of(""), "lab#1"},
		"something else":         {of(`[1]`), "lab#1"},
		"none":                   {of(`{"rests":null}`), "lab#1"},
		"rests of another shape": {of(`{"rests":{"a":7}}`), "lab#1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { readRests(t, c.text, c.want, name != "until far away") })
		})
	}
}

// readRests changes a file that was written after a rate limit of an hour, and begins with it. What
// rests for an hour is asked again after it.
func readRests(t *testing.T, change func(written, year string) string, want string, anHour bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rests.json")
	only := func(s *provider.Settings) { s.Fallbacks = nil }
	route(t, started(t, file, only)).Failed(t.Context(), &provider.Error{Class: provider.ClassRateLimit, RetryAfter: time.Hour})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(change(string(data), time.Now().Format("2006-"))), 0o600); err != nil {
		t.Fatal(err)
	}
	h := provider.NewHealth()
	h.KeepIn(file, func(error) {})
	set := chained(func(s *provider.Settings) { only(s); s.Health = h })
	if got := where(route(t, set)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if want != "lab#2" || !anHour {
		return
	}
	synctest.Wait()
	time.Sleep(time.Hour)
	if got := where(route(t, set)); got != "lab#1" {
		t.Errorf("after an hour %s", got)
	}
}

// Two programs write one file. What the one has to say of a key comes to the file late, behind what
// the other one found out since: the newer news hold, whoever writes them last.
func TestTheNewerNewsOfTwoProgramsHold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rests.json")
	only := func(s *provider.Settings) { s.Fallbacks = nil }
	limited := &provider.Error{Class: provider.ClassRateLimit, HTTP: 429, RetryAfter: 10 * time.Minute}
	set := started(t, file, only)
	route(t, started(t, file, only)).Failed(t.Context(), limited)
	late := route(t, set)

	unlock, err := atomicfile.Lock(file + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); late.Failed(t.Context(), limited) }()
	for where(route(t, set)) == "lab#1" {
		runtime.Gosched()
	}
	type kept struct {
		Since time.Time `json:"since"`
		Until time.Time `json:"until"`
	}
	var all struct {
		Rests map[string]kept `json:"rests"`
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil || len(all.Rests) != 1 {
		t.Fatalf("%v: %s", err, data)
	}
	for id := range all.Rests {
		all.Rests[id] = kept{time.Now(), time.Now()} // another program says that it works again
	}
	if data, err = json.Marshal(all); err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	<-done
	if got := where(route(t, started(t, file, only))); got != "lab#1" {
		t.Errorf("an old rest was written over news that it is over: %s", got)
	}
}
