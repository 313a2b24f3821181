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

	// Filters, because groups would be sorted with their texts.
	volumeOfTexts = `SELECT count(*) FILTER (WHERE NOT result), COALESCE(sum(bytes) FILTER (WHERE NOT result),0), COALESCE(sum(runes) FILTER (WHERE NOT result),0),
 count(*) FILTER (WHERE result), COALESCE(sum(bytes) FILTER (WHERE result),0), COALESCE(sum(runes) FILTER (WHERE result),0) FROM (
 SELECT m.role='tool' result, octet_length(m.content)+octet_length(m.reasoning) bytes, length(m.content)+length(m.reasoning) runes
 FROM messages m WHERE ` + ofSession + " AND " + isPlain + ")"

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
	said, calls, results := &v.Said, &v.Calls, &v.Results
	if err := s.read.QueryRowContext(ctx, volumeOfTexts, uid).
		Scan(&said.Texts, &said.Bytes, &said.Runes, &results.Texts, &results.Bytes, &results.Runes); err != nil {
		return v, err
	}
	if err := s.read.QueryRowContext(ctx, volumeOfCalls, uid).Scan(&calls.Texts, &calls.Bytes, &calls.Runes); err != nil {
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
