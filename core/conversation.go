package core

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/prompt"
	"hermes/core/session"
	"hermes/core/store"
)

// metaBackend is the key under which a session keeps its selected back end.
const metaBackend = "backend"

// Submit hands a prompt to a session, which is made at its first prompt: looking at an empty
// workbench leaves no trace.
func (a *App) Submit(ctx context.Context, uid string, in agent.Input) error {
	if err := a.checkTyped(in); err != nil {
		return err
	}
	if err := a.Ensure(ctx, uid); err != nil {
		return err
	}
	if names := in.Names(); strings.Contains(names, "@") {
		in.Parts = append(in.Parts, a.readMentioned(ctx, uid, names)...)
	}
	in.Parts = append(in.Parts, a.longTerm.recallUnasked(ctx, uid, in)...)
	in.Parts = append(in.Parts, a.provider.recallFor(ctx, uid, in)...)
	info, err := a.Sessions.Get(ctx, uid)
	if err != nil {
		return err
	}
	if info.Messages == 0 {
		a.beginTier(ctx, uid, in)
	}
	if err = a.Agent.Submit(ctx, uid, in); err == nil {
		a.user.takeMessage(uid, in)
		if info.Messages == 0 {
			a.titles.beginNaming(uid, in.From, in.Text)
		}
	}
	return err
}

// checkTyped refuses a person's command for a back end that is not there: what was meant for one
// place never runs in another.
func (a *App) checkTyped(in agent.Input) error {
	if !in.From.IsPerson() {
		return nil
	}
	name, err := approval.TypedBackend(in.Text)
	if err != nil || name == "" {
		return err
	}
	var names []string
	for _, b := range a.Pool.List("") {
		names = append(names, b.Name)
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("there is no back end %q, so nothing was run; there are: %s", name, strings.Join(names, ", "))
	}
	return nil
}

// Ensure makes the session when it does not exist yet.
func (a *App) Ensure(ctx context.Context, uid string) error {
	_, err := a.Sessions.Get(ctx, uid)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	a.open.Store(uid, true)
	provider, model := a.currentModel(ctx)
	_, err = a.Sessions.Create(ctx, session.NewSession{
		UID: uid, Source: a.wayIn(uid).Source, Cwd: a.Cwd(), Project: prompt.ProjectRoot(a.Cwd()), Provider: provider, Model: model,
	})
	return err
}

// Resume opens a stored session: calls that a crash left open are closed, the queue that it left is
// shown and its back end selected again. Nothing runs. A session that this process has open already
// is left as it is.
func (a *App) Resume(ctx context.Context, uid string) (event.SessionInfo, error) {
	if _, open := a.open.LoadOrStore(uid, true); open {
		return a.Sessions.Get(ctx, uid)
	}
	info, err := a.Sessions.Open(ctx, uid, event.OpeningResume)
	if err != nil {
		a.open.Delete(uid)
		return info, err
	}
	if name, err := a.Sessions.Meta(ctx, uid, metaBackend); err == nil && name != "" {
		if err := a.Pool.Select(uid, name); err != nil {
			a.publishNotice(event.Warn, err.Error(), "commands of this session run in the default back end")
		}
	}
	if c, err := a.Sessions.ConfigOf(ctx, uid); err == nil && (c.Policy.LevelName() != "" || len(c.Toolsets) > 0 || c.Effort != "") {
		a.tellConfig(uid, c)
	}
	if used, err := a.ContextUsed(ctx, uid); err == nil && used > 0 {
		a.Bus.Publish(event.Header{Session: uid}, event.UsageTick{Session: uid, Context: used, Total: info.Usage})
	}
	return info, a.Agent.Open(ctx, uid)
}

// ContextUsed is how many tokens of its model's window a session filled at its newest answer, as
// the provider counted, else as we estimate; 0 when nothing was answered yet.
func (a *App) ContextUsed(ctx context.Context, uid string) (int, error) {
	const newest = 50 // messages: a turn that calls many tools has an answer among them
	list, _, err := a.Sessions.Messages(ctx, uid, session.Page{Limit: newest})
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	for _, m := range slices.Backward(list) {
		if m.From.IsSummary() {
			break
		}
		if m.Role == chat.RoleAssistant && m.Usage.Input > 0 {
			return m.Usage.Input + m.Usage.Output, nil
		}
	}
	if err != nil || !slices.ContainsFunc(list, func(m chat.Message) bool { return m.Role == chat.RoleAssistant }) {
		return 0, err
	}
	made, err := a.Agent.Composition(ctx, uid) // the server does not count
	return made.Tokens, err
}

