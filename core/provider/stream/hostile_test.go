package stream_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/core/testwait"
)

// serve is a server that answers everything with h.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// marked is a stream with one piece of text in it: what comes before that event, the event, and the
// rest. mark stands for the text.
const mark = "ABCDEFGH"

func marked(t *testing.T, w wire) (head, event, tail string) {
	t.Helper()
	events := strings.SplitAfter(rawStream(t, w, modeltest.Turn{Text: mark, Chunk: len(mark)}), "\n\n")
	at := slices.IndexFunc(events, func(e string) bool { return strings.Contains(e, mark) })
	return strings.Join(events[:at], ""), events[at], strings.Join(events[at+1:], "")
}

// flood writes text n times, until the client leaves, and counts the bytes.
func flood(w io.Writer, text string, n int, sent *atomic.Int64) {
	for range n {
		k, err := io.WriteString(w, text)
		sent.Add(int64(k))
		if err != nil {
			return
		}
	}
}

const mega = 1 << 20

// A server that sends 100 MB is left after what a model could have written, whatever the form is.
func TestAnswersOfAHundredMegabytes(t *testing.T) {
	testskip.LongWithoutRace(t, "three formats, five floods each")
	each(t, func(t *testing.T, w wire) {
		head, event, tail := marked(t, w)
		some := strings.Repeat("x", mega)
		first, last, _ := strings.Cut(event, mark)
		for name, c := range map[string]struct {
			kind  string
			write func(out io.Writer, sent *atomic.Int64)
			class provider.Class
			most  int64 // bytes until the client leaves
		}{
			"many events": {"text/event-stream", func(out io.Writer, sent *atomic.Int64) {
				flood(out, head, 1, sent)
				flood(out, strings.Replace(event, mark, some[:8<<10], 1), 100*mega/(8<<10), sent)
			}, provider.ClassTooLarge, 24 * mega},
			"one event": {"text/event-stream", func(out io.Writer, sent *atomic.Int64) {
				flood(out, head+first, 1, sent)
				flood(out, some, 100, sent)
				flood(out, last+tail, 1, sent)
			}, provider.ClassTooLarge, 24 * mega},
			"one line without an end": {"text/event-stream", func(out io.Writer, sent *atomic.Int64) {
				flood(out, some, 100, sent)
			}, provider.ClassTooLarge, 24 * mega},
			"in one piece": {"application/json", func(out io.Writer, sent *atomic.Int64) {
				flood(out, `{"choices":"`, 1, sent)
				flood(out, some, 100, sent)
			}, provider.ClassTooLarge, 24 * mega},
			"events of nothing, then the answer": {"text/event-stream", func(out io.Writer, sent *atomic.Int64) {
				flood(out, head, 1, sent)
				flood(out, strings.Repeat(": still here\n\n", 1000), 100*mega/14_000, sent)
				flood(out, event+tail, 1, sent)
			}, "", 128 * mega},
		} {
			t.Run(name, func(t *testing.T) {
				var sent atomic.Int64
				url := serve(t, func(out http.ResponseWriter, _ *http.Request) {
					out.Header().Set("Content-Type", c.kind)
					c.write(out, &sent)
				})
				r := ask("go")
				r.NoStream = c.kind == "application/json"
				g := collect(t, client(t, w, url, provider.Timeouts{Total: time.Minute}), r)
				if c.class == "" && (g.Err != nil || g.Text != mark) || c.class != "" && (g.Err == nil || g.Err.Class != c.class) {
					t.Fatalf("%v %d bytes", g.Err, len(g.Text))
				}
				if len(g.Text) > 5*mega || sent.Load() > c.most {
					t.Errorf("%d bytes of text, %d were sent", len(g.Text), sent.Load())
				}
			})
		}
	})
}

