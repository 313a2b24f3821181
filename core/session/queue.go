package session

import (
	"context"
	"encoding/json"
	"fmt"

	"hermes/core/chat"
	"hermes/core/event"
)

const queueKey = "queue"

// SaveQueue keeps waiting input over a restart.
func (s *Service) SaveQueue(ctx context.Context, uid string, q []event.QueuedInput) error {
	if len(q) == 0 {
		return s.st.SetMeta(ctx, uid, queueKey, "")
	}
	data, err := json.Marshal(cleanQueue(q))
	if err != nil {
		return fmt.Errorf("save the queue of session %s: %w", uid, err)
	}
	return s.st.SetMeta(ctx, uid, queueKey, string(data))
}

// LoadQueue returns what SaveQueue kept.
func (s *Service) LoadQueue(ctx context.Context, uid string) ([]event.QueuedInput, error) {
	text, err := s.Meta(ctx, uid, queueKey)
	if err != nil || text == "" {
		return nil, err
	}
	var stored []struct {
		event.QueuedInput
		Old []chat.Part `json:"attachments"` // Parts, in queues of the first versions
	}
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return nil, fmt.Errorf("load the queue of session %s: %w", uid, err)
	}
	q := make([]event.QueuedInput, len(stored))
	for i, x := range stored {
		q[i] = x.QueuedInput
		q[i].Parts = append(q[i].Parts, x.Old...)
	}
	return q, nil
}
