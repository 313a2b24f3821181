package session

import (
	"context"
	"time"

	"hermes/core/store"
)

// Stats counts what the store holds.
type Stats = store.Stats

// Stats counts sessions, messages, tokens and bytes.
func (s *Service) Stats(ctx context.Context) (Stats, error) { return s.st.Stats(ctx) }

// CheckReport is the outcome of Check. Problems is empty when all is well.
type CheckReport struct {
	Problems []string
	Messages int
	Took     time.Duration
}

// Check examines the database, the counters and the search index. A damaged index is rebuilt in the
// background, a damaged file when it is opened next.
func (s *Service) Check(ctx context.Context) (CheckReport, error) {
	start := time.Now()
	problems, err := s.st.Check(ctx)
	if err != nil {
		return CheckReport{}, err
	}
	st, err := s.st.Stats(ctx)
	if err != nil && len(problems) > 0 { // which say why
		err = nil
	}
	return CheckReport{Problems: problems, Messages: st.Messages, Took: time.Since(start)}, err
}
