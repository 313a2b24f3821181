-- Version 1. The canonical rows are the truth; fts_talk and fts_tool are derived and can be dropped at any time.
CREATE TABLE meta(
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
CREATE TABLE sessions(
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  uid        TEXT NOT NULL UNIQUE,
  parent_id  INTEGER REFERENCES sessions(id) ON DELETE SET NULL,
  kind       TEXT NOT NULL DEFAULT 'user',
  source     TEXT NOT NULL DEFAULT '',
  title      TEXT NOT NULL DEFAULT '',
  title_src  TEXT NOT NULL DEFAULT '',   -- '' | derived | model | user
  model      TEXT NOT NULL DEFAULT '',
  provider   TEXT NOT NULL DEFAULT '',
  cwd        TEXT NOT NULL DEFAULT '',
  repo_root  TEXT NOT NULL DEFAULT '',
  started_ms INTEGER NOT NULL,
  last_ms    INTEGER NOT NULL,
  ended_ms   INTEGER NOT NULL DEFAULT 0,
  end_reason TEXT NOT NULL DEFAULT '',
  last_seq   INTEGER NOT NULL DEFAULT 0,
  msg_count  INTEGER NOT NULL DEFAULT 0, -- active rows
  tool_count INTEGER NOT NULL DEFAULT 0, -- active rows of role tool
  in_tok     INTEGER NOT NULL DEFAULT 0,
  out_tok    INTEGER NOT NULL DEFAULT 0,
  cache_tok  INTEGER NOT NULL DEFAULT 0,
  reason_tok INTEGER NOT NULL DEFAULT 0,
  cost_micro INTEGER NOT NULL DEFAULT 0,
  cost_known INTEGER NOT NULL DEFAULT 0,
  preview    TEXT NOT NULL DEFAULT '',
  prompt_id  INTEGER REFERENCES prompts(id),
  archived   INTEGER NOT NULL DEFAULT 0,
  pinned     INTEGER NOT NULL DEFAULT 0,
  hidden     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sessions_recent ON sessions(pinned DESC, last_ms DESC, id DESC)
  WHERE archived=0 AND hidden=0 AND kind IN ('user','branch');
CREATE INDEX sessions_parent ON sessions(parent_id);
CREATE INDEX sessions_project ON sessions(repo_root, last_ms DESC);

CREATE TABLE session_meta(
  id         INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  key        TEXT NOT NULL,
  value      TEXT NOT NULL,
  UNIQUE(session_id, key)
);
CREATE TABLE prompts(
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  text TEXT NOT NULL
);
CREATE TABLE blobs(
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE, -- sha256 of the text
  gzip BLOB NOT NULL
);
CREATE TABLE messages(
  id             INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: it is the recency over all sessions
  session_id     INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  seq            INTEGER NOT NULL,
  ts_ms          INTEGER NOT NULL,
  role           TEXT NOT NULL,
  status         TEXT NOT NULL,
  content        TEXT NOT NULL DEFAULT '',
  reasoning      TEXT NOT NULL DEFAULT '',
  tool_calls     TEXT NOT NULL DEFAULT '',
  tool_call_id   TEXT NOT NULL DEFAULT '',
  tool_name      TEXT NOT NULL DEFAULT '',
  backend        TEXT NOT NULL DEFAULT '',
  finish         TEXT NOT NULL DEFAULT '',
  tokens         INTEGER NOT NULL DEFAULT 0,
  model          TEXT NOT NULL DEFAULT '',
  extra          TEXT NOT NULL DEFAULT '', -- JSON of what has no column
  blob_id        INTEGER REFERENCES blobs(id), -- the whole content when it was cut
  active         INTEGER NOT NULL DEFAULT 1,
  compacted_into INTEGER, -- with active=0: replaced by that summary, still searchable; NULL: taken back by undo
  UNIQUE(session_id, seq)
);
CREATE INDEX messages_blob ON messages(blob_id) WHERE blob_id IS NOT NULL;
CREATE TABLE attempts(
  id          INTEGER PRIMARY KEY,
  message_id  INTEGER NOT NULL REFERENCES messages(id) ON DELETE CASCADE,
  n           INTEGER NOT NULL,
  provider    TEXT NOT NULL DEFAULT '',
  model       TEXT NOT NULL DEFAULT '',
  error_class TEXT NOT NULL DEFAULT '',
  http        INTEGER NOT NULL DEFAULT 0,
  started_ms  INTEGER NOT NULL,
  ms          INTEGER NOT NULL DEFAULT 0,
  bytes       INTEGER NOT NULL DEFAULT 0,
  UNIQUE(message_id, n)
);
