package provider

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Answer is what a server said instead of an answer: a status with a body, or an error object
// inside of a stream.
type Answer struct {
	Provider, Model string
	Status          int // 0 inside of a stream that began with 200
	Header          http.Header
	Body            []byte
	Key             string // the credential in use: it is removed from the message
}

// Classify turns it into an Error: by the vendor's code, then status and words, then words alone.
func Classify(a Answer, now time.Time) *Error {
	d := readDetail(a.Body)
	e := &Error{
		Provider: a.Provider, Model: a.Model, HTTP: a.Status,
		Message:    withoutStop(cleanWords(cmp.Or(d.message, http.StatusText(a.Status), "the server sent an error without a text"), a.Key)),
		RetryAfter: RetryAfter(a.Header, d.message+" "+d.delay, now),
	}
	words := strings.ToLower(d.code + " " + d.kind + " " + d.message)
	e.Class = classify(a.Status, d, words)
	if e.Class == ClassContextOverflow {
		e.Window = windowIn(words)
	}
	e.Hint = hintFor(e, isHTML(a.Body))
	return e
}

func classify(status int, d detail, words string) Class {
	if c := byCode(d.code, d.kind); c != "" && (c != ClassRateLimit || status == 0) {
		return c
	}
	switch {
	case status == 0:
		return cmp.Or(byWords(words), ClassServer)
	case status == http.StatusUnauthorized:
		return ClassAuth
	case status == http.StatusPaymentRequired:
		return ClassBilling
	case status == http.StatusForbidden:
		return oneOf(words, ClassAuth, ClassBilling, ClassContentFilter, ClassModelNotFound)
	case status == http.StatusNotFound:
		return ClassModelNotFound
	case status == http.StatusRequestTimeout:
		return ClassTimeout
	case status == http.StatusRequestEntityTooLarge:
		return ClassContextOverflow
	case status == http.StatusTooManyRequests:
		return oneOf(words, ClassRateLimit, ClassBilling, ClassOverloaded)
	case status == http.StatusServiceUnavailable || status == 529:
		return oneOf(words, ClassOverloaded, ClassContextOverflow)
	case status >= 500:
		if containsAny(words, "unknown parameter", "unrecognized request argument",
			"invalid_request_error") {
			return ClassFormat // a gateway that calls our mistake its own
		}
		return oneOf(words, ClassServer, ClassContextOverflow, ClassOverloaded, ClassRateLimit)
	case status >= 400:
		return oneOf(words, ClassFormat, ClassContextOverflow, ClassContentFilter, ClassModelNotFound, ClassBilling, ClassAuth, ClassRateLimit)
	default:
		return cmp.Or(byWords(words), ClassUnknown)
	}
}

// byCode knows the codes that mean one thing only.
func byCode(codes ...string) Class {
	for _, c := range codes {
		switch strings.ToLower(c) {
		case "context_length_exceeded", "exceed_context_size_error", "request_too_large":
			return ClassContextOverflow
		case "insufficient_quota", "billing_error", "billing_hard_limit_reached", "insufficient_balance":
			return ClassBilling
		case "rate_limit_exceeded", "rate_limit_error":
			return ClassRateLimit
		case "overloaded_error", "overloaded":
			return ClassOverloaded
		case "invalid_api_key", "authentication_error":
			return ClassAuth
		case "content_filter", "content_policy_violation", "data_inspection_failed":
			return ClassContentFilter
		case "model_not_found", "model_not_exist":
			return ClassModelNotFound
		}
	}
	return ""
}

