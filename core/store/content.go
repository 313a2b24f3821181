package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/core/atomicfile"
	"hermes/core/chat"
	"hermes/core/rows"
)

// Contents of parts are files, each once, named by its sha256, in a folder beside the database. A
// session refers to a content before its file exists, and a file is there before a message names
// it; what no session refers to is removed. Both the reference and the removal are write
// transactions, so that no process removes what another one is about to use.

// MaxContent bounds one content, in bytes.
const MaxContent = 16 << 20

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// isHash keeps a damaged or hostile name from being a path.
func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// ContentPath is the file of a content, "" when hash is no name of one.
func (s *Store) ContentPath(hash string) string {
	if !isHash(hash) {
		return ""
	}
	return filepath.Join(s.contents, hash[:2], hash[2:])
}

// KeepContent stores a content of a part for session uid and returns its name. It is on the disk
// then.
func (s *Store) KeepContent(ctx context.Context, uid string, data []byte) (hash string, err error) {
	if len(data) == 0 || len(data) > MaxContent {
		return "", fmt.Errorf("it has %d bytes; 1 to %d MB can be kept", len(data), MaxContent>>20)
	}
	hash = hashOf(data)
	err = s.runInWriter(ctx, nil, func(t *tx) error {
		id, err := t.sessionID(uid)
		if err != nil {
			return err
		}
		return t.referToContent(id, hash)
	})
	if err == nil {
		err = s.writeContent(hash, data)
	}
	return hash, err
}

func (t *tx) referToContent(session int64, hash string) error {
	_, err := t.exec("INSERT OR IGNORE INTO content_refs(session_id,hash) VALUES(?,?)", session, hash)
	return err
}

// writeContent makes the file of a content unless it is there and whole.
func (s *Store) writeContent(hash string, data []byte) error {
	path := s.ContentPath(hash)
	if _, err := s.Content(hash); err == nil {
		return nil
	}
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return err
	}
	return atomicfile.SyncDir(s.contents)
}

// Content returns a content, checked. Its error is for people.
func (s *Store) Content(hash string) ([]byte, error) {
	path := s.ContentPath(hash)
	if path == "" {
		return nil, errors.New("its content was not kept")
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxContent {
		return nil, errors.New("its content is not in the store any more")
	}
	data, err := os.ReadFile(path)
	if err != nil || hashOf(data) != hash {
		return nil, errors.New("its content is damaged in the store")
	}
	return data, nil
}

// FindContent completes the beginning of the name of a content that session uid refers to.
func (s *Store) FindContent(ctx context.Context, uid, prefix string) (hash string, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT hash FROM content_refs
 WHERE session_id=(SELECT id FROM sessions WHERE uid=?1) AND substr(hash,1,length(?2))=?2`, uid, prefix).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("content %s %w in session %s", prefix, ErrNotFound, uid)
	}
	return hash, err
}

// contentsOf returns the names of the contents that a session refers to.
func (t *tx) contentsOf(session int64) ([]string, error) {
	answer := rows.Ask(t.ctx, t.conn, "SELECT hash FROM content_refs WHERE session_id=?", session)
	hashes, err := rows.Column[string](answer)
	return append([]string{}, hashes...), err // not nil, which means all
}

// sweepContents removes the files that no session refers to: those of hashes, or all such files
// when hashes is nil.
func (s *Store) sweepContents(ctx context.Context, hashes []string) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		if hashes == nil {
			hashes = s.listContents(t.now)
		}
		for _, hash := range hashes {
			var used bool
			if err := t.row("SELECT EXISTS(SELECT 1 FROM content_refs WHERE hash=?)", hash).Scan(&used); err != nil {
				return err
			}
			if path := s.ContentPath(hash); !used && path != "" {
				if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
					return err
				}
			}
		}
		return nil
	})
}

// listContents returns the names of all files. Temporary ones that a crash left an hour ago are
// removed.
func (s *Store) listContents(now int64) []string {
	var out []string
	files, _ := filepath.Glob(filepath.Join(s.contents, "??", "*"))                      // fails for a bad pattern only
	left, _ := filepath.Glob(filepath.Join(s.contents, "??", atomicfile.TempPrefix+"*")) // the same
	for _, f := range append(files, left...) {
		name := filepath.Base(f)
		info, err := os.Lstat(f)
		if strings.HasPrefix(name, atomicfile.TempPrefix) && err == nil && now-info.ModTime().UnixMilli() > time.Hour.Milliseconds() {
			_ = os.Remove(f) // the next sweep tries again
		}
		out = append(out, filepath.Base(filepath.Dir(f))+name)
	}
	return out
}

// makeSound drops from the parts of m, which may come from a damaged database or a hostile file,
// what cannot be.
func makeSound(m *chat.Message) {
	m.EachPart(func(p *chat.Part) {
		if !isHash(p.Blob) {
			p.Blob = ""
		}
		p.Size, p.Width, p.Height = max(0, p.Size), max(0, p.Width), max(0, p.Height)
	})
}
