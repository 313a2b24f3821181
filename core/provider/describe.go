package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode"

	"hermes/core/clip"
)

// Transport turns an error below HTTP (no response, or a stream that broke) into an Error.
func Transport(provider, model string, err error) *Error {
	e := &Error{Provider: provider, Model: model, Err: err, Class: ClassNetwork}
	var (
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		timeout net.Error
		op      *net.OpError
	)
	switch {
	case errors.Is(err, context.Canceled):
		e.Class, e.Message = ClassCancelled, "cancelled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		e.Class, e.Message, e.Hint = ClassTimeout, "the time for this call is over", "it may pass"
	case errors.As(err, &dns):
		e.unreachable = true
		e.Message, e.Hint = "the address of "+dns.Name+" cannot be found", "check the network and the base URL"
	case errors.As(err, &cert), errors.As(err, &unknown):
		e.Message, e.Hint = "the server's certificate is not trusted: "+err.Error(), "check the base URL, the clock, and the proxy"
	case errors.As(err, &record):
		e.Message, e.Hint = "the server does not speak TLS", "use http:// in the base URL if it is a local server"
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Class, e.Message, e.Hint = ClassTimeout, "no connection in time", "check the network and the base URL"
	case errors.As(err, &op):
		e.unreachable = errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH)
		e.Message, e.Hint = "the connection"+toAddress(op.Addr)+" failed: "+op.Err.Error(), "check that the server runs and that the base URL is right"
	default:
		e.Message, e.Hint = "the connection failed: "+err.Error(), "check that the server runs and that the base URL is right"
	}
	e.Message = cleanWords(e.Message, "")
	return e
}

// HungUp reports whether the server closed the connection. Some do that with a request that is too
// long for them, and say no word.
func (e *Error) HungUp() bool {
	return e.Class == ClassNetwork && (errors.Is(e.Err, io.EOF) || errors.Is(e.Err, io.ErrUnexpectedEOF) ||
		errors.Is(e.Err, syscall.ECONNRESET) || errors.Is(e.Err, syscall.EPIPE))
}

func toAddress(a net.Addr) string {
	if a == nil {
		return ""
	}
	return " to " + a.String()
}

func hintFor(e *Error, html bool) string {
	switch e.Class {
	case ClassAuth:
		return "check the key of " + e.Provider
	case ClassBilling:
		return "add credit at " + e.Provider
	case ClassModelNotFound:
		if html {
			return "check the base URL: it usually ends with /v1"
		}
		return "check the name of the model"
	case ClassContextOverflow:
		return "the conversation is too long for this model"
	case ClassContentFilter:
		return "say it in other words"
	case ClassRateLimit, ClassOverloaded:
		return "wait a little"
	case ClassFormat:
		return "the details are in the log: run \"hermes logs\""
	default:
		return "it may pass"
	}
}

// maxMessage bounds a vendor's words, in runes.
const maxMessage = 500

var secrets = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(sk|pk|gsk|xai|AIza|Bearer )[-_A-Za-z0-9*.]{8,}`)
})

// cleanWords makes a vendor's words safe to show: no secret, no control character, one line, not
// too long.
func cleanWords(s, key string) string {
	if len(key) >= 6 {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	s = secrets().ReplaceAllString(s, "[key]")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
	return clip.Runes(s, maxMessage, "…")
}

// withoutStop takes the full stop off a vendor's sentence: ours goes on behind it.
func withoutStop(s string) string {
	if strings.HasSuffix(s, "..") {
		return s
	}
	return strings.TrimSuffix(s, ".")
}

// windowOpeners stand before a window in the messages of vendors, in lower case.
var windowOpeners = []string{
	"maximum context length", "maximum model length", "context window", "context size", "context length", "limit", "> ", "上下文长度",
}

// windowIn finds the context window that an overflow error tells, in tokens; 0 when it tells none.
func windowIn(words string) int {
	const digits, least, most = "0123456789,", 4, 10
	for rest := range textBehind(words, windowOpeners) {
		for _, link := range []string{" is", " of", "为"} {
			rest = strings.TrimPrefix(rest, link)
		}
		rest = strings.TrimPrefix(strings.TrimLeft(rest, " \t\r\n"), "(")
		number := rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
		if n, err := strconv.Atoi(strings.ReplaceAll(number, ",", "")); err == nil && len(number) >= least && len(number) <= most {
			return n
		}
	}
	return 0
}
