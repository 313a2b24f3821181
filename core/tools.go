package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/mcp"
	"hermes/core/session"
	"hermes/core/tool"
	"hermes/core/tool/ask"
	"hermes/core/tool/builtin"
	"hermes/core/tool/file"
	"hermes/core/tool/plan"
	"hermes/core/tool/web/pdf"
)

// notifyTimeout bounds the storing of a message from a background process.
const notifyTimeout = 10 * time.Second

// agentPart is the agent and its tools.
type agentPart struct {
	quiet
	a       *App
	scripts *scriptsPart
	hooks   *hooksPart
	known   builtin.Set
}

func (p *agentPart) Start(context.Context) (err error) {
	a := p.a
	if a.Tools, err = p.registerTools(); err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	// Only what was asked for now: the settings may hold names that the Python program knows.
	if err := a.Tools.Unknown(a.opts.Session.Toolsets); err != nil {
		return err
	}
	a.Agent = agent.New(agent.Deps{
		Bus: a.Bus, Sessions: a.Sessions, Models: a.Models, Tools: a.Tools, Gate: a.Gate,
		Prompt: a.buildPrompt, Settings: a.agentSettings, Backend: a.backendOf, Keep: a.Pool.Keep, Log: a.log,
		Checkpoints: a.keepFiles(), Autorun: a.newAutorun(), Await: a.awaitTools, Defer: a.deferTools, See: a.askSeeingModel,
		DocumentText: pdf.Text, Hooks: p.hooks, Engine: a.contextEngine,
	})
	return nil
}

func (p *agentPart) Forget(session string) {
	p.known.Forget(session)
	p.a.passing.removeCopies(session)
}

func (p *agentPart) Close(ctx context.Context) error {
	defer p.a.passing.removeCopies("")
	if p.a.Agent == nil {
		return nil
	}
	return p.a.Agent.Close(ctx)
}

// keptPart is what a session keeps under a handle: an image, or a document with its text.
func (a *App) keptPart(ctx context.Context, uid, handle string) (chat.Part, error) {
	p, err := a.Sessions.Kept(ctx, uid, handle)
	if err == nil && p.IsDocument() {
		p.Text, err = pdf.Text(ctx, p.Data)
	}
	return p, err
}

// registerTools registers what the agent can do.
func (p *agentPart) registerTools() (*tool.Registry, error) {
	a, c := p.a, p.a.Config()
	paths := c.Paths()
	p.known = builtin.All(builtin.Deps{
		Home: paths.Home, SafeRoot: safeRoot(c), SpillDir: paths.SpillDir, Pool: a.Pool, Sessions: a.Sessions, Kept: a.keptPart, Timeout: c.Terminal.Timeout,
		Budget: c.ToolOutput.MaxBytes,
		Read:   file.Limits{Lines: c.ToolOutput.MaxLines, LineLength: c.ToolOutput.MaxLineLength, Chars: c.FileReadMaxChars},
		Todos:  plan.InMeta(a.Sessions), Ask: a.askPerson, Staffed: a.whyUnstaffed, Notify: a.notifyAgent, Web: webOptions(c),
		See: a.askSeeingModel, Blind: a.whyBlind, Engine: p.scripts.engine, Code: a.codeSettings, Passed: a.passedVariables,
	})
	all := slices.Concat(p.known.Tools, mcp.SearchTools(a.aboutServer))
	for _, other := range a.parts {
		all = append(all, other.Tools()...)
	}
	r, err := tool.NewRegistry(all...)
	if err != nil {
		return nil, err
	}
	r.SpillTo(paths.SpillDir)
	r.Limit(c.ToolOutput.MaxBytes)
	r.RefuseBy(a.whyRefused)
	r.OnChange(func() { a.Agent.OfferTools() })
	r.Owners(a.toolOwners)
	r.BarBy(func(session, owner string) bool { return a.MCP.Barred(session, owner) })
	return r, nil
}

// restricted says by which areas of the settings the tools of a toolset are bounded. Commands are
// refused by the pool too, which also knows the place.
var restricted = map[string][]config.Area{
	"terminal": {config.Commands}, "code_execution": {config.Commands, config.Scripts}, "skills": {config.Known},
}

// whyRefused says why a tool must not run: a setting that restricts it cannot be read. What is read
// at the start only, such as the folder that may be written to, is refused until the next one.
func (a *App) whyRefused(s tool.Spec, in intent.Intent) error {
	now, atStart := slices.Concat(restricted[s.Toolset], []config.Area{config.Hooked}), []config.Area{}
	switch {
	case s.Toolset == "file" && !in.Reads:
		atStart = append(atStart, config.Writes)
	case s.Toolset == "web":
		atStart = append(atStart, config.Reach)
	}
	if len(a.opts.Session.Toolsets) == 0 {
		atStart = append(atStart, config.AllTools)
	}
	if err := a.Config().Refused(slices.Concat(now, atStart)...); err != nil {
		return err
	}
	if err := a.opts.Config.Refused(atStart...); err != nil {
		return fmt.Errorf("%w. It is mended now, which counts when hermes starts again", err)
	}
	return nil
}

// safeRoot is where the file tools may write: the environment counts before the settings, as for a
// Python hermes.
func safeRoot(c *config.Config) string {
	return cmp.Or(os.Getenv("HERMES_WRITE_SAFE_ROOT"), expandHome(c.Security.WriteSafeRoot))
}

// askPerson puts a tool's question before the person.
func (a *App) askPerson(ctx context.Context, q ask.Question) (string, error) {
	if err := whyUnstaffed(a.wayIn(q.Session)); err != nil {
		return "", err
	}
	return a.Agent.AskQuestion(ctx, agent.Question{Session: q.Session, Turn: q.Turn, CallID: q.CallID, Text: q.Text, Choices: q.Choices})
}

// whyUnstaffed says why nobody can answer a question in a session, or nil: who has everything run
// is not there either.
func whyUnstaffed(c session.Config) error {
	if c.Unattended || c.Policy.Mode == string(approval.ModeOff) {
		return errors.New("it needs the workbench: without a screen nobody is there to answer")
	}
	return nil
}

// whyUnstaffed says why nobody can answer a question, or nil.
func (a *App) whyUnstaffed() error {
	return whyUnstaffed(a.opts.Session)
}

// notifyAgent brings word of a background process to the session's agent: after the running turn,
// or at once.
func (a *App) notifyAgent(uid, process, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	in := agent.Input{From: chat.Author{Kind: chat.AuthorProcess, ID: process}, Text: text, Mode: event.InputQueue}
	if err := a.Agent.Submit(ctx, uid, in); err != nil && !errors.Is(err, agent.ErrClosed) {
		a.log.Warn("a background process could not report", "session", uid, "err", err)
	}
}
