-- Version 2. Which session refers to which content of parts: files named by their sha256 in the folder blobs beside the database.
CREATE TABLE content_refs(
  session_id INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  hash       TEXT NOT NULL,
  PRIMARY KEY(session_id, hash)
) WITHOUT ROWID;
CREATE INDEX content_refs_hash ON content_refs(hash);
