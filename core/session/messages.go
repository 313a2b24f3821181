package session

import (
	"context"
	"fmt"
	"slices"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/secret"
	"hermes/core/store"
)

// Page selects messages by position; set at most one of the first three. The zero value is the
// newest page.
type Page struct {
	BeforeSeq int
	AfterSeq  int
	AroundID  int64 // half a page before it, it, and the rest after it
	Limit     int   // 0 means 50
}

// Messages returns one page in order of Seq. more says that there are further messages beyond the
// page's far end: older ones, or with AfterSeq newer ones. Messages that a summary replaced are
// included, those taken back by Undo are not.
func (s *Service) Messages(ctx context.Context, uid string, p Page) (msgs []chat.Message, more bool, err error) {
	limit := orDefault(p.Limit, 50)
	if p.AroundID != 0 {
		return s.messagesAround(ctx, uid, p.AroundID, limit)
	}
	found, more, err := s.st.Messages(ctx, uid, store.MessageQuery{BeforeSeq: p.BeforeSeq, AfterSeq: p.AfterSeq, Limit: limit})
	if err != nil {
		return nil, false, fmt.Errorf("messages of session %s: %w", uid, err)
	}
	return messagesOf(found), more, nil
}

func (s *Service) messagesAround(ctx context.Context, uid string, id int64, limit int) ([]chat.Message, bool, error) {
	m, err := s.st.Message(ctx, id)
	if err != nil {
		return nil, false, err
	}
	if m.Session != uid {
		return nil, false, fmt.Errorf("message %d is not in session %s but in %s", id, uid, m.Session)
	}
	before, more, err := s.st.Messages(ctx, uid, store.MessageQuery{BeforeSeq: m.Seq + 1, Limit: limit/2 + 1})
	if err != nil {
		return nil, false, err
	}
	after, _, err := s.st.Messages(ctx, uid, store.MessageQuery{AfterSeq: m.Seq, Limit: max(1, limit-len(before))})
	return messagesOf(append(before, after...)), more, err
}

// History returns the active messages, which are what the model sees, oldest first.
func (s *Service) History(ctx context.Context, uid string) ([]chat.Message, error) {
	found, _, err := s.st.Messages(ctx, uid, store.MessageQuery{ActiveOnly: true, Limit: store.All})
	if err != nil {
		return nil, fmt.Errorf("history of session %s: %w", uid, err)
	}
	return messagesOf(found), nil
}

// Volume sums up what History returns, without reading it. Messages that it cannot sum up go to
// each.
func (s *Service) Volume(ctx context.Context, uid string, each func(*chat.Message)) (chat.Volume, error) {
	v, err := s.st.Volume(ctx, uid, func(m *chat.Message) {
		cleanMessage(m)
		each(m)
	})
	if err != nil {
		return v, fmt.Errorf("history of session %s: %w", uid, err)
	}
	return v, nil
}

func messagesOf(in []store.StoredMessage) []chat.Message {
	out := make([]chat.Message, len(in))
	for i := range in {
		out[i] = in[i].Message
		cleanMessage(&out[i])
	}
	return out
}

// Append persists m at the end of a session and sets its ID, Session, Seq and, when zero, At (to
// milliseconds). The first user message gives the session its preview and, unless it has one, its
// title.
func (s *Service) Append(ctx context.Context, uid string, m *chat.Message) error {
	if m.Status == "" {
		m.Status = chat.StatusFinal
	}
	cleanMessage(m)
	var d store.Derived
	if m.Role == chat.RoleUser {
		d = store.Derived{Title: promptTitle(m), Preview: promptPreview(m)}
	}
	titled, err := s.st.Append(ctx, uid, m, d)
	if err != nil {
		return err
	}
	if titled {
		return s.publishChanged(ctx, uid)
	}
	return nil
}

// publishChanged publishes a session's row as it is now.
func (s *Service) publishChanged(ctx context.Context, uid string) error {
	info, err := s.Get(ctx, uid)
	if err == nil {
		s.publish(uid, event.SessionChanged{Info: info})
	}
	return err
}

// UpdatePartial replaces the text of a streaming message. Call it at most twice a second or every 4
// KB.
func (s *Service) UpdatePartial(ctx context.Context, id int64, text, reasoning string) error {
	return s.st.UpdatePartial(ctx, id, secret.Clean(text), secret.Clean(reasoning))
}

// Seal writes the final state of a streamed message, found by m.ID; search knows it from now on.
func (s *Service) Seal(ctx context.Context, m *chat.Message) error {
	if m.Status == "" || m.Status == chat.StatusPartial {
		m.Status = chat.StatusFinal
	}
	cleanMessage(m)
	return s.st.Seal(ctx, m)
}

// Discard removes a message that a retry replaces.
func (s *Service) Discard(ctx context.Context, id int64) error { return s.st.Discard(ctx, id) }

const interrupted = "The program ended before this call finished. Its effect is unknown; check before you repeat it."

// closeDangling ends what a killed program left open: a streaming message becomes a cancelled one,
// and every tool call without a result gets one that says so, because providers refuse a history
// with an unanswered call.
func (s *Service) closeDangling(ctx context.Context, uid string) error {
	tail, err := s.lastTurn(ctx, uid)
	if err != nil {
		return err
	}
	var open []chat.ToolCall
	for i := range tail {
		m := &tail[i]
		if m.Status == chat.StatusPartial {
			m.Status, m.Finish = chat.StatusCancelled, chat.FinishInterrupted
			if err := s.st.Seal(ctx, m); err != nil {
				return err
			}
		}
		open = append(open, m.Calls...)
		if m.Result == nil {
			continue
		}
		// One only: some models use an id again.
		if i := slices.IndexFunc(open, func(c chat.ToolCall) bool { return c.ID == m.Result.CallID }); i >= 0 {
			open = slices.Delete(open, i, i+1)
		}
	}
	for _, c := range open {
		result := chat.ToolResult{CallID: c.ID, Name: c.Name, Text: interrupted, IsError: true, Interrupted: true}
		if err := s.Append(ctx, uid, &chat.Message{Role: chat.RoleTool, Status: chat.StatusFinal, Result: &result}); err != nil {
			return err
		}
	}
	return nil
}

const turnMax = 500 // messages: a longer turn is searched no further back

// lastTurn returns the active messages from the last user message on: only there can something be
// open. It goes back page by page, so that opening a session does not depend on the session's
// length.
func (s *Service) lastTurn(ctx context.Context, uid string) ([]chat.Message, error) {
	var turn []chat.Message
	before := 0
	for len(turn) < turnMax {
		page, more, err := s.st.Messages(ctx, uid, store.MessageQuery{ActiveOnly: true, BeforeSeq: before, Limit: 20})
		if err != nil || len(page) == 0 {
			return turn, err
		}
		for i := len(page) - 1; i >= 0; i-- {
			if page[i].Role == chat.RoleUser {
				return append(messagesOf(page[i:]), turn...), nil
			}
		}
		turn = append(messagesOf(page), turn...)
		if !more {
			break
		}
		before = page[0].Seq
	}
	return turn, nil
}
