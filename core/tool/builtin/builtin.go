// Package builtin lists the tools that come with the program, but those of its parts with a life of
// their own (see core).
package builtin

import (
	"context"
	"os"
	"time"

	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/execcode"
	"hermes/core/room"
	"hermes/core/tool"
	"hermes/core/tool/ask"
	"hermes/core/tool/code"
	"hermes/core/tool/file"
	"hermes/core/tool/plan"
	"hermes/core/tool/recall"
	"hermes/core/tool/shell"
	"hermes/core/tool/vision"
	"hermes/core/tool/web"
)

// Deps is what the tools need. Every tool whose needs are nil is left out.
type Deps struct {
	Home     string        // HERMES_HOME: the file tools keep out of it
	SafeRoot string        // where the file tools may write; "": wherever is not off limits
	SpillDir string        // for command output beyond the budget
	Pool     backend.Pool  // terminal, process
	Timeout  time.Duration // of a foreground command that names none; 0: as shell says
	Budget   int           // characters of a result; 0: tool.DefaultMaxResult
	Read     file.Limits   // of read_file
	Sessions recall.Sessions
	Kept     func(ctx context.Context, session, handle string) (chat.Part, error) // kept by a session, for read_file
	Todos    plan.Store
	Web      *web.Options // web_search, web_extract
	Ask      ask.Asker    // clarify
	// See and Blind are of vision_analyze: see vision.Options.
	See   func(ctx context.Context, session string, image chat.Part, question string) (text, model string, err error)
	Blind func() error
	// Engine runs execute_code; Code are its settings, asked for at every call.
	Engine *execcode.Engine
	Code   func() code.Settings
	// Passed is what skills have passed to commands and scripts; nil: nothing.
	Passed tool.Passed
	// Staffed returns an error when nobody is there to answer clarify; nil means that somebody
	// always is.
	Staffed func() error
	// Notify queues a message for a session's agent (background processes); nil means that nobody
	// can be told.
	Notify func(session, process, text string)
}

// Set is the tools, and what they remember about sessions.
type Set struct {
	Tools  []tool.Tool
	forget []func(session string)
}

// Forget drops what the tools remember about a session: call it when the session is deleted.
func (s Set) Forget(session string) {
	for _, forget := range s.forget {
		forget(session)
	}
}

// fileOptions are those of the file tools.
func fileOptions(d Deps) file.Options {
	o := file.Options{Home: d.Home, SafeRoot: d.SafeRoot, Limits: d.Read, Kept: d.Kept, Own: []string{d.SpillDir}}
	if d.Pool != nil {
		home, _ := os.UserHomeDir() // without one, ~ stays as it is written
		o.Rooms, o.Backends = room.Finder{Pool: d.Pool, Home: home}.Find, shell.BackendsOfFiles(d.Pool.List(""))
	}
	return o
}

// All returns the tools. One line is one tool.
func All(d Deps) Set {
	files := file.New(fileOptions(d))
	forget := []func(string){files.Forget}
	tools := []tool.Tool{
		file.Read(files),
		file.Write(files),
		file.Patch(files),
		file.Search(files),
	}
	if d.Pool != nil {
		sh := shell.New(shell.Options{Pool: d.Pool, SpillDir: d.SpillDir, Timeout: d.Timeout, Budget: d.Budget, Notify: d.Notify, Passed: d.Passed})
		tools = append(tools, shell.Terminal(sh), shell.Process(sh))
		forget = append(forget, sh.Forget)
	}
	if d.Todos != nil {
		tools = append(tools, plan.Todo(d.Todos))
	}
	if d.Ask != nil {
		tools = append(tools, ask.Clarify(d.Ask, d.Staffed))
	}
	if d.Sessions != nil {
		tools = append(tools, recall.Search(d.Sessions))
	}
	looks := vision.Options{See: d.See, Blind: d.Blind, File: files.Image}
	if d.Web != nil {
		w := web.New(*d.Web)
		looks.Fetch = w.Image
		tools = append(tools, web.SearchTool(w), web.ExtractTool(w))
	}
	if d.See != nil {
		tools = append(tools, vision.Analyze(looks))
	}
	if d.Engine != nil {
		tools = append(tools, code.Tool(code.Options{Engine: d.Engine, Pool: d.Pool, Settings: d.Code, Passed: d.Passed}))
		forget = append(forget, d.Engine.Forget)
	}
	return Set{Tools: tools, forget: forget}
}
