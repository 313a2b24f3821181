package program

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hermes/core/testskip"
)

// mostMemory is what the program may take while it reads whatever a model server sends.
const mostMemory = 200 << 20

// A server of a model is somebody else's program. Whatever it sends, the turn ends, nothing of it
// is asked for again when it was too large, and the memory stays small.
func TestNoAnswerIsTooLargeToSurvive(t *testing.T) {
	t.Parallel()
	testskip.LongWithoutRace(t, "floods the program in fourteen ways")
	const sse, plain = "text/event-stream", "application/json"
	delta := func(field string) string { return `data: {"choices":[{"index":0,"delta":{` + field + `}}]}` + "\n\n" }
	const within = 7 << 19
	stop := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	word := strings.Repeat("word ", 400)
	for name, c := range map[string]struct {
		media, head, again, tail string
		size                     int // of an answer within the limit; 0: the server never ends by itself
		status                   int
		zipped                   bool
		list                     bool // it is the list of the models, which is asked for beside
	}{
		"text":                   {media: sse, again: delta(`"content":"` + word + `"`)},
		"reasoning":              {media: sse, again: delta(`"reasoning_content":"` + word + `"`)},
		"arguments":              {media: sse, head: delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"terminal","arguments":"{\"command\":\""}}]`), again: delta(`"tool_calls":[{"index":0,"function":{"arguments":"` + word + `"}}]`)},
		"arguments without name": {media: sse, again: delta(`"tool_calls":[{"index":0,"function":{"arguments":"` + word + `"}}]`)},
		"calls":                  {media: sse, head: `data: {"choices":[{"index":0,"delta":{"tool_calls":[{}`, again: `,{}`},
		"line without end":       {media: sse, head: "data: ", again: word},
		"event without end":      {media: sse, again: "data: " + word + "\n"},
		"comments, compressed":   {media: sse, again: ": " + word + "\n\n", zipped: true},
		"line, compressed":       {media: sse, head: `data: {"choices":[{"index":0,"delta":{"content":"`, again: word, zipped: true},
		"in one piece":           {media: plain, head: `{"choices":[{"message":{"content":"`, again: word},
		"in one piece, zipped":   {media: plain, head: `{"choices":[{"message":{"content":"`, again: word, zipped: true},
		"error":                  {media: plain, status: 400, head: `{"error":{"message":"`, again: word, zipped: true},
		"list of models":         {media: plain, head: `{"data":[`, again: `{"id":"` + word + `"},`, tail: "]}", size: within * 100, list: true},
		"text within the limit":  {media: sse, again: delta(`"content":"` + word + `"`), tail: stop, size: within},
		"piece within the limit": {media: plain, head: `{"choices":[{"message":{"content":"`, again: word, tail: `"},"finish_reason":"stop"}]}`, size: within},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			flood := strings.Repeat(c.again, 1+64<<10/len(c.again))
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				list := r.Method == http.MethodGet
				if !list {
					asked.Add(1)
				}
				switch {
				case list && !c.list:
					http.NotFound(w, r)
					return
				case c.list && !list:
					w.Header().Set("Content-Type", sse)
					_, _ = io.WriteString(w, delta(`"content":"hello"`)+stop)
					return
				}
				w.Header().Set("Content-Type", c.media)
				var out io.Writer = w
				if c.zipped {
					w.Header().Set("Content-Encoding", "gzip")
					z := gzip.NewWriter(w)
					defer z.Close()
					out = z
				}
				if c.status != 0 {
					w.WriteHeader(c.status)
				}
				_, err := io.WriteString(out, c.head)
				for sent := 0; err == nil && sent < cmp.Or(c.size, 2<<30); sent += len(flood) {
					_, err = io.WriteString(out, flood)
				}
				if err == nil {
					_, _ = io.WriteString(out, c.tail) // the client may have left
				}
			}))
			defer s.Close()
			h := newHome(t, "model:\n  provider: scripted\n  default: test-model\n"+
				"providers:\n  scripted:\n    base_url: "+s.URL+"/v1\n    api_key: secret\n")
			out, peak := h.measured("run", "go")
			if peak > mostMemory {
				t.Errorf("the program took %d MB", peak>>20)
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
			if c.status == 0 && c.size == 0 && !strings.Contains(out, "larger than") {
				t.Errorf("it does not say what is wrong: %s", out[max(0, len(out)-500):])
			}
			t.Logf("%d MB", peak>>20)
		})
	}
}

// measured runs the program in a process of its own and returns the end of what it said and the
// most memory that it had.
func (h *home) measured(args ...string) (said string, peak int64) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 3*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "hermes", append(args, "--cwd", h.work)...)
	var err bytes.Buffer
	cmd.Env, cmd.Stderr, cmd.Stdout = h.env(), &err, io.Discard
	started := time.Now()
	_ = cmd.Run() // how it ends is for the caller to judge, by what it says
	if ctx.Err() != nil {
		h.t.Fatalf("it did not end within %v; it said %s", time.Since(started), &err)
	}
	use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		h.t.Fatal("the system does not tell how much memory a process had")
	}
	if runtime.GOOS != "darwin" { // which counts bytes
		use.Maxrss <<= 10
	}
	return err.String(), use.Maxrss
}
