package openai

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"hermes/core/provider"
)

// badAnswer is an answer that is not what the format says.
type badAnswer struct {
	what  string
	hint  string
	event []byte // an error object that the server sent instead
}

func (b *badAnswer) Error() string { return b.what }

func malformed(what string) *badAnswer { return &badAnswer{what: what, hint: "try again"} }

// answer reads one response to its end.
type answer struct {
	dog      *watchdog
	emit     func(provider.Chunk) error
	times    times
	thinking bool
	parts    *assembler
	content  bool // something was emitted
}

func (a *answer) run(send func() (*http.Response, error)) error {
	first := a.times.first
	if a.thinking {
		first = a.times.firstThinking
	}
	a.dog.arm(first, "no answer")
	res, err := send()
	if err != nil {
		return err
	}
	defer res.Body.Close()
	a.wait()
	body := &headKeeper{r: res.Body}
	if streamed(res) {
		err = a.events(res, body)
	} else {
		err = a.whole(body)
	}
	if err != nil {
		return err
	}
	a.dog.stop()
	end, err := a.parts.end()
	if err != nil {
		return err
	}
	return a.emit(end)
}

// wait gives the server time for the next piece of content.
func (a *answer) wait() {
	idle := a.times.idle
	if a.thinking && !a.content {
		idle = a.times.idleThinking
	}
	a.dog.arm(idle, "the server is connected but sent no content")
}

// streamed reports whether the body is an event stream. A missing or odd type is taken for one: many servers forget it.
func streamed(res *http.Response) bool {
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err != nil || (media != "application/json" && media != "text/html")
}

func (a *answer) events(res *http.Response, body *headKeeper) error {
	decoder := ssestream.NewDecoder(&http.Response{
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: readCloser{body, res.Body},
	})
	for !a.parts.done && decoder.Next() {
		e := decoder.Event()
		if err := a.take(e.Type, bytes.TrimSpace(e.Data)); err != nil {
			return err
		}
	}
	switch err := decoder.Err(); {
	case a.parts.done || a.parts.finish != "":
		return nil // all content is here, even if the connection broke afterwards
	case err != nil:
		return err
	case !a.parts.any:
		return body.explain()
	default:
		return malformed("the stream ended without a finish reason: the answer may be cut")
	}
}

// take handles one event and emits what is in it.
func (a *answer) take(kind string, data []byte) error {
	chunks, err := a.parts.feed(kind, data)
	if len(chunks) > 0 {
		a.dog.stop()
		a.content = true
		for _, c := range chunks {
			if err := a.emit(c); err != nil {
				return err
			}
		}
		a.wait()
	}
	return err
}

// whole reads an answer in one piece.
func (a *answer) whole(body *headKeeper) error {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return err
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return body.explain()
	}
	if err := a.take("", data); err != nil {
		return err
	}
	if !a.parts.any && a.parts.finish == "" {
		return malformed("the server answered with JSON that is not a chat completion")
	}
	return nil
}

// headKeeper remembers the begin of a body, to say what it was when it was nothing that we know.
type headKeeper struct {
	r    io.Reader
	head []byte
}

func (h *headKeeper) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if room := 2048 - len(h.head); room > 0 {
		h.head = append(h.head, p[:min(n, room)]...)
	}
	return n, err
}

// explain is the error for a body without any event.
func (h *headKeeper) explain() error {
	head := bytes.TrimSpace(h.head)
	switch {
	case len(head) == 0:
		return malformed("the answer is empty")
	case head[0] == '{':
		return &badAnswer{what: "the server sent an error", event: head}
	case head[0] == '<':
		return &badAnswer{
			what: "the server answered with a web page instead of a stream",
			hint: "check the base URL: it usually ends with /v1; a sign-in page of the network may be in between",
		}
	default:
		return malformed("the answer is not an event stream: it begins with " + quoteHead(head))
	}
}

func quoteHead(head []byte) string {
	return strings.ToValidUTF8(string(head[:min(len(head), 40)]), "")
}

type readCloser struct {
	io.Reader
	io.Closer
}
