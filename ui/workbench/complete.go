package workbench

import (
	"context"
	"strings"
	"sync"

	"hermes/core"
	"hermes/core/config"
	"hermes/core/crash"
	"hermes/core/session"
	"hermes/ui/text"
)

// maxCompleted is how many values are offered.
const maxCompleted = 50

// sessionTitles completes /resume: the newest sessions whose title has what was typed.
func (w *workbench) sessionTitles(prefix string) []string {
	app, ok := w.boot.appIfReady()
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), quick)
	defer cancel()
	all, err := app.History().List(ctx, session.Filter{Limit: 4 * maxCompleted})
	if err != nil {
		return nil
	}
	var out []string
	for _, s := range all {
		title := strings.Join(strings.Fields(text.Sanitize(s.Title)), " ")
		if title != "" && len(out) < maxCompleted && strings.Contains(strings.ToLower(title), strings.ToLower(prefix)) {
			out = append(out, title)
		}
	}
	return out
}

// modelNames are those that the servers listed. They are asked while the person types on: once for
// the settings that count.
type modelNames struct {
	mu    sync.Mutex
	asked *config.Config // for which they were asked
	names []string
}

// askServers asks the servers of the settings, and keeps the old names until they have answered.
func (m *modelNames) askServers(app *core.App, settings *config.Config) {
	ctx, cancel := context.WithTimeout(context.Background(), slow)
	defer cancel()
	var names []string
	for _, x := range app.Catalog().List(ctx) {
		names = append(names, x.Provider+"/"+x.ID)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == settings {
		m.names = names
	}
}

// completeModel completes /model.
func (m *modelNames) completeModel(w *workbench, prefix string) []string {
	app, ok := w.boot.appIfReady()
	if !ok {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := app.Config(); m.asked != now {
		m.asked = now
		crash.Go("list models", func() { m.askServers(app, now) })
	}
	var out []string
	for _, n := range m.names {
		if len(out) < maxCompleted && strings.Contains(strings.ToLower(n), strings.ToLower(prefix)) {
			out = append(out, text.Sanitize(n))
		}
	}
	return out
}
