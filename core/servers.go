package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/core/secret"
	"hermes/core/tool"
)

// serversPart is the servers of tools. It starts none: who needs their tools does.
type serversPart struct {
	quiet
	a *App
}

func (p *serversPart) Start(context.Context) error {
	a := p.a
	a.MCP = mcp.New(mcp.Options{
		Pool: a.Pool, Replace: a.Tools.Replace, Expand: expandHome, Cwd: a.Cwd, Home: a.Config().Paths().Home,
		Version: a.opts.Version, Log: a.log, Ask: a.askForServer, Sample: a.sampleForServer,
		Told: func(c mcp.StateChanged) {
			a.Bus.Publish(event.Header{}, event.ServerChanged{
				Name: c.Name, State: string(c.State), Tools: c.Tools, Changed: c.Changed, Error: c.Error, Next: c.Next,
			})
			a.plugins.tellStopped(c)
		},
		Allowed: a.plugins.whyNotAllowed,
	})
	b, err := a.ProjectServers()
	switch {
	case err != nil:
		a.publishNotice(event.Warn, err.Error(), "")
	case b != nil && (b.State == mcp.Unasked || b.State == mcp.Outdated):
		a.publishNotice(event.Warn, untrustedServers(b), "/mcp or `hermes mcp trust` shows them and asks")
	}
	a.applyServers(b)
	return nil
}

// untrustedServers says what a project brings that is not started.
func untrustedServers(b *mcp.Brought) string {
	what := "brings servers of tools that are not trusted"
	if b.State == mcp.Outdated {
		what = "has changed its servers of tools since they were trusted"
	}
	return b.Folder + " " + what + " (" + mcp.ProjectFile + "): they are not started"
}

// Changed takes the servers of edited settings. Those of the project stay as they were trusted.
func (p *serversPart) Changed(config.Change) {
	b, err := p.a.ProjectServers()
	if err != nil {
		p.a.log.Warn("the project's servers are not known", "err", err)
	}
	p.a.applyServers(b)
}

// applyServers gives the manager the person's servers, and those of a project that they trust. A
// name of the person's is never the project's.
func (a *App) applyServers(b *mcp.Brought) {
	all := mcp.FromConfig(a.Config())
	if b != nil && b.State == mcp.Trusted {
		secret.Add(b.Config.Secrets()...)
		for _, s := range b.Servers {
			if _, own := all[s.Name]; !own {
				all[s.Name] = s
			}
		}
	}
	a.plugins.joinServers(all)
	a.MCP.Apply(all)
}

// ProjectServers is what the project brings; nil when it brings nothing.
func (a *App) ProjectServers() (*mcp.Brought, error) {
	return mcp.NewProjects(a.Config().Paths().Home).Look(a.Project(), a.Config())
}

// TrustServers remembers what the person said about the servers that they were shown, and starts or
// ends them.
func (a *App) TrustServers(shown *mcp.Brought, yes bool) error {
	if err := mcp.NewProjects(a.Config().Paths().Home).Answer(shown, yes); err != nil {
		return err
	}
	now, err := a.ProjectServers()
	if err != nil {
		return err
	}
	a.applyServers(now)
	a.MCP.Want()
	if yes && (now == nil || now.State != mcp.Trusted) {
		return fmt.Errorf("%s has changed since it was shown: look at it again", mcp.ProjectFile)
	}
	return nil
}

// Forget drops what the person allowed servers in a session, and ends those that only its skills
// wanted.
func (p *serversPart) Forget(session string) {
	p.a.leaveServers(session)
	p.a.sampling.Range(func(key, _ any) bool {
		if key.([2]string)[0] == session {
			p.a.sampling.Delete(key)
		}
		return true
	})
}

func (p *serversPart) Close(ctx context.Context) error {
	if p.a.MCP == nil {
		return nil
	}
	return p.a.MCP.Close(ctx)
}

// toolOwners are those who may bring tools later: their names choose tools before they have brought
// any.
func (a *App) toolOwners() map[string]string {
	out := serverToolsets(a.Config())
	maps.Copy(out, a.plugins.ownerNames())
	if b, err := a.ProjectServers(); err == nil && b != nil && b.State == mcp.Trusted {
		for _, s := range b.Servers {
			if !s.Off() {
				out[mcp.OwnerPrefix+s.Name] = mcp.Toolset(s.Name)
			}
		}
	}
	return out
}

