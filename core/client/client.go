// Package client is the program as every way in sees it: the command line, the screen, and later
// editors, chats and an API. core.App implements it.
package client

import (
	"context"
	"io"

	"hermes/core/agent"
	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/checkpoint"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/learn"
	"hermes/core/mcp"
	"hermes/core/plugin"
	"hermes/core/provider"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/core/tool"
)

// Client is the opened program. What happens in it is told by Events only.
type Client interface {
	Events() *event.Bus
	History() Sessions
	Catalog() Models
	Backends() backend.Pool
	Config() *config.Config
	// Servers are those that bring the agent tools; nil where there are none.
	Servers() Servers
	// Hooks are programs that take part in what the agent does; nil where there are none.
	Hooks() Hooks
	// Plugins are folders with programs that bring tools, hooks and commands; nil where there are
	// none.
	Plugins() Plugins

	// Learning is what was learned from turns; nil where nothing is.
	Learning() *learn.Learner

	// Submit hands a prompt to a session, which is made at its first one.
	Submit(ctx context.Context, session string, in agent.Input) error
	// Interrupt stops the session's turn. It reports whether there was one.
	Interrupt(session string) bool
	// Wait lasts until the session has nothing to do.
	Wait(ctx context.Context, session string) error
	// Answer settles what a person was asked about a call, AnswerQuestion what a tool asked.
	Answer(approval string, d event.Decision) error
	AnswerQuestion(question, text string) error

	// SetModel and SelectBackend choose for a session, also after a restart.
	SetModel(ctx context.Context, session, ref string) error
	SelectBackend(ctx context.Context, session, name string) error
	// DeleteSession removes a session for good, with what was made for it. One that works is
	// refused.
	DeleteSession(ctx context.Context, session string) error
	// TakeTools gives a session the tools as they are now, in place of those that it began with.
	TakeTools(ctx context.Context, session string) (event.ToolsChanged, error)
	// Toolsets lists the sets of tools, and which of them a choice switches on; SwitchToolset changes
	// a choice.
	Toolsets(chosen []string) []tool.SetView
	SwitchToolset(chosen []string, name string, on bool) ([]string, error)
	// Checkpointed are the files as they were before turns changed them, of back ends too.
	Checkpointed() *checkpoint.Store
	// Composition tells what the next model call of a session is made of.
	Composition(ctx context.Context, session string) (agent.Composition, error)
	// Skill returns a skill of a folder as a part of what the person says.
	Skill(ctx context.Context, cwd, name string) (chat.Part, error)

	// OpeningNotices are what was said while the program was being opened.
	OpeningNotices() []event.Notice
	Close(ctx context.Context) error
}

// Servers bring the agent tools. They start when they are wanted.
type Servers interface {
	// Await starts servers and waits until each is ready or has failed once; no names means all.
	Await(ctx context.Context, names ...string)
	List() []mcp.Status
	Status(name string) (mcp.Status, error)
	Restart(name string) error
	Log(name string) ([]string, error)
	// Reviews are the definitions that wait for a person's eyes, Accept says that they were seen.
	Reviews(name string) ([]mcp.Review, error)
	Accept(name string, seen []mcp.Review) error
	// Login logs in to a server that is reached over HTTP.
	Login(ctx context.Context, name string, talk mcp.LoginTalk) error
	// Project is what the project brings, nil when nothing; Trust is the person's word about it.
	Project() (*mcp.Brought, error)
	Trust(shown *mcp.Brought, yes bool) error
}

// Hooks are programs that take part in what the agent does.
type Hooks interface {
	List() []hook.Hook
	// Test runs the hooks of an event and tells what each did.
	Test(ctx context.Context, in hook.Input) (hook.Verdict, []event.HookRan)
	// Project is what the project brings, nil when nothing; Trust is the person's word about it.
	Project() (*hook.Brought, error)
	Trust(shown *hook.Brought, yes bool) error
}

// Plugins are folders with programs that bring tools, hooks and commands.
type Plugins interface {
	// List is every plugin, enabled or not. Its error says what could not be read.
	List() ([]plugin.Plugin, error)
	// Answer enables a plugin as it was shown, or disables it.
	Answer(shown plugin.Plugin, yes bool) error
}

// Models are those that can be talked to.
type Models interface {
	// Resolve says what a reference means: "provider/model", "model", a provider's name, or "" for
	// the default.
	Resolve(ctx context.Context, ref string) (provider.Provider, provider.Model, error)
	// List asks every provider; it uses the network for at most some seconds.
	List(ctx context.Context) []provider.Model
	// Others are the models that the catalogue knows and that cannot be used: there is no key.
	Others() []provider.Model
	// Refresh fetches a public list of models; it uses the network.
	Refresh(ctx context.Context, from string) (*provider.Fetched, error)
}

// Sessions are the conversations that are stored.
type Sessions interface {
	Create(ctx context.Context, n session.NewSession) (event.SessionInfo, error)
	Resolve(ctx context.Context, ref string) (event.SessionInfo, error)
	Open(ctx context.Context, uid string, how event.Opening) (event.SessionInfo, error)
	SetPlace(ctx context.Context, uid, cwd, project string) error
	List(ctx context.Context, f session.Filter) ([]event.SessionInfo, error)
	Messages(ctx context.Context, uid string, p session.Page) (msgs []chat.Message, more bool, err error)
	Search(ctx context.Context, q session.Query) (session.Results, error)
	Export(ctx context.Context, uid string, w io.Writer, f session.Format) error
	Import(ctx context.Context, r io.Reader) ([]event.SessionInfo, error)
	ImportHermes(ctx context.Context, path string, progress func(done, total int)) (session.ImportReport, error)
	Fork(ctx context.Context, uid string, atMessage int64) (event.SessionInfo, error)
	Rename(ctx context.Context, uid, title string) error
	// ConfigOf is what was set for a session in place of the settings.
	ConfigOf(ctx context.Context, uid string) (session.Config, error)
	Stats(ctx context.Context) (session.Stats, error)
	// UsageBy sums up what model calls used.
	UsageBy(ctx context.Context, by store.UsageBy, f store.UsageFilter) ([]store.UsageRow, error)
	// Attempts are the calls of models that a session made.
	Attempts(ctx context.Context, uid string) ([]session.Attempt, error)
	Check(ctx context.Context) (session.CheckReport, error)
}
