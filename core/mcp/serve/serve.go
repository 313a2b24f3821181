// Package serve is Hermes as a server of the model context protocol: other programs read its
// conversations, follow what happens, and, where the person allowed it, send messages.
//
// The contract:
//
//   - It reads unless the person said otherwise: sending, and answering what the agent asks, are
//     switched on one by one when it is started. A tool that is off is not there.
//   - It reaches the program by core/client only.
//   - No result holds a secret that is known, and none is longer than a bound.
//   - What a program sends is an agent's word, never the person's: it allows nothing.
package serve

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.yaml.in/yaml/v3"

	"hermes/core/client"
	"hermes/core/crash"
	"hermes/core/secret"
)

//go:embed tools.yaml
var toolTexts []byte

// maxFrame bounds one message of a client, in bytes.
const maxFrame = 1 << 20

// Options say what is served. Client is required.
type Options struct {
	Client  client.Client
	Version string
	// Send lets programs send messages, Permissions lets them answer what the agent asks about.
	Send        bool
	Permissions bool
	Log         *slog.Logger // may be nil
}

// Server is the program as a server. It is safe for concurrent use.
type Server struct {
	o      Options
	server *sdk.Server
	feed   *feed
	about  words
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// words are what clients are told of the server and its tools.
type words struct {
	Instructions string            `yaml:"instructions"`
	Tools        map[string]string `yaml:"tools"`
}

// New makes the server and begins to follow what happens. Close ends that.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, feed: newFeed(o.Client)}
	if err := yaml.Unmarshal(toolTexts, &s.about); err != nil {
		return nil, fmt.Errorf("the texts of the served tools: %w", err)
	}
	s.server = sdk.NewServer(&sdk.Implementation{Name: "hermes", Title: "Hermes", Version: cmp.Or(o.Version, "dev")}, &sdk.ServerOptions{
		Instructions: s.about.Instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, Logger: o.Log,
	})
	s.server.AddReceivingMiddleware(withoutSecrets)
	s.addReading()
	if o.Send {
		s.addSending()
	}
	if o.Permissions {
		s.addPermissions()
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Add(1)
	crash.Go("mcp serve", func() {
		defer s.done.Done()
		s.feed.followEvents(ctx)
	})
	return s, nil
}

// Close ends what New began.
func (s *Server) Close() {
	s.stop()
	s.done.Wait()
}

// Stdio serves one client until it goes, or ctx ends.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	t := &sdk.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: maxFrame}
	err := s.server.Run(ctx, t)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was ended
	}
	return err
}

// unclosed is a stream that belongs to somebody else.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// addTool gives the server a tool. One that does not read only says so.
func addTool[In, Out any](s *Server, name string, reads bool, run func(context.Context, *sdk.CallToolRequest, In) (Out, error)) {
	tool := &sdk.Tool{Name: name, Description: s.about.Tools[name], Annotations: &sdk.ToolAnnotations{ReadOnlyHint: reads}}
	sdk.AddTool(s.server, tool, func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		out, err := run(ctx, r, in)
		return nil, out, err
	})
}

// withoutSecrets hides what is known to be secret in every result.
func withoutSecrets(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, r)
		call, ok := res.(*sdk.CallToolResult)
		if !ok || err != nil || call == nil {
			return res, err
		}
		for _, c := range call.Content {
			if text, is := c.(*sdk.TextContent); is {
				text.Text = string(cleanJSON([]byte(text.Text)))
			}
		}
		if call.StructuredContent != nil {
			data, merr := json.Marshal(call.StructuredContent)
			if merr != nil {
				return nil, merr
			}
			call.StructuredContent = json.RawMessage(cleanJSON(data))
		}
		return call, nil
	}
}

// cleanJSON hides secrets in the texts of a result of ours. Its names are ours too, and say nothing
// of what they hold: a session_key is none.
func cleanJSON(data []byte) []byte {
	var v any
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	if in.Decode(&v) != nil || in.More() {
		return secret.JSON(data)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(cleanValue(v)) != nil {
		return secret.JSON(data)
	}
	return bytes.TrimSpace(out.Bytes())
}

// cleanValue is v without secrets in its texts.
func cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return string(secret.JSON([]byte(v))) // it may be JSON itself: the result of a tool
	case []any:
		for i := range v {
			v[i] = cleanValue(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = cleanValue(v[name])
		}
	}
	return v
}

// cutText bounds a text, in characters.
func cutText(text string, most int) (out string, cut bool) {
	if len(text) <= most {
		return text, false
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i], true
		}
		n++
	}
	return text, false
}

// clampTo is n between 1 and most, or the usual number when it is not given.
func clampTo(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}
