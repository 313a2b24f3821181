package stream

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"hermes/core/provider"
)

// Reader turns the events of one answer into chunks: bytes in, chunks out.
type Reader interface {
	// Feed takes one event, or a whole answer. Chunks that it returns together with an error came
	// before the error.
	Feed(kind string, data []byte) ([]provider.Chunk, error)
	// State says how far the answer is.
	State() State
	// End is the last chunk of an answer that is complete.
	End() (provider.Chunk, error)
}

// State is how far an answer is.
type State int

// The states of an answer, in their order.
const (
	Silent   State = iota // nothing that belongs to the format came
	Begun                 // something did
	Finished              // all content is here: the reason to stop came
	Done                  // the end mark came
)

// answer reads one response to its end.
type answer struct {
	dog      *watchdog
	emit     func(provider.Chunk) error
	times    times
	thinking bool
	parts    Reader
	content  bool      // something was emitted
	closing  time.Time // until when to wait for the end, once the finish reason came
}

func (a *answer) run(send func() (*http.Response, error)) error {
	first := a.times.first
	if a.thinking {
		first = a.times.firstThinking
	}
	a.dog.arm(first, "no answer for")
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
	end, err := a.parts.End()
	if err != nil {
		return err
	}
	return a.emit(end)
}

// lastWords is how long the usage and the end mark may take after the finish reason. All content is
// there by then, and some servers leave the connection open.
const lastWords = 1500 * time.Millisecond

// close gives the server a last moment, once, when the finish reason came.
func (a *answer) close() {
	if a.parts.State() >= Finished && a.closing.IsZero() {
		a.closing = time.Now().Add(lastWords)
		a.wait()
	}
}

// wait gives the server time for the next piece of content.
func (a *answer) wait() {
	if !a.closing.IsZero() {
		a.dog.arm(max(0, time.Until(a.closing)), "the finish reason came, and no end for")
		return
	}
	idle := a.times.idle
	if a.thinking && !a.content {
		idle = a.times.idleThinking
	}
	a.dog.arm(idle, "the server is connected but sent no content for")
}

// streamed reports whether the body is an event stream. A missing or odd type is taken for one:
// many servers forget it.
func streamed(res *http.Response) bool {
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err != nil || (media != "application/json" && media != "text/html")
}

func (a *answer) events(res *http.Response, body *headKeeper) error {
	decoder := ssestream.NewDecoder(&http.Response{
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: readCloser{&eventMeter{r: body, blank: true}, res.Body},
	})
	for a.parts.State() != Done && decoder.Next() {
		e := decoder.Event()
		if err := a.take(e.Type, bytes.TrimSpace(e.Data)); err != nil {
			return err
		}
		a.close()
	}
	switch err := decoder.Err(); {
	case a.parts.State() >= Finished:
		return nil // all content is here, even if the connection broke afterwards
	case err != nil:
		return err
	case a.parts.State() == Silent:
		return body.explain()
	default:
		return Malformed("the stream ended without a finish reason: the answer may be cut")
	}
}

// take handles one event and emits what is in it.
func (a *answer) take(kind string, data []byte) error {
	chunks, err := a.parts.Feed(kind, data)
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
	data, err := io.ReadAll(io.LimitReader(body, MaxEvent+1))
	if err != nil {
		return err
	}
	if len(data) > MaxEvent {
		return &TooLarge{"an answer in one piece", MaxEvent}
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return body.explain()
	}
	if err := a.take("", data); err != nil {
		return err
	}
	if a.parts.State() == Silent {
		return Malformed("the server answered with JSON that is not an answer of this format; check api_mode of the provider")
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
		return Malformed("the answer is empty")
	case head[0] == '{':
		return ErrorEvent(head)
	case head[0] == '<':
		return &BadAnswer{
			What: "the server answered with a web page instead of a stream",
			Hint: "check the base URL: it usually ends with /v1; a sign-in page of the network may be in between",
		}
	default:
		return Malformed("the answer is not an event stream: it begins with " + quoteHead(head))
	}
}

func quoteHead(head []byte) string {
	return strings.ToValidUTF8(string(head[:min(len(head), 40)]), "")
}

type readCloser struct {
	io.Reader
	io.Closer
}
