package store

import (
	"context"
	"database/sql"
	"errors"

	"hermes/core/chat"
	"hermes/core/rows"
)

const (
	ofSession = "m.session_id=(SELECT id FROM sessions WHERE uid=?) AND m.active=1"

	// isPlain holds for a message that is its columns: without parts, an author, or a text that was
	// moved aside.
	isPlain = `m.blob_id IS NULL AND instr(m.extra,'"parts"')=0 AND instr(m.extra,'"attachments"')=0 AND instr(m.extra,'"from"')=0
 AND NOT (m.role='user' AND m.content LIKE '` + firstSummaries + `%')`

	volumeOfTexts = `SELECT m.role='tool', count(*), sum(octet_length(m.content)+octet_length(m.reasoning)), sum(length(m.content)+length(m.reasoning))
 FROM messages m WHERE ` + ofSession + " AND " + isPlain + " GROUP BY 1"

	volumeOfCalls = `SELECT count(*), COALESCE(sum(octet_length(c)),0), COALESCE(sum(length(c)),0) FROM (
 SELECT (j.value->>'name')||COALESCE(j.value->>'args','')||COALESCE(j.value->>'invalid','') c
 FROM messages m, json_each(CASE WHEN json_valid(m.tool_calls) THEN m.tool_calls ELSE '[]' END) j
 WHERE j.type='object' AND ` + ofSession + " AND m.tool_calls<>'' AND " + isPlain + ")"

	newestUsage = `SELECT (m.extra->>'$.usage.input')+COALESCE(m.extra->>'$.usage.output',0) FROM messages m
 WHERE ` + ofSession + ` AND m.role='assistant' AND CASE WHEN json_valid(m.extra) THEN m.extra->>'$.usage.input' END > 0
 ORDER BY m.seq DESC LIMIT 1`
)

// Volume sums up the messages of a session that the model sees. Those of which a sum over columns
// would not be true go to each, whole, and are not in the sums.
func (s *Store) Volume(ctx context.Context, uid string, each func(*chat.Message)) (v chat.Volume, err error) {
	defer s.watchDamage(&err)
	if err := s.sumTexts(ctx, uid, &v); err != nil {
		return v, err
	}
	c := &v.Calls
	if err := s.read.QueryRowContext(ctx, volumeOfCalls, uid).Scan(&c.Texts, &c.Bytes, &c.Runes); err != nil {
		return v, err
	}
	err = s.read.QueryRowContext(ctx, newestUsage, uid).Scan(&v.Counted)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return v, err
	}
	answer := rows.Ask(ctx, s.read, "SELECT "+messageColumns+withWhole+messageFrom+
		"WHERE "+ofSession+" AND NOT ("+isPlain+") ORDER BY m.seq", uid)
	return v, answer.Each(func(r rows.Scanner) error {
		m, err := scanMessage(r)
		if err == nil {
			each(&m.Message)
		}
		return err
	})
}

func (s *Store) sumTexts(ctx context.Context, uid string, v *chat.Volume) error {
	return rows.Ask(ctx, s.read, volumeOfTexts, uid).Each(func(r rows.Scanner) error {
		var isResult bool
		var x chat.Extent
		if err := r.Scan(&isResult, &x.Texts, &x.Bytes, &x.Runes); err != nil {
			return err
		}
		if isResult {
			v.Results = x
		} else {
			v.Said = x
		}
		return nil
	})
}
