package session

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/secret"
	"hermes/core/store"
)

// Rename sets a title for good: nothing but another Rename changes it.
func (s *Service) Rename(ctx context.Context, uid, title string) error {
	title = secret.Clean(oneLine(stripControls(title)))
	if title == "" {
		return errors.New("a title needs at least one character")
	}
	src := titleUser
	return s.updateSession(ctx, uid, store.Patch{Title: &title, TitleSrc: &src})
}

// SetTitleIfDerived sets a title that a model suggests, unless a person chose the present one. It
// reports whether it did.
func (s *Service) SetTitleIfDerived(ctx context.Context, uid, title string) (bool, error) {
	title = cutToCells(secret.Clean(oneLine(stripControls(title))), titleCells)
	if title == "" {
		return false, nil
	}
	src := titleModel
	x, err := s.st.UpdateSession(ctx, uid, store.Patch{Title: &title, TitleSrc: &src, UnlessUserTitle: true})
	if err != nil || x.TitleSrc != titleModel {
		return false, err
	}
	s.publish(uid, event.SessionChanged{Info: s.infoOf(x)})
	return true, nil
}

// Archive hides a session from lists, or shows it again.
func (s *Service) Archive(ctx context.Context, uid string, on bool) error {
	return s.updateSession(ctx, uid, store.Patch{Archived: &on})
}

// Pin keeps a session at the top of lists.
func (s *Service) Pin(ctx context.Context, uid string, on bool) error {
	return s.updateSession(ctx, uid, store.Patch{Pinned: &on})
}

// SetModel notes which provider and model a session uses from now on.
func (s *Service) SetModel(ctx context.Context, uid, provider, model string) error {
	return s.updateSession(ctx, uid, store.Patch{Provider: &provider, Model: &model})
}

// SetPlace notes the working directory and project of a session.
func (s *Service) SetPlace(ctx context.Context, uid, cwd, project string) error {
	return s.updateSession(ctx, uid, store.Patch{Cwd: &cwd, Project: &project})
}

func (s *Service) updateSession(ctx context.Context, uid string, p store.Patch) error {
	x, err := s.st.UpdateSession(ctx, uid, p)
	if err == nil {
		s.publish(uid, event.SessionChanged{Info: s.infoOf(x)})
	}
	return err
}

// Delete removes a session for good. Its forks stay. A session in which another process works is
// refused.
func (s *Service) Delete(ctx context.Context, uid string) error {
	release, _, err := s.st.Lease(ctx, uid)
	if err != nil {
		return err
	}
	defer release()
	if err := s.st.DeleteSession(ctx, uid); err != nil {
		return err
	}
	s.publish(uid, event.SessionDeleted{})
	return nil
}

// Fork copies what the model sees of a session, up to and including message atMessage (0: all),
// into a new session whose title is "name #2", and publishes SessionOpened for it.
func (s *Service) Fork(ctx context.Context, uid string, atMessage int64) (event.SessionInfo, error) {
	old, err := s.st.Session(ctx, uid)
	if err != nil {
		return event.SessionInfo{}, err
	}
	seq := 0
	if atMessage != 0 {
		m, err := s.st.Message(ctx, atMessage)
		if err != nil {
			return event.SessionInfo{}, err
		}
		if m.Session != uid {
			return event.SessionInfo{}, fmt.Errorf("fork: message %d is not in session %s but in %s", atMessage, uid, m.Session)
		}
		seq = m.Seq
	}
	x := old
	now := s.now()
	x.UID, x.Parent, x.Kind, x.Started, x.Last = newUID(now), uid, string(KindBranch), now, now
	x.Archived, x.Pinned, x.Ended, x.EndReason, x.Usage = false, false, time.Time{}, "", chat.Usage{}
	if x.Title, err = s.nextTitle(ctx, old.Title); err != nil {
		return event.SessionInfo{}, err
	}
	if err := s.st.Fork(ctx, uid, seq, x); err != nil {
		return event.SessionInfo{}, err
	}
	if err := s.closeDangling(ctx, x.UID); err != nil {
		return event.SessionInfo{}, err
	}
	config, err := s.ConfigOf(ctx, uid)
	if err == nil {
		err = s.SetConfig(ctx, x.UID, config)
	}
	if err != nil {
		return event.SessionInfo{}, err
	}
	return s.publishOpened(ctx, x.UID, event.OpeningFork)
}

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*) #(\d+)$`) })