// DeleteSession removes a session for good, with all that is kept about it in memory. One with a
// running turn is refused, and so is one in which another process works: nothing of it has ended
// then. Its commands in the background end before it is gone.
func (a *App) DeleteSession(ctx context.Context, uid string) error {
	err := a.Agent.Drop(ctx, uid, func() error {
		if err := a.Pool.CloseSession(ctx, uid); err != nil {
			return err
		}
		if err := a.Sessions.Delete(ctx, uid); err != nil {
			return err
		}
		return a.Checkpoints.Forget(uid)
	})
	if err != nil {
		return whyNot(err, "delete")
	}
	for _, p := range a.parts {
		p.Forget(uid)
	}
	return nil
}

// ArchiveSession hides a session from lists, or brings it back. An archived one has ended: what was
// made for it goes, and one that works is refused.
func (a *App) ArchiveSession(ctx context.Context, uid string, on bool) error {
	if !on {
		return a.Sessions.Archive(ctx, uid, false)
	}
	err := a.Agent.Drop(ctx, uid, func() error {
		if err := a.Pool.CloseSession(ctx, uid); err != nil {
			return err
		}
		return a.Sessions.Archive(ctx, uid, true)
	})
	if err == nil {
		a.leaveServers(uid)
	}
	return whyNot(err, "archive")
}

// Holds names what was made for a session and goes when it ends: back ends with their files, and
// commands that run in the background. It asks the engines, also about what an earlier process
// made.
func (a *App) Holds(ctx context.Context, uid string) (names []string, err error) {
	left, err := a.Pool.Leftovers(ctx)
	for _, l := range left {
		if l.Session == uid {
			names = append(names, l.Backend)
		}
	}
	for _, p := range a.Pool.Processes(uid) {
		if p.Running {
			names = append(names, p.ID+" ("+p.Command+")")
		}
	}
	if len(names) > 0 {
		err = nil // one engine that does not answer hides nothing of what the others said
	}
	return names, err
}

// whyNot says to a person why a session cannot be ended.
func whyNot(err error, verb string) error {
	if errors.Is(err, agent.ErrBusy) {
		return errors.New("the session is working: open it, stop it, then " + verb + " it")
	}
	return err
}

// OpenSessions are those that this process works in, in the order of their ids.
func (a *App) OpenSessions() (uids []string) {
	a.open.Range(func(uid, _ any) bool {
		uids = append(uids, uid.(string))
		return true
	})
	slices.Sort(uids)
	return uids
}

// SelectBackend makes name the session's back end, also after a restart.
func (a *App) SelectBackend(ctx context.Context, uid, name string) error {
	if err := a.Pool.Select(uid, name); err != nil {
		return err
	}
	if err := a.Ensure(ctx, uid); err != nil {
		return err
	}
	return a.Sessions.SetMeta(ctx, uid, metaBackend, name)
}

// backendOf says where a call runs that asks for "asked".
func (a *App) backendOf(uid, asked string) agent.Place {
	var fallback agent.Place
	for _, s := range a.Pool.List(uid) {
		at := agent.Place{
			Name: s.Name, Dir: s.Dir, Local: s.Traits.Local, Sandbox: s.Sandbox,
			Sandboxed: s.Traits.Isolated && len(s.Mounts) == 0,
		}
		switch {
		case asked != "" && s.Name == asked, asked == "" && s.Selected:
			return at
		case s.Default:
			fallback = at
		}
	}
	return fallback
}

// Cwd is the directory of new sessions.
func (a *App) Cwd() string { return a.opts.SessionFolder(a.Config()) }

// SessionFolder is the directory of new sessions with these settings.
func (o *Options) SessionFolder(c *config.Config) string {
	if o.Cwd != "" {
		return o.Cwd
	}
	if c := c.Terminal.Cwd; c != "" && c != "." {
		return expandHome(c)
	}
	if wd, err := os.Getwd(); err == nil {
		return wd
	}
	return "/"
}

func (a *App) currentModel(ctx context.Context) (providerName, model string) {
	p, m, err := a.Models.Resolve(ctx, "")
	if err != nil {
		return "", a.Config().Model.Default
	}
	return p.Name(), m.ID
}

func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok && path != "~" {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

func joinWords(words []string) string { return strings.Join(words, ", ") }
