package store

import (
	"context"
	"os"
	"time"

	"hermes/core/chat"
	"hermes/core/rows"
)

// Stats counts what the store holds.
type Stats struct {
	Sessions, Archived  int
	Messages, ToolCalls int // active ones
	Usage               chat.Usage
	Bytes               int64          // of the database file and its log
	BySource, ByModel   map[string]int // sessions
	Oldest, Newest      time.Time
}

// Stats counts.
func (s *Store) Stats(ctx context.Context) (st Stats, err error) {
	defer s.watchDamage(&err)
	var oldest, newest int64
	u := &st.Usage
	err = s.read.QueryRowContext(ctx, `SELECT count(*), COALESCE(sum(archived),0), COALESCE(sum(msg_count),0), COALESCE(sum(tool_count),0),
 COALESCE(sum(in_tok),0), COALESCE(sum(out_tok),0), COALESCE(sum(cache_tok),0), COALESCE(sum(reason_tok),0), COALESCE(sum(cost_micro),0),
 COALESCE(min(cost_known OR in_tok+out_tok=0),0), COALESCE(min(started_ms),0), COALESCE(max(last_ms),0) FROM sessions WHERE hidden=0`).
		Scan(&st.Sessions, &st.Archived, &st.Messages, &st.ToolCalls, &u.Input, &u.Output, &u.Cached, &u.Reasoning, &u.Cost,
			&u.CostKnown, &oldest, &newest)
	if err != nil {
		return st, err
	}
	st.Oldest, st.Newest = fromMS(oldest), fromMS(newest)
	if st.BySource, err = s.countBy(ctx, "source"); err != nil {
		return st, err
	}
	if st.ByModel, err = s.countBy(ctx, "model"); err != nil {
		return st, err
	}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(s.path + suffix); err == nil {
			st.Bytes += info.Size()
		}
	}
	return st, nil
}

// countBy counts sessions by a column, whose name is ours and not a user's.
func (s *Store) countBy(ctx context.Context, column string) (map[string]int, error) {
	answer := rows.Ask(ctx, s.read, "SELECT "+column+", count(*) FROM sessions WHERE hidden=0 GROUP BY 1")
	return rows.Map[string, int](answer)
}
