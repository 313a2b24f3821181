package provider_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/core/provider"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   provider.Class
	}{
		{429, `{"error":{"message":"Rate limit reached for gpt-4o","code":"rate_limit_exceeded"}}`, provider.ClassRateLimit},
		{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, provider.ClassBilling},
		{429, `{"error":{"message":"The engine is currently overloaded"}}`, provider.ClassOverloaded},
		{429, ``, provider.ClassRateLimit},
		{429, `{"error":{"message":"您的账户余额不足"}}`, provider.ClassBilling},
		{503, `{"error":{"message":"x"}}`, provider.ClassOverloaded},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.ClassOverloaded},
		{500, `{"error":{"message":"boom"}}`, provider.ClassServer},
		{502, `<html>bad gateway</html>`, provider.ClassServer},
		{524, ``, provider.ClassServer},
		{500, `{"error":{"message":"Unknown parameter: 'foo'"}}`, provider.ClassFormat},
		{500, `{"message":"the request exceeds the available context size"}`, provider.ClassContextOverflow},
		{408, ``, provider.ClassTimeout},
		{401, `{"error":"no"}`, provider.ClassAuth},
		{402, ``, provider.ClassBilling},
		{403, `{"error":{"message":"no access"}}`, provider.ClassAuth},
		{403, `{"error":{"message":"flagged by moderation"}}`, provider.ClassContentFilter},
		{404, `{"error":{"message":"model \"x\" not found, try pulling it first"}}`, provider.ClassModelNotFound},
		{413, `too large`, provider.ClassContextOverflow},
		{400, `{"error":{"message":"x","code":"context_length_exceeded"}}`, provider.ClassContextOverflow},
		{400, `{"error":{"message":"prompt is too long: 200001 tokens > 200000 maximum"}}`, provider.ClassContextOverflow},
		{400, `{"error":{"message":"输入过长，超过模型的上下文长度"}}`, provider.ClassContextOverflow},
		{422, `{"detail":[{"msg":"maximum context length is 8192 tokens"}]}`, provider.ClassContextOverflow},
		{400, `{"error":{"message":"内容安全审核未通过"}}`, provider.ClassContentFilter},
		{400, `{"error":{"code":"data_inspection_failed","message":"x"}}`, provider.ClassContentFilter},
		{400, `{"error":{"message":"模型不存在"}}`, provider.ClassModelNotFound},
		{400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, provider.ClassAuth},
		{400, `{"error":{"message":"'messages' must be a list"}}`, provider.ClassFormat},
		{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 4096 tokens\"}}"}}}`, provider.ClassContextOverflow},
		{0, `{"error":{"message":"Overloaded"}}`, provider.ClassOverloaded},
		{0, `{"error":{"message":"请求过于频繁，请稍后再试"}}`, provider.ClassRateLimit},
		{0, `{"error":{"message":"Rate limit","code":"rate_limit_exceeded"}}`, provider.ClassRateLimit},
		{0, `{"error":{"message":"x"}}`, provider.ClassServer},
		{0, `not json at all`, provider.ClassServer},
		{418, ``, provider.ClassFormat},
	} {
		e := provider.Classify(provider.Answer{Provider: "p", Status: c.status, Body: []byte(c.body)}, noon)
		if e.Class != c.want || e.Message == "" || e.Hint == "" {
			t.Errorf("%d %s: %s, want %s (%q, %q)", c.status, c.body, e.Class, c.want, e.Message, e.Hint)
		}
	}
}

func TestWindowIsLearned(t *testing.T) {
	for body, want := range map[string]int{
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 128001": 128000,
		"prompt is too long: 200001 tokens > 200000 maximum":                                              200000,
		"the context window of 8,192 tokens is exceeded: context length":                                  8192,
		"input is too long: the limit of (32768) tokens, context window":                                  32768,
		"模型上下文长度为65536":                                                                                   65536,
		"maximum context length is 999 tokens":                                                            0,
		"context length exceeds 128000, the maximum context length":                                       0,
		"maximum context length is 99999999999 tokens":                                                    0,
		"the prompt is too long":                                                                          0,
	} {
		if e := provider.Classify(provider.Answer{Status: 400, Body: []byte(body)}, noon); e.Window != want {
			t.Errorf("%q: %d, want %d (%s)", body, e.Window, want, e.Class)
		}
	}
}

func TestMessagesAreClean(t *testing.T) {
	body := `{"error":{"message":"Incorrect key: my-private-key-1 or sk-abcdefghijklmnop\u001b[31m\n\u202eline ` + strings.Repeat("x", 2000) + `"}}`
	m := provider.Classify(provider.Answer{Status: 401, Body: []byte(body), Key: "my-private-key-1"}, noon).Message
	for _, bad := range []string{"private", "abcdefgh", "\x1b", "\n", "\u202e"} {
		if strings.Contains(m, bad) {
			t.Errorf("%q stays in %q", bad, m)
		}
	}
	if len([]rune(m)) > 501 {
		t.Errorf("%d runes", len([]rune(m)))
	}
}

// What is to be done is said behind a vendor's sentence, which ends with no full stop then.
func TestAVendorsSentenceGoesOn(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"Incorrect API key provided."}}`: "Incorrect API key provided",
		`{"error":{"message":"Try again later..."}}`:          "Try again later...",
	} {
		if got := provider.Classify(provider.Answer{Status: 401, Body: []byte(body)}, noon).Message; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		header, value, text string
		want                time.Duration
	}{
		{"Retry-After", "7", "", 7 * time.Second},
		{"Retry-After", "0.5", "", 500 * time.Millisecond},
		{"Retry-After-Ms", "250", "", 250 * time.Millisecond},
		{"Retry-After", "Sat, 21 Nov 2026 12:00:30 GMT", "", 30 * time.Second},
		{"Retry-After", "Sat, 21 Nov 2020 12:00:30 GMT", "", 0},
		{"Retry-After", "Sat, 21 Nov 2099 12:00:30 GMT", "", 24 * time.Hour},
		{"Retry-After", "1m30s", "", 90 * time.Second},
		{"Retry-After", "-5", "", 0},
		{"Retry-After", "1e300", "", 24 * time.Hour},
		{"Retry-After", "NaN", "try again in 2s", 2 * time.Second},
		{"", "", "Please try again in 1.5s.", 1500 * time.Millisecond},
		{"", "", "Please try again in 1m20.5s. Visit", 80*time.Second + 500*time.Millisecond},
		{"", "", "try again in 6ms", 6 * time.Millisecond},
		{"", "", "Retry after 12 seconds", 12 * time.Second},
		{"", "", "quota resets; retry in 2 hours", 2 * time.Hour},
		{"", "", "请在 30 秒后重试", 30 * time.Second},
		{"", "", "请等待:2分钟30秒", 150 * time.Second},
		{"", "", "Wait. Limits reset in 1 hour 5 min", 65 * time.Minute},
		{"", "", "Please wait 20 s.", 20 * time.Second},
		{"", "", "wait for 5 messages, then wait 3 messages", 0},
		{"", "", "retry in 1.2.3s", 0},
		{"", "", "try again in 9999999999999h", 24 * time.Hour},
		{"", "", "try again later", 0},
	} {
		h := http.Header{}
		if c.header != "" {
			h.Set(c.header, c.value)
		}
		if got := provider.RetryAfter(h, c.text, noon); got != c.want {
			t.Errorf("%s %q %q: %s, want %s", c.header, c.value, c.text, got, c.want)
		}
	}
	gemini := `{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x.RetryInfo","retryDelay":"34s"}]}}`
	if e := provider.Classify(provider.Answer{Status: 429, Body: []byte(gemini)}, noon); e.RetryAfter != 34*time.Second || e.Class != provider.ClassRateLimit {
		t.Errorf("a delay in the details: %s %s", e.RetryAfter, e.Class)
	}
}