// serversOf are the servers that a session with a choice of toolsets needs.
func (a *App) serversOf(session string, toolsets []string) []string {
	names := a.MCP.Names(session)
	if len(toolsets) == 0 || slices.Contains(toolsets, tool.DefaultToolset) || slices.Contains(toolsets, "all") {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains(toolsets, mcp.OwnerPrefix+name) && !slices.Contains(toolsets, mcp.Toolset(name))
	})
}

// awaitTools starts the servers that a session needs and waits for them: where a person sits, for a
// moment before it is given its first tools, since they can take what comes later; else until each
// has said yes or no.
func (a *App) awaitTools(ctx context.Context, session string, toolsets []string, first bool) {
	a.remindServers(ctx, session)
	names := a.serversOf(session, toolsets)
	if len(names) == 0 {
		return
	}
	a.MCP.Want(names...)
	if names = slices.DeleteFunc(names, a.plugins.bringsNoTools); len(names) == 0 { // Await takes none as all
		return
	}
	if way := a.wayIn(session); way.Source == "tui" {
		if !first {
			return
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.Config().MCPWait)
		defer cancel()
	}
	began := time.Now()
	a.MCP.Await(ctx, names...)
	a.log.Debug("waited for servers of tools", "servers", names, "took", time.Since(began))
}

// What a person can say to a server beside an answer.
const (
	sayNothing = "(leave it out)"
	sayNo      = "(refuse)"
)

// askForServer puts a server's question before the person who sits in its session: an address to
// open, or one value after the other.
func (a *App) askForServer(ctx context.Context, q mcp.Question) (mcp.Answer, error) {
	no := mcp.Answer{Action: "decline"}
	if err := whyUnstaffed(a.wayIn(q.Session)); err != nil {
		return no, nil //nolint:nilerr // nobody is there: that is an answer
	}
	put := func(text string, choices ...string) (string, error) {
		return a.Agent.AskQuestion(ctx, agent.Question{Session: q.Session, Turn: q.Turn, CallID: q.CallID, Server: q.Server, Text: text, Choices: choices})
	}
	head := fmt.Sprintf("The server %s asks: %s\n\nWhat you answer goes to it: no passwords, no keys.", q.Server, q.Text)
	if q.URL != nil {
		answer, err := put(fmt.Sprintf("The server %s wants you to open an address of %s in your browser:\n\n%s\n\n%s", q.Server, q.URL.Host, q.URL, q.Text), "I have opened it", sayNo)
		if err != nil || answer == sayNo {
			return no, err
		}
		return mcp.Answer{Action: "accept"}, nil
	}
	if len(q.Fields) == 0 {
		answer, err := put(head, "yes", "no")
		if err != nil || answer != "yes" {
			return no, err
		}
		return mcp.Answer{Action: "accept", Values: map[string]any{}}, nil
	}
	out := mcp.Answer{Action: "accept", Values: map[string]any{}}
	for i, f := range q.Fields {
		v, said, err := askField(f, fmt.Sprintf("%s\n\n%s (%d of %d)", head, f.Title, i+1, len(q.Fields)), put)
		switch {
		case err != nil:
			return no, err
		case said == sayNo:
			return no, nil
		case said != sayNothing:
			out.Values[f.Name] = v
		}
	}
	return out, nil
}

// What a person can say to a server that asks the model.
const (
	sampleOnce = "once"
	sampleHere = "in this conversation"
	shownOfAsk = 1500 // characters of what it asks
)