// The same, compressed to almost nothing, as an error, and as a list of models.
func TestFloodsBesideAnswers(t *testing.T) {
	testskip.LongWithoutRace(t, "two floods in each format")
	each(t, func(t *testing.T, w wire) {
		head, event, _ := marked(t, w)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		var all atomic.Int64
		flood(z, head, 1, &all)
		flood(z, strings.Replace(event, mark, strings.Repeat("x", 64<<10), 1), 1600, &all)
		_ = z.Close()
		url := serve(t, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "text/event-stream")
			out.Header().Set("Content-Encoding", "gzip")
			_, _ = out.Write(packed.Bytes())
		})
		if g := collect(t, client(t, w, url, quick), ask("go")); g.Err == nil || g.Err.Class != provider.ClassTooLarge {
			t.Errorf("%v", g.Err)
		}
		var sent atomic.Int64
		url = serve(t, func(out http.ResponseWriter, _ *http.Request) {
			out.WriteHeader(http.StatusBadGateway)
			flood(out, strings.Repeat("gone ", mega/5), 100, &sent)
		})
		p := client(t, w, url, quick)
		if g := collect(t, p, ask("go")); g.Err == nil || g.Err.Class != provider.ClassServer || len(g.Err.Message) > 4096 {
			t.Errorf("%v", g.Err)
		}
		if _, err := p.Models(t.Context()); err == nil || sent.Load() > 48*mega {
			t.Errorf("%v, %d bytes were sent", err, sent.Load())
		}
	})
}

// Bytes that come one by one and never make an event are silence; content that comes slowly is not.
func TestSlowDrips(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		head, event, tail := marked(t, w)
		drip := func(text string, every time.Duration) string {
			return serve(t, func(out http.ResponseWriter, r *http.Request) {
				out.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(out, head)
				for _, b := range []byte(text) {
					select {
					case <-r.Context().Done():
						return
					case <-time.After(every):
					}
					_, _ = out.Write([]byte{b})
					_ = http.NewResponseController(out).Flush()
				}
			})
		}
		times := quick
		times.Idle = 400 * time.Millisecond
		began := time.Now()
		g := collect(t, client(t, w, drip("data: "+strings.Repeat("x", 10_000), 2*time.Millisecond), times), ask("go"))
		if g.Err == nil || g.Err.Class != provider.ClassTimeout || time.Since(began) > testwait.Within(4*time.Second) {
			t.Errorf("%v after %s", g.Err, time.Since(began))
		}
		times.Idle = 5 * time.Second
		g = collect(t, client(t, w, drip(event+tail, time.Millisecond), times), ask("go"))
		if g.Err != nil || g.Text != mark {
			t.Errorf("%v %q", g.Err, g.Text)
		}
	})
}

// Every value of every event, once with each other type: what comes is an answer or one clear
// error.
func TestWrongTypes(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		raw := rawStream(t, w, modeltest.Turn{
			Text: "So.", Reasoning: "Hm.", Chunk: 8, Calls: []modeltest.Call{{ID: "a", Name: "t", Args: `{"a":1}`}},
			Usage: &modeltest.Usage{Input: 12, Output: 7, Cached: 4, Reasoning: 3},
		})
		var streams []string
		events := strings.SplitAfter(raw, "\n\n")
		for i, e := range events {
			before, data, ok := strings.Cut(e, "data: ")
			var v any
			if !ok || json.Unmarshal([]byte(data), &v) != nil {
				continue
			}
			mutants(v, func(changed any) {
				b, _ := json.Marshal(changed)
				all := slices.Clone(events)
				all[i] = before + "data: " + string(b) + "\n\n"
				streams = append(streams, strings.Join(all, ""))
			})
		}
		var turns []modeltest.Turn
		for _, s := range streams {
			turns = append(turns, modeltest.Turn{Body: s})
		}
		s := modeltest.New(t, turns...)
		p := client(t, w, s.URL, quick)
		answers := 0
		for i := range streams {
			g := collect(t, p, ask("go"))
			switch {
			case g.Err == nil:
				answers++
			case g.Err.Class != provider.ClassMalformed && g.Err.Class != provider.ClassServer && g.Err.Class != provider.ClassUnknown:
				t.Errorf("%s: %v", streams[i], g.Err)
			}
		}
		if len(streams) < 200 || answers == 0 || answers == len(streams) {
			t.Errorf("%d of %d streams were answers", answers, len(streams))
		}
	})
}

// mutants gives v with each value in it replaced by others.
func mutants(v any, try func(any)) {
	var walk func(at any, set func(any))
	walk = func(at any, set func(any)) {
		for _, other := range []any{nil, 42.5, "x", true, []any{"x"}, map[string]any{"x": 1}} {
			set(other)
			try(v)
		}
		set(at)
		switch x := at.(type) {
		case map[string]any:
			for k, inner := range x {
				walk(inner, func(o any) { x[k] = o })
			}
		case []any:
			for i, inner := range x {
				walk(inner, func(o any) { x[i] = o })
			}
		}
	}
	walk(v, func(o any) {
		if o != nil {
			v = o
		}
	})
}

