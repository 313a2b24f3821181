package bench

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/core/tool"
)

// echoServer is the variable that makes this test binary a server with one tool.
const echoServer = "BENCH_ECHO_SERVER"

// echoAt is the variable that says when it is to be started, as RFC 3339: not before.
const echoAt = "BENCH_ECHO_AT"

func serveEcho() {
	if at, err := time.Parse(time.RFC3339Nano, os.Getenv(echoAt)); err == nil {
		time.Sleep(time.Until(at))
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "echo", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "echo", Description: "Gives back what it is given.", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(r.Params.Arguments)}}}, nil
		})
	_ = s.Run(context.Background(), &sdk.StdioTransport{}) // its input ends
}

// BenchmarkServerCall calls a tool of a server through gate, registry and pool, and with the bare
// library.
func BenchmarkServerCall(b *testing.B) {
	b.Setenv(echoServer, "1") // for the library's program
	ctx := context.Background()
	pool, err := newPool(event.NewBus())
	must(b, err)
	defer func() { must(b, pool.Close(ctx)) }()
	tools, err := tool.NewRegistry()
	must(b, err)
	m := mcp.New(mcp.Options{Pool: pool, Replace: tools.Replace, Home: b.TempDir(), Cwd: os.TempDir, Version: "bench"})
	defer func() { must(b, m.Close(ctx)) }()
	set := mcp.Settings{Name: "srv"}
	set.Command, set.Env = os.Args[0], map[string]string{echoServer: "1"}
	set.Permissions.AllowedTools = []string{"echo"}
	m.Apply(map[string]mcp.Settings{"srv": set})
	m.Await(ctx, "srv")
	const name = "mcp__srv__echo"
	spec, ok := tools.Lookup(name)
	if !ok {
		b.Fatalf("%+v", m.List())
	}
	door := approval.New(approval.Policy{}, nil)
	args := json.RawMessage(`{"path":"some/file.txt","n":1}`)

	bare := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := bare.Connect(ctx, &sdk.CommandTransport{Command: exec.Command(os.Args[0])}, nil)
	must(b, err)
	defer func() { must(b, session.Close()) }()

	mine, floor := versus(200, func() {
		given, err := tools.Validate(name, args)
		must(b, err)
		in := spec.Intent(given)
		in.Consent = spec.Consent
		v, err := door.Check(ctx, approval.Request{
			Session: "s", Call: chat.ToolCall{ID: "c", Name: name, Args: given}, Owner: spec.Owner, Definition: "d", Intent: in, Publish: func(event.Event) {},
		})
		if err != nil || !v.Allowed {
			b.Fatalf("%+v %v", v, err)
		}
		if r := tools.Run(ctx, name, tool.Call{ID: "c", Session: "s", Args: given}); r.IsError {
			b.Fatal(r.Text)
		}
	}, func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: args})
		must(b, err)
	})
	gate{"server of tools: one call", "the same by its bare library", 1.5}.times(b, mine, floor)
}
