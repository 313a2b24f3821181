package recall

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"fmt"

	"hermes/core/rows"
)

//go:embed schema.sql
var schema string

const schemaVersion = 2

// version2 makes every change of the vectors heard: whoever has them in memory reads what is new.
const version2 = `
CREATE INDEX vectors_model ON vectors(model);
CREATE TABLE vector_changes(n INTEGER NOT NULL);
INSERT INTO vector_changes VALUES(1);
CREATE TRIGGER vectors_added AFTER INSERT ON vectors BEGIN UPDATE vector_changes SET n=n+1; END;
CREATE TRIGGER vectors_removed AFTER DELETE ON vectors BEGIN UPDATE vector_changes SET n=n+1; END;`

// indexSchema makes the two indexes: an item's own words, and those with its neighbours' words.
const indexSchema = `
DROP TABLE IF EXISTS words;
DROP TABLE IF EXISTS around;
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, tokenize='porter unicode61');
CREATE VIRTUAL TABLE around USING fts5(text, content='', contentless_delete=1, tokenize='porter unicode61');`

func (s *Store) migrateSchema(ctx context.Context) error {
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		switch {
		case version == schemaVersion:
			return nil
		case version > schemaVersion:
			return fmt.Errorf("a newer hermes wrote this file (format %d, this program knows %d): update hermes", version, schemaVersion)
		}
		statements := version2
		if version == 0 {
			statements = schema + indexSchema + version2
		}
		if _, err := tx.ExecContext(ctx, statements); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d", schemaVersion))
		return err
	})
}

// Rebuild makes the indexes anew from the rows.
func (s *Store) Rebuild(ctx context.Context) error {
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, indexSchema); err != nil {
			return err
		}
		answer := rows.Ask(ctx, tx, "SELECT "+columns+" FROM items WHERE replaced_by IS NULL ORDER BY id")
		all, err := rows.Collect(answer, scanItem)
		if err != nil {
			return err
		}
		for _, it := range all {
			if err := indexItem(ctx, tx, it); err != nil {
				return err
			}
		}
		return nil
	})
}
