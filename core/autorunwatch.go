package core

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"hermes/core/agent"
	"hermes/core/autorun"
	"hermes/core/chat"
	"hermes/core/checkpoint"
	"hermes/core/event"
	"hermes/core/logs"
	"hermes/core/realpath"
)

// autoruns looks after calls for what other programs would run by themselves.
type autoruns struct {
	guard *autorun.Guard
	reach checkpoints // where a call's files are
}

func (a *App) newAutorun() agent.Autorun {
	return autoruns{&autorun.Guard{}, checkpoints{a.Checkpoints, a.Pool}}
}

// Watch looks where commands and scripts start on this machine; file tools name what they change.
func (r autoruns) Watch(c agent.FileChange) agent.Watched {
	dir := r.reach.checkpointOf(c).Dir
	if dir == "" && len(c.Intent.Paths) > 0 && c.Backend == "" {
		dir = c.Cwd
	}
	if dir == "" {
		return nil
	}
	dir = realpath.Of("", "/", dir)
	return &watched{autoruns: r, call: c, view: r.guard.Look(dir), dir: dir, turn: c.Turn + "+" + rand.Text()[:8]}
}

type watched struct {
	autoruns
	call agent.FileChange
	dir  string
	turn string // the record of what was put back

	mu   sync.Mutex
	view autorun.View
}

func (w *watched) Allow(inside agent.Watched) {
	in, ok := inside.(*watched)
	if !ok {
		return
	}
	now := w.guard.Look(in.dir)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.view = w.view.Accept(in.view, now)
}

func (w *watched) End(undo bool) []agent.LeftBehind {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := w.guard.Changes(w.view)
	if len(changes) == 0 {
		return nil
	}
	var recorded []autorun.Change
	var out []agent.LeftBehind
	for _, c := range changes {
		var kept error
		if undo { // one by one: a file that cannot be kept stays, and saves no other
			if kept = w.recordNow(c); kept == nil {
				recorded = append(recorded, c)
			}
		}
		out = append(out, w.describeLeft(c, undo, kept))
	}
	if len(recorded) > 0 {
		w.recordPutBack(recorded)
	}
	return shortenCrowd(out)
}

const maxLeft = 20

// shortenCrowd says of a crowd of files how many there are: those that could not be put back come
// first.
func shortenCrowd(all []agent.LeftBehind) []agent.LeftBehind {
	if len(all) <= maxLeft {
		return all
	}
	slices.SortStableFunc(all,
		func(a, b agent.LeftBehind) int { return putBackFirst(a) - putBackFirst(b) })
	more := len(all) - maxLeft
	out := all[:maxLeft:maxLeft]
	last := &out[maxLeft-1]
	last.Text += fmt.Sprintf("; and so it went with %d more files", more)
	if putBackFirst(all[maxLeft-1]) != putBackFirst(all[len(all)-1]) {
		last.Text += ", which were put back"
	}
	return out
}

func putBackFirst(l agent.LeftBehind) int {
	if slices.Contains(l.Diff.Notes, putBack) {
		return 1
	}
	return 0
}

const putBack = "put back"

// recordNow records what a file is now in a turn of its own, so that what is put back can be had
// again.
func (w *watched) recordNow(c autorun.Change) error {
	err := w.reach.store.Before(context.Background(), w.checkpointOf([]autorun.Change{c}))
	var skipped *checkpoint.SkippedError
	if errors.As(err, &skipped) {
		return fmt.Errorf("%s", skipped.Why)
	}
	return err
}

func (w *watched) recordPutBack(changes []autorun.Change) {
	w.reach.store.After(w.checkpointOf(changes))
	_, _ = w.reach.store.End(context.Background(), w.call.Session, w.turn) // what is missing is in the record
}

func (w *watched) checkpointOf(changes []autorun.Change) checkpoint.Change {
	out := checkpoint.Change{Session: w.call.Session, Turn: w.turn, Tool: w.call.Tool, Prompt: "put back: what a script left for other programs to run"}
	for _, c := range changes {
		out.Paths = append(out.Paths, c.Path)
	}
	return out
}

// describeLeft says what became of one file.
func (w *watched) describeLeft(c autorun.Change, undo bool, kept error) agent.LeftBehind {
	name := c.Path
	if rel, err := filepath.Rel(w.call.Cwd, c.Path); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	out := agent.LeftBehind{Diff: diffOf(c, name)}
	if undo && kept == nil {
		kept = c.Undo()
	}
	switch {
	case !undo:
		out.Text = fmt.Sprintf("%s was changed by %s: other programs run what is in there by themselves", name, w.call.Tool)
		out.Hint = "look at it before your shell, git or an editor does"
	case kept != nil:
		out.Text = fmt.Sprintf("%s was changed by %s and could not be put back (%v): other programs run what is in there by themselves", name, w.call.Tool, kept)
		out.Hint = "look at it before your shell, git or an editor does"
		out.Diff.Notes = []string{"not put back"}
	default:
		out.Text = fmt.Sprintf("%s was put back: other programs run what is in there by themselves, and %s changed it unasked", name, w.call.Tool)
		out.Hint, out.Do = "what was written is kept", []event.Remedy{event.RemedyRollback}
		out.Diff.Notes = []string{putBack}
	}
	return out
}

const diffLines = 400

// diffOf is the beginning of what changed.
func diffOf(c autorun.Change, name string) chat.FileDiff {
	d := chat.FileDiff{Path: name, Op: chat.FileModified}
	switch {
	case c.Before() == "":
		d.Op = chat.FileCreated
	case c.After() == "":
		d.Op = chat.FileDeleted
	}
	lines := strings.SplitAfter(logs.Redact(udiff.Unified("a/"+name, "b/"+name, c.Before(), c.After())), "\n")
	for i, l := range lines {
		switch {
		case i < 2 || l == "":
		case l[0] == '+':
			d.Added++
		case l[0] == '-':
			d.Removed++
		}
	}
	if len(lines) > diffLines {
		d.Notes, lines = []string{"cut"}, lines[:diffLines]
	}
	d.Unified = strings.Join(lines, "")
	return d
}
