-- Version 3. What model calls used, a row each. A row outlives its session: what was paid for a deleted one was paid all the same.
CREATE TABLE spent(
  id         INTEGER PRIMARY KEY,
  session_id INTEGER REFERENCES sessions(id) ON DELETE SET NULL,
  prompt_id  INTEGER NOT NULL DEFAULT 0, -- the message that began the turn, 0 when none is known
  at_ms      INTEGER NOT NULL,
  provider   TEXT NOT NULL DEFAULT '',
  model      TEXT NOT NULL DEFAULT '',
  purpose    TEXT NOT NULL DEFAULT '',   -- '' the conversation itself, else compression, vision, ...
  in_tok     INTEGER NOT NULL DEFAULT 0,
  out_tok    INTEGER NOT NULL DEFAULT 0,
  cache_tok  INTEGER NOT NULL DEFAULT 0,
  reason_tok INTEGER NOT NULL DEFAULT 0,
  cost_micro INTEGER NOT NULL DEFAULT 0,
  cost_known INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX spent_at ON spent(at_ms);
CREATE INDEX spent_session ON spent(session_id, prompt_id);
INSERT INTO spent(session_id,prompt_id,at_ms,provider,model,in_tok,out_tok,cache_tok,reason_tok,cost_micro,cost_known)
SELECT m.session_id, COALESCE((SELECT max(p.id) FROM messages p WHERE p.session_id=m.session_id AND p.role='user' AND p.seq<m.seq),0),
  m.ts_ms, s.provider, CASE WHEN m.model='' THEN s.model ELSE m.model END,
  COALESCE(json_extract(m.extra,'$.usage.input'),0), COALESCE(json_extract(m.extra,'$.usage.output'),0),
  COALESCE(json_extract(m.extra,'$.usage.cached'),0), COALESCE(json_extract(m.extra,'$.usage.reasoning'),0),
  COALESCE(json_extract(m.extra,'$.usage.cost_micro'),0), COALESCE(json_extract(m.extra,'$.usage.cost_known'),0)
FROM messages m JOIN sessions s ON s.id=m.session_id
WHERE m.role='assistant' AND m.extra LIKE '%"usage":%' AND json_valid(m.extra);