// mayAskModel asks the person, once or for the conversation, whether a server may ask the model.
func (a *App) mayAskModel(ctx context.Context, q mcp.Sample) error {
	key := [2]string{q.Session, q.Server}
	if _, said := a.sampling.Load(key); said {
		return nil
	}
	if err := whyUnstaffed(a.wayIn(q.Session)); err != nil {
		return err
	}
	shown := []rune(strings.TrimSpace(q.System + "\n\n" + q.Text))
	if len(shown) > shownOfAsk {
		shown = append(shown[:shownOfAsk], []rune(" […]")...)
	}
	answer, err := a.Agent.AskQuestion(ctx, agent.Question{Session: q.Session, Turn: q.Turn, CallID: q.CallID, Server: q.Server, Choices: []string{sampleOnce, sampleHere, sayNo}, Text: fmt.Sprintf(
		"The server %s wants your model to answer this, with up to %d tokens. The answer goes to it.\n\n%s", q.Server, q.MaxTokens, string(shown))})
	if err != nil {
		return err
	}
	switch answer {
	case sampleOnce:
	case sampleHere:
		a.sampling.Store(key, true)
	default:
		return errors.New("the person said no")
	}
	return nil
}

// sampleForServer has the session's model answer a server, when the person who sits in the session
// says so. The model is given what the server said, no tool and nothing of the conversation.
func (a *App) sampleForServer(ctx context.Context, q mcp.Sample) (mcp.Sampled, error) {
	if err := a.mayAskModel(ctx, q); err != nil {
		return mcp.Sampled{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, q.Limit)
	defer cancel()
	own, err := a.Agent.Model(ctx, q.Session)
	if err != nil {
		return mcp.Sampled{}, err
	}
	const perToken = 8
	said, ref, err := a.runAlongModels(ctx, errand{
		task: "mcp", session: q.Session, system: q.System, text: q.Text, parts: q.Parts, most: q.MaxTokens, bytes: perToken * q.MaxTokens, own: true,
	}, nil, own)
	if err != nil {
		a.log.Info("a server's question to the model was not answered", "server", q.Server, "err", err)
		return mcp.Sampled{}, errors.New("the model did not answer")
	}
	return mcp.Sampled{Text: secret.Clean(said), Model: ref}, nil
}

// fieldTries is how often a person is asked for a value that can be used.
const fieldTries = 3

// askField asks for one value until it can be used. said is sayNo or sayNothing, or what was said.
func askField(f mcp.Field, text string, put func(text string, choices ...string) (string, error)) (v any, said string, err error) {
	if f.Help != "" {
		text += "\n" + f.Help
	}
	choices := slices.Clone(f.Choices)
	if f.Kind == "boolean" {
		choices = []string{"yes", "no"}
	}
	if len(choices) > 0 {
		if !f.Required {
			choices = append(choices, sayNothing)
		}
		choices = append(choices, sayNo)
	} else {
		text += "\n\nWrite " + sayNo + " to answer nothing of it."
		if !f.Required {
			text += " Write " + sayNothing + " to leave this value out."
		}
	}
	for range fieldTries {
		if said, err = put(text, choices...); err != nil || said == sayNo || said == sayNothing {
			return nil, said, err
		}
		if v, err = f.Value(said); err == nil {
			return v, said, nil
		}
		text = err.Error() + ".\n\n" + text
	}
	return nil, sayNo, nil
}

// useAttached is what a person says who uses a prompt of a server. No word of it is the server's,
// the name of the prompt neither: what a person says can run a command or have something
// remembered.
const useAttached = "Do what the attached prompt of a server of tools says."

// SubmitPrompt hands a prompt of a server to a session. It is the server's text: the person's own
// words are only that they want it used.
func (a *App) SubmitPrompt(ctx context.Context, uid string, p mcp.Prompt, args string) error {
	if err := a.Ensure(ctx, uid); err != nil {
		return err
	}
	parts, err := a.MCP.Prompt(ctx, p.Server, p.Name, args)
	if err != nil {
		return err
	}
	return a.Agent.Submit(ctx, uid, agent.Input{From: chat.Person(), Text: useAttached, Parts: parts})
}

// aboutServer is what a server says of itself, once a session. Tools are made before the servers.
func (a *App) aboutServer(session, server string) string { return a.MCP.About(session, server) }

// deferTools leaves out of a session's list what would take too much of the model's window.
func (a *App) deferTools(window int, specs []tool.Spec) (listed, found []tool.Spec) {
	return mcp.Deferred(window, a.Config().MCP.Defer, specs)
}
