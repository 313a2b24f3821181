-- Version 1. The rows of items are the truth; words, around and vectors are derived.
CREATE TABLE items(
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace   TEXT NOT NULL DEFAULT '',
  key         TEXT NOT NULL,
  value       TEXT NOT NULL,
  metadata    TEXT NOT NULL DEFAULT '{}', -- JSON
  created_ms  INTEGER NOT NULL,
  used_ms     INTEGER NOT NULL DEFAULT 0,
  uses        INTEGER NOT NULL DEFAULT 0, -- sessions that used it
  origin      TEXT NOT NULL,
  session     TEXT NOT NULL DEFAULT '',   -- neighbours are the items before and after it of the same one
  message     INTEGER NOT NULL DEFAULT 0,
  tainted     INTEGER NOT NULL DEFAULT 0,
  pinned      INTEGER NOT NULL DEFAULT 0,
  replaced_by INTEGER REFERENCES items(id) ON DELETE SET NULL,
  expires_ms  INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX items_key ON items(namespace, key) WHERE replaced_by IS NULL;
CREATE INDEX items_session ON items(session, id);
CREATE TABLE uses(
  item    INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
  session TEXT NOT NULL,
  PRIMARY KEY(item, session)
) WITHOUT ROWID;
CREATE TABLE vectors(
  item   INTEGER PRIMARY KEY REFERENCES items(id) ON DELETE CASCADE,
  model  TEXT NOT NULL,  -- another model's vectors are never compared
  hash   BLOB NOT NULL,  -- sha256 of the text that was embedded
  vector BLOB NOT NULL   -- float32, little endian, of length 1
);
