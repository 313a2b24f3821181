package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"time"

	"hermes/core/rows"
)

// Cleanup says what CleanUp removes.
type Cleanup struct {
	MaxAge   time.Duration // older items go
	KeepUsed bool          // but those that were used within MaxAge
	DryRun   bool          // only say what would go
}

// CleanUp removes items that are too old or expired, never pinned ones. They are written to a file
// of JSON lines beside the store first; its path is exported, "" when nothing went.
func (s *Store) CleanUp(ctx context.Context, c Cleanup) (gone []Item, exported string, err error) {
	before := unixMillis(s.now().Add(-c.MaxAge))
	if c.MaxAge <= 0 {
		before = 0
	}
	used := int64(0)
	if !c.KeepUsed {
		used = unixMillis(s.now()) + 1
	} else {
		used = before
	}
	answer := rows.Ask(ctx, s.db, "SELECT "+columns+` FROM items WHERE namespace=? AND replaced_by IS NULL AND pinned=0
 AND (expires_ms>0 AND expires_ms<=? OR created_ms<? AND used_ms<?) ORDER BY id`, s.namespace, unixMillis(s.now()), before, max(used, 1))
	if gone, err = rows.Collect(answer, scanItem); err != nil || c.DryRun || len(gone) == 0 {
		return gone, "", err
	}
	if exported, err = s.exportGone(gone); err != nil {
		return nil, "", fmt.Errorf("nothing was removed, because it could not be exported first: %w", err)
	}
	ids := make([]int64, len(gone))
	for i, it := range gone {
		ids[i] = it.ID
	}
	_, err = s.Forget(ctx, ids...)
	return gone, exported, err
}

func (s *Store) exportGone(gone []Item) (path string, err error) {
	stamp := s.now().UTC().Format("20060102T150405")
	f, err := os.CreateTemp(filepath.Dir(s.path), "expired-"+stamp+"-*.jsonl")
	if err != nil {
		return "", err
	}
	err = WriteLines(f, gone)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), err
}

// Line is an item as files of JSON lines have it.
type Line struct {
	Key      string         `json:"key"`
	Value    string         `json:"value"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// WriteLines writes items as Lines; their time of creation goes into the metadata.
func WriteLines(w io.Writer, all []Item) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, it := range all {
		meta := map[string]any{}
		maps.Copy(meta, it.Metadata)
		meta[timestampKey] = it.Created.UTC().Format(time.RFC3339)
		if err := enc.Encode(Line{Key: it.Key, Value: it.Value, Metadata: meta}); err != nil {
			return err
		}
	}
	return nil
}
