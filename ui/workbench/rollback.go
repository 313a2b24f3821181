package workbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/checkpoint"
	"hermes/core/event"
	"hermes/core/realpath"
	"hermes/panes/changes"
	"hermes/ui"
)

// showRollback shows what the turns of the session changed: the list of them, or the turn that is
// named, or one file of it.
func (w *workbench) showRollback(arg string) tea.Cmd {
	ref, file, _ := strings.Cut(strings.TrimSpace(arg), " ")
	cwd := w.folderOf(w.program.Session())
	return w.runInApp(func(_ context.Context, app *core.App, uid string) (tea.Msg, error) {
		records, err := app.Checkpoints.List(uid)
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return ui.Toast(event.Info, "%s", nothingKept(app)), nil
		}
		if ref == "" {
			return ui.ShowOverlay{Overlay: w.turnPicker(uid, cwd, records)}, nil
		}
		r := checkpoint.Find(records, ref)
		if r == nil {
			return nil, fmt.Errorf("no turn %s has changed files; /rollback lists them", ref)
		}
		v := w.turnView(app, cwd, records, r)
		if file = strings.TrimSpace(file); file != "" && !v.Select(meantFile(cwd, file)) {
			return nil, fmt.Errorf("turn %s did not change %s", ref, file)
		}
		return ui.ShowOverlay{Overlay: v}, nil
	})
}

// meantFile is a path as records name it.
func meantFile(cwd, file string) string {
	if _, _, far := checkpoint.SplitFar(file); far {
		return file
	}
	return realpath.Of("", cwd, file)
}

func nothingKept(app *core.App) string {
	if !app.Config().Checkpoints.Enabled {
		return "checkpoints are off: checkpoints.enabled in the settings"
	}
	return "no turn of this session has changed files"
}

// turnPicker lists the turns, the newest first.
func (w *workbench) turnPicker(uid, cwd string, records []*checkpoint.Record) ui.Overlay {
	items := make([]ui.Item, 0, len(records))
	for _, r := range slices.Backward(records) {
		detail := fmt.Sprintf("%d paths", len(r.Files))
		if len(r.Files) == 1 {
			detail = changes.Relative(cwd, string(r.Files[0].Path))
		}
		if s := r.Standing(); s != "done" {
			detail += ", " + s
		}
		items = append(items, ui.Item{
			ID: r.ID, Title: strconv.Itoa(r.Number) + "  " + r.Title(), Detail: detail, Right: r.Began.Local().Format("15:04"),
			Group: r.Began.Local().Format("2 January"),
		})
	}
	choose := func(it ui.Item) tea.Cmd {
		return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
			again, err := app.Checkpoints.List(uid)
			if err != nil {
				return nil, err
			}
			r := checkpoint.Find(again, it.ID)
			if r == nil {
				return nil, errors.New("this turn is not kept any more")
			}
			return ui.ShowOverlay{Overlay: w.turnView(app, cwd, again, r)}, nil
		})
	}
	return ui.NewPicker(ui.PickerOptions{Title: "Turns that changed files", Items: items, Choose: choose, Hint: "enter look and take back  esc close"})
}

// turnView shows one turn.
func (w *workbench) turnView(app *core.App, cwd string, records []*checkpoint.Record, r *checkpoint.Record) *changes.Overlay {
	turn := changes.Turn{
		Title: fmt.Sprintf("Turn %d: %s", r.Number, r.Title()), Cwd: cwd, Files: app.Checkpoints.Diff(r), Notes: r.Notes,
		Later: records[len(records)-1].ID != r.ID,
	}
	return changes.New(turn, changes.Actions{
		Plan: func(what changes.Scope, files []string) tea.Cmd {
			ids := []string{r.ID}
			if what == changes.SinceTurn {
				ids = checkpoint.Since(records, r)
			}
			return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
				p, err := app.Checkpoints.Plan(ctx, checkpoint.Selection{Records: ids, Files: files})
				if err != nil {
					return nil, err
				}
				if len(p.Conflicts()) > 0 {
					return changes.Conflict{Plan: p}, nil
				}
				return w.takeBack(ctx, app, uid, p, false)
			})
		},
		Force: func(p *checkpoint.Plan) tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
				return w.takeBack(ctx, app, uid, p, true)
			})
		},
	})
}

// takeBack carries a plan out and says how it went. While a turn runs nothing is taken back under
// its hands.
func (w *workbench) takeBack(ctx context.Context, app *core.App, uid string, p *checkpoint.Plan, force bool) (tea.Msg, error) {
	if app.Agent.Busy(uid) {
		return nil, errors.New("the agent is working: stop it first (esc), then take its changes back")
	}
	r, err := app.Checkpoints.Undo(ctx, p, force)
	if r == nil {
		return nil, err
	}
	for _, n := range r.Notes {
		app.Events().Publish(event.Header{Session: uid}, event.Notice{Level: event.Warn, Text: n})
	}
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d paths are as they were", len(r.Files))
	if len(r.Files) == 1 {
		what = filepath.Base(string(r.Files[0].Path)) + " is as it was"
	}
	return changes.TookBack{Text: what + "; /rollback can undo this too"}, nil
}
