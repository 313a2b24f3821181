package file

import (
	"cmp"
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"hermes/core/files"
	"hermes/core/intent"
	"hermes/core/realpath"
	"hermes/core/tool"
)

//go:embed search_files.md
var searchDoc string

const searchTime = 30 * time.Second

type searchArgs struct {
	Pattern string `json:"pattern"`
	Target  string `json:"target"`
	Path    string `json:"path"`
	Glob    string `json:"file_glob"`
	Limit   int    `json:"limit"`
	Offset  int    `json:"offset"`
	Mode    string `json:"output_mode"`
	Context int    `json:"context"`
	Backend string `json:"backend"`
}

// Search returns the search_files tool.
func Search(w *Workspace) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "search_files", Toolset: "file", Description: searchDoc,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{
			"pattern":{"type":"string","minLength":1,"description":"content: a regular expression, matched line by line; files: a glob or part of a name"},
			"target":{"type":"string","enum":["content","files"],"default":"content"},
			"path":{"type":"string","description":"Folder or file to search; default is the session's directory"},
			"file_glob":{"type":"string","description":"Only files that match, such as *.go or src/**/*.{ts,tsx}; a leading ! excludes"},
			"limit":{"type":"integer","minimum":1,"maximum":1000,"default":50},
			"offset":{"type":"integer","minimum":0,"default":0,"description":"Skip so many results"},
			"output_mode":{"type":"string","enum":["content","files_only","count"],"default":"content"},
			"context":{"type":"integer","minimum":0,"maximum":20,"default":0,"description":"Lines around each match"}` + w.backendArg() + `}}`),
		Intent: tool.Arg(func(a searchArgs) intent.Intent {
			where := cmp.Or(a.Path, ".")
			return intent.Intent{
				Reads: true, Gist: strings.TrimSpace(fmt.Sprintf("%s in %s %s", a.Pattern, where, a.Glob)),
				Paths: []string{where}, OnlyPaths: true, InBackend: true, Backend: a.Backend,
			}
		}),
	}, w.searchFiles)
}

func (w *Workspace) searchFiles(ctx context.Context, c tool.Call, a searchArgs) (tool.Result, error) {
	a.Limit = cmp.Or(a.Limit, 50)
	if strings.ContainsRune(a.Pattern+a.Glob, 0) {
		return tool.Fail("pattern and file_glob must not contain NUL."), nil
	}
	at, err := w.findPlace(ctx, c, a.Backend, cmp.Or(a.Path, "."))
	if err != nil {
		return tool.Fail("Cannot search %v.", err), nil
	}
	st, err := at.room.Files.Stat(ctx, at.real)
	if err != nil {
		return tool.Fail("Cannot search %s: %v.%s", at.shown, files.Reason(err), similarFiles(ctx, at)), nil
	}
	if err := w.mayRead(at); err != nil {
		return tool.Fail("%v.", err), nil
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	s := search{w: w, at: at, single: st.Kind != realpath.Folder, args: a, data: c.Data}
	if a.Target == "files" {
		return s.findFiles(ctx)
	}
	return s.searchContent(ctx)
}

// search is one call of search_files.
type search struct {
	w      *Workspace
	at     place
	single bool // at is a file
	args   searchArgs
	data   func(any) // may be nil
}

// giveData hands a page of results to a program.
func (s *search) giveData(hits []map[string]any, more bool) {
	if s.data != nil {
		s.data(map[string]any{"matches": append([]map[string]any{}, hits...), "count": len(hits), "truncated": more})
	}
}

// shownName is how a found file is shown; rel is relative to the searched folder.
func (s *search) shownName(rel string) string {
	if s.single {
		return s.at.shown
	}
	return filepath.Join(s.at.shown, rel)
}

func (s *search) fullPath(rel string) string {
	if s.single {
		return s.at.real
	}
	return filepath.Join(s.at.real, rel)
}

// isSecret files are passed over in silence: telling of them would tell their names at best.
func (s *search) isSecret(rel string) bool {
	return s.w.secretAt(s.at, s.fullPath(rel))
}

// searchContent searches in files with ripgrep, or without it.
func (s *search) searchContent(ctx context.Context) (tool.Result, error) {
	g := files.Grep{Pattern: s.args.Pattern, Globs: files.Globs(s.args.Glob), Context: s.args.Context}
	var reErr error
	g.Regexp, reErr = regexp.Compile(s.args.Pattern)
	rg, away := s.w.rg(), s.at.room.Name != ""
	if reErr != nil && (rg == "" || s.single || away) {
		return tool.Fail("The pattern is no valid regular expression: %v. Escape ( ) [ ] { } . * + ? | ^ $ \\ to search for them.", reErr), nil
	}
	if spansLines(s.args.Pattern) {
		return tool.Fail(`The search is line by line: a pattern with \n never matches. Search for one of the lines, with context.`), nil
	}
	p := report{search: s}
	var err error
	switch {
	case away:
		err = s.contentThere(ctx, &p)
	case s.single:
		err = g.File(s.at.real, "", p.addFile)
	case rg != "":
		err = runRipgrep(ctx, g, rg, s.at.real, p.addFile)
	default:
		err = g.Walk(ctx, s.at.real, p.addFile)
	}
	s.giveData(p.data, p.more)
	return s.finishAnswer(ctx, p.text(), p.note(), err)
}

// contentThere has the files searched where they are.
func (s *search) contentThere(ctx context.Context, p *report) error {
	far, ok := s.at.room.Files.(searcher)
	if !ok {
		return fmt.Errorf("files of %s cannot be searched", s.at.room.Name)
	}
	q := files.Query{Pattern: s.args.Pattern, Globs: files.Globs(s.args.Glob), Context: s.args.Context, Single: s.single, Most: mostThere}
	a, err := far.Search(ctx, s.at.real, q)
	for _, f := range a.Found {
		if !p.addFile(f) {
			return nil
		}
	}
	if err == nil && a.More {
		err = errors.New("there are more matches than are fetched from another place: narrow path or file_glob")
	}
	return err
}

// finishAnswer adds what went wrong to what was found.
func (s *search) finishAnswer(ctx context.Context, text, note string, err error) (tool.Result, error) {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		note += fmt.Sprintf(" [stopped after %s: narrow path or file_glob]", searchTime)
	case ctx.Err() != nil:
		return tool.Result{Text: text}, ctx.Err()
	case err != nil && text == "":
		return tool.Fail("The search failed: %v.", err), nil
	case err != nil:
		note += fmt.Sprintf(" [incomplete: %v]", err)
	}
	if text == "" {
		text = "No matches."
	}
	return tool.Result{Text: strings.TrimSpace(strings.TrimSpace(text) + "\n" + strings.TrimSpace(note))}, nil
}

// spansLines reports whether a pattern asks for a line end, which a search by line never sees.
func spansLines(pattern string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && hasNewline(tree)
}

func hasNewline(r *syntax.Regexp) bool {
	return r.Op == syntax.OpLiteral && slices.Contains(r.Rune, '\n') || slices.ContainsFunc(r.Sub, hasNewline)
}
