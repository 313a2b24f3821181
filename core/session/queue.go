package session

import (
	"context"
	"encoding/json"
	"fmt"

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
	var q []event.QueuedInput
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		return nil, fmt.Errorf("load the queue of session %s: %w", uid, err)
	}
	return q, nil
}
