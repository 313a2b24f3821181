package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
	"hermes/core/testskip"
	"hermes/core/tool"
)

const (
	smallTokens = 32_000 // the window of the models below
	mostGrowth  = 64 << 20
)

// small is a rig with a model of a small window behind a server that keeps the vendors' rules.
func small(t *testing.T, script modeltest.Script, window int) (*rig, *modeltest.Server) {
	page := newTool("page", nil, func(_ context.Context, c tool.Call) (tool.Result, error) {
		return tool.Result{Text: argument(c, "v") + strings.Repeat(" lorem ipsum dolor", 200)}, nil
	})
	r := rigWith(t, []tool.Tool{page})
	script.Window = smallTokens
	srv := modeltest.NewScript(t, script)
	r.deps.Models = provider.NewSet(provider.Settings{
		Default: "lab/test-model", NoDetect: true, Window: window, Kinds: map[string]provider.Maker{openai.Kind: openai.Make},
		Providers: map[string]provider.Endpoint{"lab": {BaseURL: srv.URL, Key: "k", Models: []string{"test-model"}}},
	})
	r.settings(func(s *Settings) { s.Compress, s.MaxTurns, s.ProtectFirst, s.KeepShare = true, 1000, 3, 0.2 })
	return r, srv
}

// kept tells what was planted and is not in a request any more.
func kept(t *testing.T, body json.RawMessage, planted []string) {
	t.Helper()
	for _, rule := range planted {
		if !strings.Contains(string(body), rule) {
			t.Errorf("%q is not in the prompt any more", rule)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// One turn goes on whatever it reads, also when nobody knows the window before the server refuses a
// request.
func TestOneLongTurnInASmallWindow(t *testing.T) {
	t.Run("known", func(t *testing.T) { oneTurn(t, smallTokens, 150) })
	t.Run("unknown", func(t *testing.T) { oneTurn(t, 0, 60) })
}

func TestOneTurnOf500CallsInASmallWindow(t *testing.T) {
	testskip.LongWithoutRace(t, "five hundred calls, each request read whole")
	oneTurn(t, smallTokens, 500)
}

func oneTurn(t *testing.T, window, calls int) {
	var turns []modeltest.Turn
	for i := range calls {
		turns = append(turns, modeltest.Turn{ArgChunk: 4000, Calls: []modeltest.Call{{
			ID: fmt.Sprint("c", i), Name: "page", Args: fmt.Sprintf(`{"v":"%d %s"}`, i, strings.Repeat("body ", 300)),
		}}})
	}
	before := heap()
	r, srv := small(t, modeltest.Script{Turns: append(turns, modeltest.Turn{Text: "All read."}), AuxText: "Pages were read."}, window)
	const rule = "Read all pages. Never delete the file z.go."
	r.submit(rule, "")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if err := r.agent.Wait(ctx, r.uid); err != nil {
		t.Fatal(err)
	}
	if end := r.ended(1); end.Reason != event.TurnDone {
		t.Fatalf("%+v", end)
	}
	if now := heap(); now > before+2*mostGrowth { // the server keeps all requests
		t.Errorf("the heap grew from %d to %d bytes", before, now)
	}
	summaries := 0
	for _, q := range srv.Requests() {
		if q.Turn < 0 {
			summaries++
		} else {
			kept(t, q.Body, []string{rule})
		}
	}
	if summaries == 0 || srv.Remaining() != 0 {
		t.Errorf("%d summaries, %d turns of the script remain", summaries, srv.Remaining())
	}
}

func TestASessionOf2000TurnsInASmallWindow(t *testing.T) {
	testskip.LongWithoutRace(t, "two thousand turns")
	const turns = 2000
	r, srv := small(t, modeltest.Script{
		Turns: []modeltest.Turn{{Chunk: 1000, Text: strings.Repeat("an answer of some length ", 10)}}, Loop: true, AuxText: "They talked.", Keep: 4,
	}, smallTokens)
	ctx := t.Context() // the deadline is that of all tests: a busy machine is slow
	var planted []string
	before := heap()
	for i := range turns {
		text := fmt.Sprintf("question %d: what is in it?", i)
		if i%100 == 50 {
			text = fmt.Sprintf("From now on never open file-%d.go.", i)
			planted = append(planted, text)
		}
		if err := r.agent.Submit(ctx, r.uid, Input{Text: text}); err != nil {
			t.Fatal(err)
		}
		if err := r.agent.Wait(ctx, r.uid); err != nil {
			t.Fatal(err)
		}
		if all := srv.Requests(); i%100 == 99 {
			kept(t, all[len(all)-1].Body, planted)
		}
	}
	if n := len(each[event.Compressed](r.sink)); n < 10 {
		t.Errorf("%d compressions", n)
	}
	if now := heap(); now > before+mostGrowth {
		t.Errorf("the heap grew from %d to %d bytes", before, now)
	}
}
