package core

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"hermes/core/agent"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/tool"
	"hermes/core/tool/ask"
	"hermes/core/tool/builtin"
	"hermes/core/tool/file"
	"hermes/core/tool/plan"
	"hermes/core/tool/remember"
)

// notifyTimeout bounds the storing of a message from a background process.
const notifyTimeout = 10 * time.Second

// tools registers what the agent can do.
func (a *App) tools() (*tool.Registry, error) {
	c := a.Config()
	paths := c.Paths()
	a.engine = a.newEngine()
	set := builtin.All(builtin.Deps{
		Home: paths.Home, SafeRoot: safeRoot(c), SpillDir: paths.SpillDir, Pool: a.Pool, Sessions: a.Sessions, Timeout: c.Terminal.Timeout,
		Budget: c.ToolOutput.MaxBytes,
		Read:   file.Limits{Lines: c.ToolOutput.MaxLines, LineLength: c.ToolOutput.MaxLineLength, Chars: c.FileReadMaxChars},
		Todos:  plan.InMeta(a.Sessions), Ask: a.ask, Staffed: a.staffed, Notify: a.notify, Web: webOptions(c),
		Engine: a.engine, Code: a.codeSettings, Skills: a.skillTools(), Memory: remember.New(a.Memory, a.memorySettings),
	})
	a.forget = set.Forget
	r, err := tool.NewRegistry(set.Tools...)
	if err != nil {
		return nil, err
	}
	r.SpillTo(paths.SpillDir)
	r.Limit(c.ToolOutput.MaxBytes)
	return r, nil
}

// safeRoot is where the file tools may write: the environment counts before the settings, as for a Python hermes.
func safeRoot(c *config.Config) string {
	return cmp.Or(os.Getenv("HERMES_WRITE_SAFE_ROOT"), expandHome(c.Security.WriteSafeRoot))
}

// ask puts a tool's question before the person.
func (a *App) ask(ctx context.Context, q ask.Question) (string, error) {
	return a.Agent.AskQuestion(ctx, agent.Question{Session: q.Session, Turn: q.Turn, CallID: q.CallID, Text: q.Text, Choices: q.Choices})
}

// staffed says why nobody can answer a question, or nil.
func (a *App) staffed() error {
	if a.opts.Unattended || a.opts.Yes {
		return errors.New("nobody is there to answer: this run has no screen")
	}
	return nil
}

// notify brings word of a background process to the session's agent: after the running turn, or at once.
func (a *App) notify(uid, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	if err := a.Agent.Submit(ctx, uid, agent.Input{Text: text, Mode: event.InputQueue}); err != nil && !errors.Is(err, agent.ErrClosed) {
		a.log.Warn("a background process could not report", "session", uid, "err", err)
	}
}
