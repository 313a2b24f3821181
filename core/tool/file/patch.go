package file

import (
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes/core/intent"
	"hermes/core/secret"
	"hermes/core/tool"
	"hermes/core/tool/file/fuzzy"
	"hermes/core/tool/file/v4a"
)

//go:embed patch.md
var patchDoc string

type patchArgs struct {
	Mode       string `json:"mode"`
	Path       string `json:"path"`
	Old        string `json:"old_string"`
	New        string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
	Patch      string `json:"patch"`
	Backend    string `json:"backend"`
}

// Patch returns the patch tool.
func Patch(w *Workspace) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "patch", Toolset: "file", Description: patchDoc,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"mode":{"type":"string","enum":["replace","patch"],"default":"replace","description":"replace: old_string by new_string in path; patch: apply a V4A patch"},
			"path":{"type":"string","description":"replace: the file"},
			"old_string":{"type":"string","description":"replace: the text to find, unique unless replace_all"},
			"new_string":{"type":"string","description":"replace: the text to put there; empty deletes"},
			"replace_all":{"type":"boolean","default":false,"description":"replace: every occurrence"},
			"patch":{"type":"string","description":"patch: the text from *** Begin Patch to *** End Patch"}` + w.backendArg() + `}}`),
		Intent: tool.Arg(patchArgs.intent),
		Preview: func(ctx context.Context, c tool.Call) (string, string) {
			return w.previewOf(tool.Arg(func(a patchArgs) prepared { return w.preparePatch(ctx, c, a) })(c.Args))
		},
	}, func(ctx context.Context, c tool.Call, a patchArgs) (tool.Result, error) {
		data := map[string]any{}
		if a.Mode == "patch" {
			data["files"] = a.touchedPaths()
		}
		return w.carryOut(ctx, c, w.preparePatch(ctx, c, a), data), nil
	})
}

func (a patchArgs) intent() intent.Intent {
	in := intent.Intent{Paths: a.touchedPaths(), OnlyPaths: true, InBackend: true, Backend: a.Backend}
	in.Gist = strings.Join(in.Paths, ", ")
	if len(in.Paths) == 0 {
		in.Effects = intent.UnknownAction()
	}
	return in
}

// touchedPaths returns nil, "unknown", for a patch that does not parse: it then runs alone and
// fails alone.
func (a patchArgs) touchedPaths() []string {
	if a.Mode != "patch" {
		return []string{a.Path}
	}
	ops, err := v4a.Parse(a.Patch)
	if err != nil {
		return nil
	}
	return v4a.Paths(ops)
}

func (w *Workspace) preparePatch(ctx context.Context, c tool.Call, a patchArgs) prepared {
	if a.Mode == "patch" {
		if a.Patch == "" {
			return prepared{err: errors.New("patch: mode patch needs the argument patch")}
		}
		return explainHiddenMark(w.prepareV4A(ctx, c, a), a.Patch)
	}
	if a.Path == "" {
		return prepared{err: errors.New("patch: mode replace needs the arguments path, old_string and new_string")}
	}
	return explainHiddenMark(w.prepareReplace(ctx, c, a), a.Old)
}

// explainHiddenMark adds why a text with the mark of a hidden secret is not found.
func explainHiddenMark(p prepared, text string) prepared {
	if p.err != nil && strings.Contains(text, secret.Hidden) {
		p.err = fmt.Errorf("%w. And %s", p.err, hiddenText)
	}
	return p
}

func (w *Workspace) prepareReplace(ctx context.Context, c tool.Call, a patchArgs) prepared {
	at, old, err := w.openForWriting(ctx, c, a.Backend, a.Path)
	if err != nil {
		return prepared{err: err}
	}
	if old == nil {
		return prepared{err: fmt.Errorf("%s does not exist.%s%s", at.shown, similarFiles(ctx, at), c.Advise(" Use `write_file` for a new file"))}
	}
	t, err := decodeText(old.data)
	if err != nil {
		return prepared{err: fmt.Errorf("%s: %w", at.shown, err)}
	}
	from, to := a.Old, a.New
	if t.crlf {
		from, to = unixNewlines(from), unixNewlines(to)
	}
	out, err := fuzzy.Replace(t.body, from, to, a.ReplaceAll)
	if err != nil {
		return prepared{err: fmt.Errorf("%s: %w", at.shown, err)}
	}
	after := t.encodeBody(out.Text)
	ch := change{at: at, old: old, after: after, notes: newFaults(at.real, old.data, after)}
	if n := len(out.Spans); n > 1 {
		ch.notes = append(ch.notes, fmt.Sprintf("%d places", n))
	}
	if out.Strategy != "exact" {
		ch.notes = append(ch.notes, approximateNote(out.Strategy, out.Guess))
	}
	return prepared{plan: plan{changes: []change{ch}, warnings: w.changeWarnings(c.Session, ch)}}
}

func approximateNote(strategy string, guess bool) string {
	if guess {
		return "matched by " + strategy + ", a guess: look at the diff and read the file"
	}
	return "matched by " + strategy + ", not exactly"
}