func TestTransport(t *testing.T) {
	wrap := func(err error) error { return &url.Error{Op: "Post", URL: "http://x", Err: err} }
	for _, c := range []struct {
		err  error
		want provider.Class
		say  string
	}{
		{context.Canceled, provider.ClassCancelled, "cancelled"},
		{wrap(context.DeadlineExceeded), provider.ClassTimeout, ""},
		{wrap(&net.DNSError{Name: "no.such.host", IsNotFound: true}), provider.ClassNetwork, "no.such.host"},
		{wrap(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}), provider.ClassNetwork, "refused"},
		{wrap(&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}), provider.ClassTimeout, ""},
		{wrap(x509.UnknownAuthorityError{}), provider.ClassNetwork, "certificate"},
		{errors.New("odd"), provider.ClassNetwork, "odd"},
	} {
		e := provider.Transport("p", "m", fmt.Errorf("call: %w", c.err))
		if e.Class != c.want || !strings.Contains(e.Message, c.say) || !errors.Is(e, c.err) {
			t.Errorf("%v: %s %q", c.err, e.Class, e.Message)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"7", "1e9", "-1", "Sat, 21 Nov 2026 12:00:30 GMT", "1m", "try again in 9999999999999h", "NaN", "Inf"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, header, text string) {
		if d := provider.RetryAfter(http.Header{"Retry-After": {header}}, text, noon); d < 0 || d > 24*time.Hour {
			t.Fatalf("%q %q: %s", header, text, d)
		}
	})
}

func FuzzClassify(f *testing.F) {
	f.Add(400, `{"error":{"message":"x","metadata":{"raw":"{}"}}}`)
	f.Add(0, `[[[[[{"error":"{\"error\":1}"}]]]]]`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		e := provider.Classify(provider.Answer{Status: status, Body: []byte(body)}, noon)
		if e.Class == "" || e.Message == "" && strings.TrimSpace(body) == "" {
			t.Fatalf("%+v", e)
		}
	})
}

// TestAFailureIsToldInWords: classes are for programs.
func TestAFailureIsToldInWords(t *testing.T) {
	e := &provider.Error{Class: provider.ClassContextOverflow, Provider: "acme", Model: "big", HTTP: 400, Message: "too many tokens"}
	if got := e.Error(); got != "acme big (HTTP 400): too many tokens" {
		t.Errorf("got %q", got)
	}
	e.HTTP = 0
	if got := e.Error(); got != "acme big: too many tokens" {
		t.Errorf("got %q", got)
	}
}
