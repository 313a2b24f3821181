package workbench

import (
	"context"
	"strings"
	"sync"

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

// modelNames are those that the servers listed. They are asked once, while the person types on.
type modelNames struct {
	once  sync.Once
	mu    sync.Mutex
	names []string
}

// completeModel completes /model.
func (m *modelNames) completeModel(w *workbench, prefix string) []string {
	app, ok := w.boot.appIfReady()
	if !ok {
		return nil
	}
	m.once.Do(func() {
		crash.Go("list models", func() {
			ctx, cancel := context.WithTimeout(context.Background(), slow)
			defer cancel()
			var names []string
			for _, x := range app.Catalog().List(ctx) {
				names = append(names, x.Provider+"/"+x.ID)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.names = names
		})
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, n := range m.names {
		if len(out) < maxCompleted && strings.Contains(strings.ToLower(n), strings.ToLower(prefix)) {
			out = append(out, text.Sanitize(n))
		}
	}
	return out
}