// nextTitle returns title with the lowest number after all that are taken: "name" -> "name #2" ->
// "name #3".
func (s *Service) nextTitle(ctx context.Context, title string) (string, error) {
	if title == "" {
		return "", nil
	}
	base, top := splitNumber(title)
	rows, err := s.st.Sessions(ctx, store.ListQuery{TitleHas: base, Kinds: allKinds, Archived: true, Limit: 1000})
	if err != nil {
		return "", err
	}
	for _, x := range rows {
		if b, n := splitNumber(x.Title); b == base {
			top = max(top, n)
		}
	}
	return base + " #" + strconv.Itoa(top+1), nil
}

func splitNumber(title string) (base string, n int) {
	m := numbered().FindStringSubmatch(title)
	if m == nil {
		return title, 1
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return title, 1
	}
	return m[1], n
}

// Undo takes back the last exchanges (each a user message and all that followed it) and returns the
// oldest prompt taken back, for the composer. A compression is no exchange. When it is the newest
// in the session it is taken back as one; else what it stands for comes back as soon as an exchange
// in it is asked for. Undo publishes HistoryChanged. Files that tools changed stay as they are.
func (s *Service) Undo(ctx context.Context, uid string, exchanges int) (prompt chat.Message, err error) {
	history, err := s.History(ctx, uid)
	if err != nil {
		return prompt, err
	}
	back := 0
	for _, m := range history {
		if m.From.IsSummary() && m.ID == newestID(history) {
			if back, err = s.st.Restore(ctx, uid, m.ID); err != nil {
				return prompt, err
			}
		}
	}
	if back > 0 && exchanges == 1 {
		return prompt, s.publishUndone(ctx, uid)
	}
	if back > 0 {
		exchanges--
	}
	return s.takeBack(ctx, uid, exchanges)
}

func newestID(history []chat.Message) int64 {
	id := int64(0)
	for _, m := range history {
		id = max(id, m.ID)
	}
	return id
}

// takeBack goes back over prompts only. A summary in the way gives place to what it stands for.
func (s *Service) takeBack(ctx context.Context, uid string, exchanges int) (prompt chat.Message, err error) {
	for {
		history, err := s.History(ctx, uid)
		if err != nil {
			return prompt, err
		}
		from, summary, left := -1, int64(0), exchanges
		for i := len(history) - 1; i >= 0 && left > 0; i-- {
			if m := history[i]; m.Role == chat.RoleUser && m.From.IsSummary() {
				summary = m.ID
				break
			} else if m.Role == chat.RoleUser {
				from, left = i, left-1
			}
		}
		if summary != 0 && left > 0 {
			back, err := s.st.Restore(ctx, uid, summary)
			if err != nil {
				return prompt, err
			}
			if back > 0 {
				continue
			}
		}
		if from < 0 {
			return prompt, fmt.Errorf("session %s has nothing to take back", uid)
		}
		if err := s.st.TakeBack(ctx, uid, history[from].Seq); err != nil {
			return prompt, err
		}
		return history[from], s.publishUndone(ctx, uid)
	}
}

func (s *Service) publishUndone(ctx context.Context, uid string) error {
	s.publish(uid, event.HistoryChanged{Why: event.HistoryUndone})
	return s.publishChanged(ctx, uid) // lists show how many messages it has
}

// Compact puts summary in the place of all active messages up to and including message through, for
// the model. The replaced ones stay readable and searchable. It sets summary's ID and Seq and
// publishes HistoryChanged.
func (s *Service) Compact(ctx context.Context, uid string, through int64, summary *chat.Message) error {
	m, err := s.st.Message(ctx, through)
	if err != nil {
		return err
	}
	if m.Session != uid {
		return fmt.Errorf("compact: message %d is not in session %s but in %s", through, uid, m.Session)
	}
	if summary.At.IsZero() {
		summary.At = s.now()
	}
	if strings.TrimSpace(summary.Text) == "" {
		return errors.New("compact: the summary is empty; nothing was changed")
	}
	cleanMessage(summary)
	if err := s.st.Compact(ctx, uid, m.Seq, summary); err != nil {
		return err
	}
	s.publish(uid, event.HistoryChanged{Why: event.HistoryCompressed})
	return nil
}
