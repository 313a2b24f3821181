package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// reserveSize is room for what is said and done from the moment the disk is full until a person notices.
const reserveSize = 256 << 10

// SpilledError says that the database could not take a message, and that it is safe in a file beside it.
// It goes into the database as soon as that can be written again, at the latest when the store is opened next.
type SpilledError struct {
	Path  string
	Cause error
}

func (e *SpilledError) Error() string {
	return fmt.Sprintf("store: the database cannot be written (%v); the message is kept in %s and goes in later%s", e.Cause, e.Path, hint(e.Cause))
}

func (e *SpilledError) Unwrap() error { return e.Cause }

// record is one line of the spill file. ID makes replaying it twice harmless.
type record struct {
	ID      string   `json:"id"`
	Session *Session `json:"session,omitempty"` // create
	UID     string   `json:"uid,omitempty"`     // append to this session
	Append  *Packed  `json:"append,omitempty"`
	Derived Derived  `json:"derived,omitzero"`
	Seal    *Packed  `json:"seal,omitempty"`
}

// spillFile holds what the database refused: lines of JSON, each synced before it counts.
// Only the writer goroutine uses it, and Open before that starts.
type spillFile struct {
	path    string
	reserve string // a file that is given up for room on a full disk
	waiting []record
}

// openSpill reads what an earlier process left. A torn last line was never acknowledged and is dropped.
func openSpill(database string) (*spillFile, error) {
	path := database + ".spill.jsonl"
	f := &spillFile{path: path, reserve: database + ".reserve"}
	if !exists(f.reserve) {
		_ = os.WriteFile(f.reserve, make([]byte, reserveSize), 0o600) // best effort: the disk may be full now
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return f, nil //nolint:nilerr // the end, or a torn line
		}
		var r record
		if json.Unmarshal(line, &r) == nil && r.ID != "" {
			f.waiting = append(f.waiting, r)
		}
	}
}

func (f *spillFile) keep(records []record) error {
	var buf bytes.Buffer
	for i := range records {
		records[i].ID = rand.Text()
		line, err := json.Marshal(records[i])
		if err != nil {
			return err
		}
		buf.Write(append(line, '\n'))
		var kept record // a copy: the caller goes on using its message
		if err := json.Unmarshal(line, &kept); err != nil {
			return err
		}
		records[i] = kept
	}
	err := appendSynced(f.path, buf.Bytes())
	if errors.Is(err, syscall.ENOSPC) && os.Remove(f.reserve) == nil {
		err = appendSynced(f.path, buf.Bytes())
	}
	if err != nil {
		return err
	}
	f.waiting = append(f.waiting, records...)
	return nil
}

// appendSynced appends data to the file at path, whole or not at all.
func appendSynced(path string, data []byte) error {
	for {
		out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		still, err := appendTo(out, path, data)
		if err = errors.Join(err, out.Close()); err != nil || still {
			return err
		}
	}
}

// appendTo reports false when another process took the file away meanwhile: it replayed what was in it before.
func appendTo(out *os.File, path string, data []byte) (still bool, err error) {
	before, err := out.Stat()
	if err != nil {
		return false, err
	}
	if _, err = out.Write(data); err == nil {
		err = out.Sync()
	}
	if err != nil { // a half line must not hide what comes after it
		return false, errors.Join(err, out.Truncate(before.Size()))
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(before, now), nil
}

// replaySpilled puts what waits into the database, in one transaction.
func (s *Store) replaySpilled() error {
	if len(s.spill.waiting) == 0 {
		return nil
	}
	ctx := context.Background()
	if err := begin(ctx, s.conn); err != nil {
		return err
	}
	t := &tx{ctx: ctx, conn: s.conn, now: s.now().UnixMilli()}
	var err error
	done := 0
	for _, r := range s.spill.waiting {
		var fatal, answer error
		if answer, fatal = t.attempt(func(t *tx) error { return t.replay(r) }); fatal != nil {
			err = fatal
			break
		}
		if answer == nil {
			done++
		}
	}
	if err == nil {
		_, err = s.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, _ = s.conn.ExecContext(ctx, "ROLLBACK")
		return err
	}
	return s.spillDone(done)
}

// spillDone forgets the file. A record that can never go in (its session was deleted) stays in a file beside it.
func (s *Store) spillDone(done int) error {
	s.replayed.Add(int64(done))
	if done < len(s.spill.waiting) {
		if err := os.Rename(s.spill.path, s.spill.path+".refused-"+stamp(s.now())); err != nil {
			return err
		}
	} else if err := os.Remove(s.spill.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.spill.waiting = nil
	return nil
}

// replay applies one record unless a crash between commit and removal of the file left it behind.
func (t *tx) replay(r record) error {
	n, err := t.exec("INSERT OR IGNORE INTO meta(key,value) VALUES('spill:'||?, ?)", r.ID, t.now)
	if err != nil || n == 0 {
		return err
	}
	switch {
	case r.Session != nil:
		_, err = t.createSession(*r.Session)
		if err != nil && strings.Contains(err.Error(), "UNIQUE") {
			err = nil
		}
	case r.Append != nil:
		_, err = t.append(r.UID, r.Append.Unpack(), r.Derived)
	case r.Seal != nil:
		err = t.seal(r.Seal.Unpack())
	}
	return err
}
