package modeltest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/provider/modeltest"
	"hermes/core/testwait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func post(t *testing.T, s *modeltest.Server, body string) (int, string, error) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

const streaming = `{"model":"m","stream":true,"tools":[{"function":{"name":"f"}}],"messages":[{"role":"user","content":"hi"}]}`

func TestStreamByteForByte(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Text: "<a> 世", Chunk: 4, Usage: &modeltest.Usage{Input: 1, Output: 2}})
	_, body, err := post(t, s, streaming)
	head := `data: {"choices":[{"delta":`
	tail := `,"created":1700000000,"id":"chatcmpl-test","model":"m","object":"chat.completion.chunk"}` + "\n\n"
	want := head + `{"content":"","role":"assistant"},"finish_reason":null,"index":0}]` + tail +
		head + `{"content":"<a> "},"finish_reason":null,"index":0}]` + tail +
		head + `{"content":"世"},"finish_reason":null,"index":0}]` + tail +
		head + `{},"finish_reason":"stop","index":0}]` + tail +
		`data: {"choices":[],"created":1700000000,"id":"chatcmpl-test","model":"m","object":"chat.completion.chunk","usage":` +
		`{"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":0},"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":3}}` +
		"\n\ndata: [DONE]\n\n"
	if err != nil || body != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, body, want)
	}
	r := s.Requests()
	if len(r) != 1 || r[0].Model != "m" || r[0].Messages[0].Text() != "hi" || r[0].Tools[0] != "f" || r[0].Turn != 0 {
		t.Errorf("%+v", r)
	}
}

func TestTheScriptEnds(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{})
	if s.Remaining() != 1 {
		t.Errorf("%d remain", s.Remaining())
	}
	if code, _, _ := post(t, s, streaming); code != http.StatusOK || s.Remaining() != 0 {
		t.Errorf("HTTP %d, %d remain", code, s.Remaining())
	}
	if code, body, _ := post(t, s, streaming); code != http.StatusBadRequest || !strings.Contains(body, "all are taken") {
		t.Errorf("HTTP %d %s", code, body)
	}
	for _, body := range []string{"{", `{"model":"m","tools":[],"messages":[]}`} {
		if code, _, _ := post(t, s, body); code != http.StatusBadRequest {
			t.Errorf("HTTP %d for %s", code, body)
		}
	}
}

func TestLoopAndSideRequests(t *testing.T) {
	s := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "one"}, {Text: "two"}}, Loop: true, AuxText: "title"})
	for i, want := range []string{"one", "title", "two", "one"} {
		body := strings.Replace(streaming, `"stream":true,`, "", 1)
		if want == "title" {
			body = `{"model":"m","messages":[]}`
		}
		if _, got, _ := post(t, s, body); !strings.Contains(got, `"content":"`+want+`"`) {
			t.Errorf("request %d: %s", i, got)
		}
	}
}

func TestCuts(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Fault: modeltest.FaultCutFIN}, modeltest.Turn{Fault: modeltest.FaultCutRST}, modeltest.Turn{CutAt: 10})
	if _, _, err := post(t, s, streaming); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("closed: %v", err)
	}
	if _, _, err := post(t, s, streaming); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("reset: %v", err)
	}
	if _, body, err := post(t, s, streaming); err == nil || len(body) != 10 {
		t.Errorf("after ten bytes: %v %q", err, body)
	}
}

func TestCloseLetsGoOfStalledAnswers(t *testing.T) {
	s, err := modeltest.Start(modeltest.Script{Turns: []modeltest.Turn{{Fault: modeltest.FaultStall}, {Fault: modeltest.FaultPings}}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 2)
	for range 2 {
		go func() {
			defer func() { ended <- struct{}{} }()
			// Close may come before the answer's head or after it: either way the call ends.
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			if resp, err := c.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(streaming)); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
	defer cancel()
	if err := s.WaitRequests(ctx, 2); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for range 2 {
		select {
		case <-ended:
		case <-ctx.Done():
			t.Fatal("an answer goes on after Close")
		}
	}
}
