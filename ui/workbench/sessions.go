package workbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/core"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/panes/sessions"
)

// browser gives the session browser what it needs.
type browser struct{ b *booting }

var _ sessions.Store = browser{}

func (s browser) List(ctx context.Context, which sessions.ArchiveMode, limit, offset int) ([]event.SessionInfo, error) {
	return readFrom(ctx, s.b, func(app *core.App) ([]event.SessionInfo, error) {
		f := session.Filter{Archived: which != sessions.HideArchived, OnlyArchived: which == sessions.OnlyArchived, Limit: limit, Offset: offset}
		return app.History().List(ctx, f)
	})
}

func (s browser) Search(ctx context.Context, query string, limit int) (sessions.Found, error) {
	app, err := s.b.waitForApp(ctx)
	if err != nil {
		return sessions.Found{}, err
	}
	if f, ok := session.OnlyFilters(query); ok { // no words to look for: the sessions that fit
		return listFiltered(ctx, app.Sessions, f, limit)
	}
	r, err := app.History().Search(ctx, session.Query{Text: query, Limit: limit, Typing: true})
	if err != nil {
		return sessions.Found{}, err
	}
	found := sessions.Found{Total: r.Total, More: r.Bounded, Rebuilding: r.Rebuilding}
	for _, h := range r.Hits {
		found.Hits = append(found.Hits, sessions.Hit{Info: h.Session, Message: h.MessageID, Snippet: h.Snippet, Marks: h.Marks})
	}
	return found, nil
}

func listFiltered(ctx context.Context, s *session.Service, f session.Filter, limit int) (sessions.Found, error) {
	f.Limit, f.Archived = limit, true
	infos, err := s.List(ctx, f)
	found := sessions.Found{Total: len(infos), More: len(infos) == limit}
	for _, info := range infos {
		found.Hits = append(found.Hits, sessions.Hit{Info: info})
	}
	return found, err
}

func (s browser) Preview(ctx context.Context, uid string, at int64, limit int) ([]chat.Message, error) {
	app, err := s.b.waitForApp(ctx)
	if err != nil {
		return nil, err
	}
	msgs, _, err := app.History().Messages(ctx, uid, session.Page{AroundID: at, Limit: limit})
	return msgs, err
}

func (s browser) Rename(ctx context.Context, uid, title string) error {
	return s.changeSessions(ctx, func(x *session.Service) error { return x.Rename(ctx, uid, title) })
}

func (s browser) Delete(ctx context.Context, uid string) error {
	return s.b.doInApp(ctx, func(app *core.App) error { return app.DeleteSession(ctx, uid) })
}

func (s browser) Archive(ctx context.Context, uid string, on bool) error {
	return s.b.doInApp(ctx, func(app *core.App) error { return app.ArchiveSession(ctx, uid, on) })
}

func (s browser) Pin(ctx context.Context, uid string, on bool) error {
	return s.changeSessions(ctx, func(x *session.Service) error { return x.Pin(ctx, uid, on) })
}

func (s browser) Fork(ctx context.Context, uid string, at int64) (event.SessionInfo, error) {
	return readFrom(ctx, s.b, func(app *core.App) (event.SessionInfo, error) { return app.History().Fork(ctx, uid, at) })
}

// Export writes Markdown into the current directory.
func (s browser) Export(ctx context.Context, uid string) (string, error) {
	return exportToFile(ctx, s.b, uid, session.Markdown)
}

// Unexport implements sessions.Store.
func (s browser) Unexport(path string) error { return s.b.written.removeWritten(path) }

// Holds implements sessions.Store.
func (s browser) Holds(ctx context.Context, uid string) ([]string, error) {
	return readFrom(ctx, s.b, func(app *core.App) ([]string, error) { return app.Holds(ctx, uid) })
}

func (s browser) changeSessions(ctx context.Context, f func(*session.Service) error) error {
	return s.b.doInApp(ctx, func(app *core.App) error { return f(app.Sessions) })
}

// exportToFile writes a session to a new file in the current directory; it never replaces one.
func exportToFile(ctx context.Context, b *booting, uid string, format session.Format) (string,
	error,
) {
	app, err := b.waitForApp(ctx)
	if err != nil {
		return "", err
	}
	info, err := app.Sessions.Get(ctx, uid)
	if errors.Is(err, store.ErrNotFound) {
		return "", errors.New("there is nothing to export: nothing was said in this session yet")
	}
	if err != nil {
		return "", err
	}
	file, err := newFile(app.Cwd(), fileName(info.Title), fileExtension(format))
	if err != nil {
		return "", fmt.Errorf("export: %w", err)
	}
	err = app.History().Export(ctx, uid, file, format)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return "", err
	}
	b.written.noteWritten(file.Name())
	return file.Name(), nil
}

func fileExtension(f session.Format) string {
	switch f {
	case session.JSON:
		return ".json"
	case session.ShareGPT:
		return ".jsonl"
	case session.Markdown:
	}
	return ".md"
}

// newFile makes name.md, name-2.md ... whichever is free.
func newFile(dir, name, ext string) (*os.File, error) {
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+ext)
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, n, ext))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil || !os.IsExist(err) || n > 999 {
			return f, err
		}
	}
}

// maxFileName is in bytes: with a number and an extension it stays below what file systems take.
const maxFileName = 200

// fileName keeps of a title what is safe in a file name everywhere, and in a shell: letters of any
// script, digits, - and _.
func fileName(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsSpace(r):
			r = '-'
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r), r == '-', r == '_':
		default:
			continue
		}
		if b.Len()+utf8.RuneLen(r) > maxFileName {
			break
		}
		b.WriteRune(r)
	}
	if name := strings.Trim(b.String(), "-"); name != "" {
		return name
	}
	return "session"
}
