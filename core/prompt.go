package core

import (
	"context"
	"runtime"
	"strings"
	"time"

	"hermes/core/event"
	"hermes/core/prompt"
	"hermes/core/provider"
)

// buildPrompt builds a session's system prompt. It is asked once a session; what it left out is
// said to the person.
func (a *App) buildPrompt(ctx context.Context, s event.SessionInfo, tools []provider.ToolSpec) (string, error) {
	c := a.Config()
	o := prompt.Options{
		Home: c.Paths().Home, Cwd: s.Cwd, System: runtime.GOOS + "/" + runtime.GOARCH, Surface: a.wayIn(s.UID).Source,
		Extra: c.Agent.SystemPrompt, Now: time.Now(), Model: s.Model, Session: s.UID, MaxFile: c.Agent.ContextFileMaxChars,
	}
	for _, t := range tools {
		o.Tools = append(o.Tools, t.Name)
	}
	for _, b := range a.Pool.List(s.UID) {
		o.Backends = append(o.Backends, prompt.Backend{Name: b.Name, Kind: b.Kind, Image: b.Image, Default: b.Default})
	}
	remembered := a.Memory.Snapshot(a.memoryInPrompt())
	o.Memory = strings.Trim(remembered.Text+"\n\n"+a.user.promptText(s.UID), "\n")
	known, notices := a.skillIndex(ctx, s, o.Tools)
	o.Skills = known
	p := prompt.Build(o)
	p.Notices = append(p.Notices, notices...)
	for _, n := range append(p.Notices, remembered.Notices...) {
		a.Bus.Publish(event.Header{Session: s.UID}, event.Notice{Level: event.Warn, Text: n})
	}
	return p.Text(), nil
}
