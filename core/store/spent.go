package store

import (
	"context"
	"fmt"
	"time"

	"hermes/core/chat"
	"hermes/core/rows"
)

// Spent is what one model call used.
type Spent struct {
	Prompt          int64 // id of the message that began the turn; 0: the newest turn's
	Provider, Model string
	Purpose         string // "" the conversation itself, else what it was for: "compression", "vision"
	Usage           chat.Usage
}

// CountUsage writes down what a model call of a session used, and adds it to the session's sums.
func (s *Store) CountUsage(ctx context.Context, uid string, m Spent) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		x, err := sessionBy(t.ctx, t.conn, "s.uid=?", uid)
		if err != nil {
			return err
		}
		if m.Prompt == 0 { // the newest turn's
			if err := t.row("SELECT COALESCE(max(id),0) FROM messages WHERE session_id=? AND role='user'", x.ID).Scan(&m.Prompt); err != nil {
				return err
			}
		}
		u, sum := m.Usage, x.Usage.Add(m.Usage)
		if _, err = t.exec("UPDATE sessions SET in_tok=?, out_tok=?, cache_tok=?, reason_tok=?, cost_micro=?, cost_known=? WHERE id=?",
			sum.Input, sum.Output, sum.Cached, sum.Reasoning, sum.Cost, sum.CostKnown, x.ID); err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO spent(session_id,prompt_id,at_ms,provider,model,purpose,in_tok,out_tok,cache_tok,write_tok,reason_tok,cost_micro,cost_known)
 VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			x.ID, m.Prompt, t.now, m.Provider, m.Model, m.Purpose, u.Input, u.Output, u.Cached, u.Written, u.Reasoning, u.Cost, u.CostKnown)
		return err
	})
}

// UsageBy says by what usage is summed up.
type UsageBy string

// What usage can be summed up by.
const (
	UsageTotal   UsageBy = "total"
	UsageDay     UsageBy = "day" // of this machine's clock
	UsageModel   UsageBy = "model"
	UsageSession UsageBy = "session"
	UsageTurn    UsageBy = "turn"
	UsagePurpose UsageBy = "purpose"
)

// UsageFilter chooses model calls. Zero fields choose all.
type UsageFilter struct {
	Session string // uid
	Since   time.Time
	Limit   int // newest rows; 0: all
}

// UsageRow is the sum of some model calls. Key is a day (2026-11-22), provider/model, a session's
// uid ("" for deleted ones), the id of a turn's prompt or a purpose; Name is a session's title or
// the beginning of a prompt.
type UsageRow struct {
	Key      string     `json:"key"`
	Name     string     `json:"name,omitempty"`
	Calls    int        `json:"calls"`
	Unpriced int        `json:"unpriced_calls"` // calls whose cost nobody knows
	Usage    chat.Usage `json:"usage"`          // Cost is the sum of what is known
	Last     time.Time  `json:"last"`
}

// usageKeys are the expressions for key and name.
var usageKeys = map[UsageBy][2]string{
	UsageTotal:   {"''", "''"},
	UsageDay:     {"date(p.at_ms/1000,'unixepoch','localtime')", "''"},
	UsageModel:   {"p.provider||'/'||p.model", "''"},
	UsageSession: {"COALESCE(s.uid,'')", "COALESCE(s.title,'')"},
	UsageTurn:    {"CAST(p.prompt_id AS TEXT)", "COALESCE((SELECT substr(m.content,1,200) FROM messages m WHERE m.id=p.prompt_id),'')"},
	UsagePurpose: {"p.purpose", "''"},
}

// UsageBy sums up what model calls used, what was used last first.
func (s *Store) UsageBy(ctx context.Context, by UsageBy, f UsageFilter) (out []UsageRow, err error) {
	defer s.watchDamage(&err)
	key, ok := usageKeys[by]
	if !ok {
		return nil, fmt.Errorf("usage cannot be summed up by %q", by)
	}
	if f.Limit <= 0 {
		f.Limit = All
	}
	answer := rows.Ask(ctx, s.read, `SELECT `+key[0]+` k, `+key[1]+`, count(*), sum(p.cost_known=0), sum(p.in_tok), sum(p.out_tok),
 sum(p.cache_tok), sum(p.write_tok), sum(p.reason_tok), sum(p.cost_micro), min(p.cost_known), max(p.at_ms) last
 FROM spent p LEFT JOIN sessions s ON s.id=p.session_id
 WHERE (?1='' OR s.uid=?1) AND p.at_ms>=?2 GROUP BY k ORDER BY last DESC LIMIT ?3`, f.Session, toMS(f.Since), f.Limit)
	return rows.Collect(answer, func(from rows.Scanner) (r UsageRow, err error) {
		var last int64
		u := &r.Usage
		err = from.Scan(&r.Key, &r.Name, &r.Calls, &r.Unpriced, &u.Input, &u.Output, &u.Cached, &u.Written, &u.Reasoning, &u.Cost, &u.CostKnown, &last)
		r.Last = fromMS(last)
		return r, err
	})
}