// signs are lower-case words by which vendors tell what is wrong. The order matters: the sharper
// class first.
var signs = []struct {
	class Class
	words []string
}{
	{ClassContextOverflow, []string{
		"context length", "context_length", "maximum context", "context window", "context size", "prompt is too long",
		"input is too long", "too many input tokens", "reduce the length", "maximum model length", "max_model_len",
		"exceeds the maximum number of tokens", "input token count", "上下文长度", "上下文窗口", "最大上下文", "上下文过长", "输入过长", "超过最大长度", "超出最大长度",
	}},
	{ClassBilling, []string{
		"insufficient_quota", "insufficient quota", "insufficient balance", "insufficient credit", "exceeded your current quota",
		"credit balance", "payment required", "billing", "余额不足", "欠费", "额度不足", "额度已用",
	}},
	{ClassContentFilter, []string{
		"content_filter", "content filter", "content policy", "content_policy", "content management policy", "safety system",
		"flagged by", "moderation", "敏感", "内容安全", "违规", "不合规",
	}},
	{ClassModelNotFound, []string{
		"model not found", "model_not_found", "unknown model", "no such model", "not a valid model", "model does not exist",
		"the model `", "try pulling it", "模型不存在", "不存在的模型", "找不到模型",
	}},
	{ClassOverloaded, []string{
		"overloaded", "at capacity", "server is busy", "engine_overloaded", "no available capacity", "服务器繁忙", "系统繁忙", "过载", "服务繁忙",
	}},
	{ClassRateLimit, []string{
		"rate limit", "rate_limit", "ratelimit", "too many requests", "try again in", "resource_exhausted", "tokens per min",
		"requests per min", "请求过于频繁", "限流", "速率限制", "频率限制", "并发数过高",
	}},
	{ClassAuth, []string{
		"invalid api key", "incorrect api key", "api key not valid", "invalid_api_key", "no api key", "unauthorized",
		"authentication", "no auth credentials", "未授权", "鉴权失败", "密钥无效", "令牌无效", "无效的令牌", "身份验证",
	}},
	{ClassTimeout, []string{"timed out", "timeout", "超时"}},
}

func byWords(words string) Class {
	for _, s := range signs {
		if containsAny(words, s.words...) {
			return s.class
		}
	}
	return ""
}

// oneOf is the first class among the allowed ones whose words occur, else the fallback.
func oneOf(words string, fallback Class, allowed ...Class) Class {
	for _, c := range allowed {
		for _, s := range signs {
			if s.class == c && containsAny(words, s.words...) {
				return c
			}
		}
	}
	return fallback
}

func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// detail is what an error body tells.
type detail struct{ message, code, kind, delay string }

// maxNesting bounds how deep aggregators may wrap the error of the vendor behind them.
const maxNesting = 6

func readDetail(body []byte) detail {
	if isHTML(body) {
		return detail{message: "the server answered with a web page instead of JSON"}
	}
	var d detail
	d.readDetail(body, maxNesting)
	if d.message == "" && d.code == "" && d.kind == "" {
		d.message = strings.TrimSpace(string(body))
	}
	return d
}

// readDetail goes through the forms in which errors come: {"error": {...}}, {"error": "text"},
// {"message": ...}, {"detail": ...}, a list of those, and JSON inside of a string.
func (d *detail) readDetail(body []byte, depth int) {
	if depth == 0 {
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil {
		if len(list) > 0 {
			d.readDetail(list[0], depth-1)
		}
		return
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(body, &o) != nil {
		return
	}
	d.code = cmp.Or(textOf(o["code"]), d.code)
	d.kind = cmp.Or(textOf(o["type"]), textOf(o["status"]), d.kind)
	d.message = cmp.Or(textOf(o["message"]), textOf(o["detail"]), textOf(o["msg"]), textOf(o["error"]), d.message)
	d.delay = cmp.Or(withPrefix("retry in ", textOf(o["retryDelay"])), d.delay)
	for _, k := range []string{"error", "detail", "details", "metadata", "raw", "errors"} {
		inner := o[k]
		if s := textOf(inner); strings.HasPrefix(strings.TrimSpace(s), "{") {
			inner = json.RawMessage(s)
		}
		d.readDetail(inner, depth-1)
	}
}

func withPrefix(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// textOf is a JSON string, or a number as it is written; else "".
func textOf(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(v, &n) == nil {
		return n.String()
	}
	return ""
}

func isHTML(body []byte) bool {
	head := strings.ToLower(strings.TrimSpace(string(body[:min(len(body), 200)])))
	return strings.HasPrefix(head, "<!doctype") || strings.HasPrefix(head, "<html")
}
