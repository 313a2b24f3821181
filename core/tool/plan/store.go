package plan

import (
	"context"
	"encoding/json"
	"fmt"

	"hermes/core/event"
)

// Meta is where a session's small values are kept; session.Service is one.
type Meta interface {
	Meta(ctx context.Context, session, key string) (string, error)
	SetMeta(ctx context.Context, session, key, value string) error
}

// metaKey names the list among a session's values.
const metaKey = "todo"

// InMeta keeps lists among the values of their sessions, as JSON.
func InMeta(m Meta) Store { return inMeta{m} }

type inMeta struct{ meta Meta }

func (s inMeta) Load(ctx context.Context, session string) ([]event.TodoItem, error) {
	raw, err := s.meta.Meta(ctx, session, metaKey)
	if err != nil || raw == "" {
		return nil, err
	}
	var items []event.TodoItem
	if err := json.Unmarshal([]byte(raw), &items); err != nil {
		return nil, fmt.Errorf("the kept list is damaged: %w", err)
	}
	return items, nil
}

func (s inMeta) Save(ctx context.Context, session string, items []event.TodoItem) error {
	if len(items) == 0 {
		return s.meta.SetMeta(ctx, session, metaKey, "")
	}
	raw, err := json.Marshal(items)
	if err != nil {
		return err
	}
	return s.meta.SetMeta(ctx, session, metaKey, string(raw))
}
