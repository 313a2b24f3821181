package file

import (
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hermes/core/chat"
	"hermes/core/intent"
	"hermes/core/tool"
)

//go:embed write_file.md
var writeDoc string

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Backend string `json:"backend"`
}

// Write returns the write_file tool.
func Write(w *Workspace) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "write_file", Toolset: "file", Description: writeDoc,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{
			"path":{"type":"string","minLength":1,"description":"File to write; parent folders are made"},
			"content":{"type":"string","description":"The whole new content"}` + w.backendArg() + `}}`),
		Intent: tool.Arg(func(a writeArgs) intent.Intent {
			return intent.Intent{Gist: fmt.Sprintf("%s (%s)", a.Path, countLines(a.Content)), Paths: []string{a.Path}, OnlyPaths: true, InBackend: true, Backend: a.Backend}
		}),
		Preview: func(ctx context.Context, c tool.Call) (string, string) {
			return w.previewOf(tool.Arg(func(a writeArgs) prepared { return w.prepareWrite(ctx, c, a) })(c.Args))
		},
	}, func(ctx context.Context, c tool.Call, a writeArgs) (tool.Result, error) {
		p := w.prepareWrite(ctx, c, a)
		return w.carryOut(ctx, c, p, map[string]any{"path": a.Path, "bytes_written": len(a.Content)}), nil
	})
}

// countLines counts the lines of a text; the end of the last one begins no other.
func countLines(s string) string {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	if n == 1 {
		return "1 line"
	}
	return strconv.Itoa(n) + " lines"
}

// prepared is a plan or why there is none.
type prepared struct {
	plan plan
	err  error
}

func (w *Workspace) prepareWrite(ctx context.Context, c tool.Call, a writeArgs) prepared {
	at, old, err := w.openForWriting(ctx, c, a.Backend, a.Path)
	if err != nil {
		return prepared{err: err}
	}
	after := []byte(a.Content)
	var before []byte
	if old != nil {
		before = old.data
		if t, err := decodeText(old.data); err == nil {
			after = t.encodeBody(a.Content)
		}
	}
	ch := change{at: at, old: old, after: after, notes: newFaults(at.real, before, after)}
	return prepared{plan: plan{changes: []change{ch}, warnings: w.changeWarnings(c.Session, ch)}}
}

// openForWriting resolves a path for writing and reads what is there.
func (w *Workspace) openForWriting(ctx context.Context, c tool.Call, backend, path string) (place, *snapshot, error) {
	at, err := w.findPlace(ctx, c, backend, path)
	if err != nil {
		return at, nil, err
	}
	return w.forWriting(ctx, at)
}

// forWriting reads what is at a place that may be written.
func (w *Workspace) forWriting(ctx context.Context, at place) (place, *snapshot, error) {
	if err := w.mayWrite(at); err != nil {
		return at, nil, err
	}
	old, err := readSnapshot(ctx, at)
	if err != nil {
		return at, nil, fmt.Errorf("%s: %w", at.shown, err)
	}
	return at, old, nil
}

// changeWarnings says what the model should know about the file that it changes.
func (w *Workspace) changeWarnings(session string, c change) []string {
	if c.old == nil {
		return nil
	}
	var out []string
	if seen, stale := w.marks.changedSince(session, c.at.fileKey(), c.old.stat); stale {
		out = append(out, fmt.Sprintf("%s changed on disk since you last saw it at %s; make sure that nothing was lost", c.at.shown, seen.Format("15:04:05")))
	}
	if n := c.old.stat.Links; n > 1 {
		out = append(out, fmt.Sprintf("%s has %d hard links; the other names keep the old content", c.at.shown, n))
	}
	return out
}

// previewOf is what an approval shows.
func (w *Workspace) previewOf(p prepared) (detail, diff string) {
	if p.err != nil {
		return "This call will fail: " + p.err.Error(), ""
	}
	if err := p.plan.refuseCopiedMarks(); err != nil {
		return "This call will fail: " + err.Error(), ""
	}
	var lines []string
	for _, d := range p.plan.fileDiffs() {
		lines = append(lines, diffSummary(d))
	}
	return strings.Join(append(lines, p.plan.warnings...), "\n"), p.plan.previewText()
}

// carryOut carries out a plan and reports it; a program gets data too.
func (w *Workspace) carryOut(ctx context.Context, c tool.Call, what prepared, data map[string]any) tool.Result {
	p, err := what.plan, what.err
	if err == nil {
		err = w.commitPlan(ctx, c.Session, p)
	}
	var denied *DeniedError
	if errors.As(err, &denied) {
		return tool.Fail("%v.", denied)
	}
	if err != nil {
		return tool.Fail("Nothing was changed. %v", err)
	}
	res := tool.Result{Diffs: p.fileDiffs(), Warnings: p.warnings}
	if c.Data != nil {
		c.Data(outcomeData(data, res))
	}
	var lines []string
	for _, d := range res.Diffs {
		lines = append(lines, diffSummary(d))
		for _, n := range d.Notes {
			lines = append(lines, "  "+n)
		}
	}
	for _, s := range p.warnings {
		lines = append(lines, "Warning: "+s)
	}
	res.Text = strings.Join(lines, "\n")
	return res
}

// outcomeData adds to data what every change has. It holds no text of the files: programs look for
// the word "error" in it.
func outcomeData(data map[string]any, res tool.Result) map[string]any {
	added, removed := 0, 0
	for _, d := range res.Diffs {
		added, removed = added+d.Added, removed+d.Removed
	}
	data["success"], data["added"], data["removed"] = true, added, removed
	if len(res.Warnings) > 0 {
		data["warnings"] = res.Warnings
	}
	return data
}

func diffSummary(d chat.FileDiff) string {
	where := d.Path
	if d.OldPath != "" {
		where = d.OldPath + " -> " + d.Path
	}
	op := string(d.Op)
	return fmt.Sprintf("%s %s (+%d -%d)", strings.ToUpper(op[:1])+op[1:], where, d.Added, d.Removed)
}