// The type of the body that a server names is often wrong. What is in it counts.
func TestWrongContentTypes(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		raw := rawStream(t, w, modeltest.Turn{Text: "So."})
		for _, kind := range []string{"", "text/plain", "application/octet-stream", "text/event-stream; charset=utf-8", "%%%"} {
			url := serve(t, func(out http.ResponseWriter, _ *http.Request) {
				out.Header()["Content-Type"] = []string{kind}
				_, _ = io.WriteString(out, raw)
			})
			if g := collect(t, client(t, w, url, quick), ask("go")); g.Err != nil || g.Text != "So." {
				t.Errorf("%q: %v %q", kind, g.Err, g.Text)
			}
		}
		for _, kind := range []string{"application/json", "text/html"} {
			url := serve(t, func(out http.ResponseWriter, _ *http.Request) {
				out.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(out, raw)
			})
			if g := collect(t, client(t, w, url, quick), ask("go")); g.Err == nil || g.Err.Class != provider.ClassMalformed {
				t.Errorf("%q: %v", kind, g.Err)
			}
		}
	})
}

// The clock of this machine may be wrong by years. A date in Retry-After counts from the server's
// own date, and without one nothing is waited for longer than a day.
func TestClockJumps(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		for name, c := range map[string]struct {
			date, after string
			want        time.Duration
		}{
			"the server is in the past":      {"Mon, 01 Jan 2001 00:00:00 GMT", "Mon, 01 Jan 2001 00:00:07 GMT", 7 * time.Second},
			"the server is in the future":    {"Mon, 01 Jan 2091 00:00:00 GMT", "Mon, 01 Jan 2091 00:00:07 GMT", 7 * time.Second},
			"a moment that has passed":       {"Mon, 01 Jan 2091 00:00:00 GMT", "Mon, 01 Jan 2001 00:00:07 GMT", 0},
			"no date, a moment in the past":  {"", "Mon, 01 Jan 2001 00:00:07 GMT", 0},
			"no date, a moment far away":     {"", "Mon, 01 Jan 2091 00:00:07 GMT", 24 * time.Hour},
			"a date that is none":            {"yesterday", "-7", 0},
			"seconds, whatever the clock is": {"Mon, 01 Jan 2091 00:00:00 GMT", "7", 7 * time.Second},
		} {
			url := serve(t, func(out http.ResponseWriter, _ *http.Request) {
				out.Header()["Date"] = []string{c.date}
				out.Header().Set("Retry-After", c.after)
				out.WriteHeader(http.StatusTooManyRequests)
			})
			g := collect(t, client(t, w, url, quick), ask("go"))
			if g.Err == nil || g.Err.Class != provider.ClassRateLimit || g.Err.RetryAfter != c.want {
				t.Errorf("%s: %+v", name, g.Err)
			}
		}
	})
}

// The same words in the stream of each format are the same class of error, after a whole piece of
// text: what came before stays.
func TestErrorsInsideOfAStream(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		for message, class := range map[string]provider.Class{
			"Rate limit reached. Please try again in 3s.": provider.ClassRateLimit,
			"Overloaded": provider.ClassOverloaded,
			"You exceeded your current quota, check your plan":   provider.ClassBilling,
			"This model's maximum context length is 4096 tokens": provider.ClassContextOverflow,
			"上下文长度超过限制":                                          provider.ClassContextOverflow,
			"The output was blocked by our content filter":       provider.ClassContentFilter,
			"Something went wrong":                               provider.ClassServer,
		} {
			const said = "word word word"
			s := modeltest.New(t, modeltest.Turn{Text: said, Fault: modeltest.FaultErrorEvent, After: 1, Message: message})
			g := collect(t, client(t, w, s.URL, quick), ask("go"))
			if g.Err == nil || g.Err.Class != class || !strings.HasPrefix(said, g.Text) || g.Text == "" {
				t.Errorf("%s: %v, %q", message, g.Err, g.Text)
			}
		}
	})
}
