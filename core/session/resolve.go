package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes/core/event"
	"hermes/core/store"
)

// every kind may be named, only the usual ones are listed
var allKinds = []string{string(KindUser), string(KindBranch), string(KindCompaction), string(KindSubagent), string(KindCron)}

// Resolve finds a session by uid, unique start of a uid, exact title, or "last" (the one with the
// newest activity). When several or none fit, the error lists those that come near.
func (s *Service) Resolve(ctx context.Context, ref string) (event.SessionInfo, error) {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref == "last" {
		return s.lastSession(ctx)
	}
	x, err := s.st.Session(ctx, ref)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return s.infoOf(x), err
	}
	for _, q := range []store.ListQuery{{Title: ref}, {UIDPrefix: ref}} {
		q.Kinds, q.Archived, q.ByRecency, q.Limit = allKinds, true, true, 6
		found, err := s.st.Sessions(ctx, q)
		switch {
		case err != nil:
			return event.SessionInfo{}, err
		case len(found) == 1:
			return s.infoOf(found[0]), nil
		case len(found) > 1:
			return event.SessionInfo{}, fmt.Errorf("%q fits several sessions, give more of the id:\n%s", ref, candidateList(found))
		}
	}
	return event.SessionInfo{}, s.notFound(ctx, ref)
}

func (s *Service) lastSession(ctx context.Context) (event.SessionInfo, error) {
	found, err := s.st.Sessions(ctx, store.ListQuery{ByRecency: true, Limit: 1})
	if err != nil {
		return event.SessionInfo{}, err
	}
	if len(found) == 0 {
		return event.SessionInfo{}, missing("there is no session yet")
	}
	return s.infoOf(found[0]), nil
}

func (s *Service) notFound(ctx context.Context, ref string) error {
	near, err := s.st.Sessions(ctx, store.ListQuery{TitleHas: ref, Kinds: allKinds, Archived: true, Limit: 5})
	if err != nil {
		return err
	}
	if len(near) == 0 {
		return missing(fmt.Sprintf("no session has the id or title %q; `hermes sessions list` shows them", ref))
	}
	return missing(fmt.Sprintf("no session has the id or title %q; near it:\n%s", ref, candidateList(near)))
}

// missing is a sentence about what is not found, for errors.Is store.ErrNotFound.
type missing string

func (m missing) Error() string { return string(m) }
func (m missing) Unwrap() error { return store.ErrNotFound }

func candidateList(found []store.Session) string {
	lines := make([]string, len(found))
	for i, x := range found {
		lines[i] = "  " + x.UID + "  " + x.Title
	}
	return strings.Join(lines, "\n")
}
