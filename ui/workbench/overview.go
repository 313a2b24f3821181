package workbench

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core"
	"hermes/core/checkpoint"
	"hermes/core/client"
	"hermes/core/tool/plan"
	"hermes/panes/output"
)

// What the overview counts at most: turns back, and files of them.
const (
	overviewTurns = 20
	overviewFiles = 20
)

var _ output.Overviewer = talker{}

// Overview gives the output pane how a session stands, for while nothing runs.
func (t talker) Overview(ctx context.Context, uid string) (output.Overview, error) {
	app, fresh, err := t.storedSession(ctx, uid)
	if err != nil {
		return output.Overview{}, err
	}
	o := output.Overview{Runs: runningIn(app, uid)}
	if fresh {
		return o, nil
	}
	o.Todo, err = plan.InMeta(app.Sessions).Load(ctx, uid)
	if err != nil {
		return o, err
	}
	info, err := app.Sessions.Get(ctx, uid)
	if err != nil {
		return o, err
	}
	o.Files, o.More, err = changedFiles(app.Checkpoints, uid, info.Cwd)
	if err != nil {
		return o, err
	}
	made, err := app.Composition(ctx, uid)
	o.Window, o.Used = made.Window, cmp.Or(made.Counted, made.Tokens)
	for _, s := range made.Shares {
		o.Shares = append(o.Shares, output.Share{Name: client.ShareName(s.Name), Tokens: s.Tokens})
	}
	slices.SortStableFunc(o.Shares, func(a, b output.Share) int { return b.Tokens - a.Tokens })
	return o, err
}

func runningIn(app *core.App, uid string) (out []output.Process) {
	for _, p := range app.Backends().Processes(uid) {
		if p.Running {
			out = append(out, output.Process{ID: p.ID, Command: p.Command, Since: p.Started})
		}
	}
	return out
}

// changedFiles are the files that the newest turns of a session changed and nobody took back, the
// newest first; more counts those that are left out.
func changedFiles(s *checkpoint.Store, uid, cwd string) (out []output.ChangedFile, more int, err error) {
	records, err := s.List(uid)
	if err != nil {
		return nil, 0, err
	}
	records = slices.DeleteFunc(records, func(r *checkpoint.Record) bool { return r.Undone != "" || len(r.Of) > 0 })
	at := map[string]int{}
	for _, r := range slices.Backward(records[max(0, len(records)-overviewTurns):]) {
		for _, d := range s.Diff(r) {
			path := shownPath(cwd, string(d.Path))
			i, known := at[path]
			switch {
			case known:
				out[i].Added, out[i].Removed = out[i].Added+d.Added, out[i].Removed+d.Removed
			case len(out) == overviewFiles:
				more++
			default:
				at[path] = len(out)
				out = append(out, output.ChangedFile{Path: path, Added: d.Added, Removed: d.Removed})
			}
		}
	}
	return out, more, nil
}

// shownPath is a path as seen from the session's folder.
func shownPath(cwd, path string) string {
	if rel, err := filepath.Rel(cwd, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return shortFolder(path)
}
