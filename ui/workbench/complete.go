package workbench

import (
	"context"
	"strings"

	"hermes/core"
	"hermes/core/session"
	"hermes/ui/text"
)

// maxTitles is how many sessions /resume offers: the newest.
const maxTitles = 200

// namesInApp waits for the App and asks it for names.
func (w *workbench) namesInApp(ctx context.Context, list func(*core.App) []string) []string {
	names, _ := readFrom(ctx, w.boot, func(app *core.App) ([]string, error) { return list(app), nil })
	return names // none when it cannot be opened; the screen says why
}

// sessionTitles completes /resume.
func (w *workbench) sessionTitles(ctx context.Context) []string {
	return w.namesInApp(ctx, func(app *core.App) (out []string) {
		all, _ := app.History().List(ctx, session.Filter{Limit: maxTitles}) // the list of sessions says what is wrong
		for _, s := range all {
			if title := strings.Join(strings.Fields(text.Sanitize(s.Title)), " "); title != "" {
				out = append(out, title)
			}
		}
		return out
	})
}

// modelNames completes /model with what the servers list now.
func (w *workbench) modelNames(ctx context.Context) []string {
	return w.namesInApp(ctx, func(app *core.App) (out []string) {
		for _, m := range app.Catalog().List(ctx) {
			out = append(out, text.Sanitize(m.Provider+"/"+m.ID))
		}
		return out
	})
}
