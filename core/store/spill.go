package store

import (
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

	"golang.org/x/sys/unix"
)

// reserveSize is room for what is said and done from the moment the disk is full until a person
// notices.
const reserveSize = 256 << 10

// SpilledError says that the database could not take a message, and that it is safe in a file
// beside it. It goes into the database as soon as that can be written again, at the latest when the
// store is opened next.
type SpilledError struct {
	Path  string
	Cause error
}

func (e *SpilledError) Error() string {
	return fmt.Sprintf("store: the database cannot be written (%v); the message is kept in %s and goes in later%s", e.Cause, e.Path, errorHint(e.Cause))
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

func reserveFile(database string) string { return database + ".reserve" }

// openSpill reads what an earlier process left. A torn last line was never acknowledged and is
// dropped.
func openSpill(database string) (*spillFile, error) {
	f := &spillFile{path: database + ".spill.jsonl", reserve: reserveFile(database)}
	if !fileExists(f.reserve) {
		_ = os.WriteFile(f.reserve, make([]byte, reserveSize), 0o600) // best effort: the disk may be full now
	}
	var err error
	if f.waiting, err = f.readRecords(); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return f, err
}

// readRecords returns the records in the file, without a torn last line.
func (f *spillFile) readRecords() ([]record, error) {
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	var out []record
	for line := range bytes.Lines(data) {
		var r record
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &r) == nil && r.ID != "" {
			out = append(out, r)
		}
	}
	return out, nil
}

func (f *spillFile) keepRecords(records []record) error {
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
	err := f.appendSynced(buf.Bytes())
	if errors.Is(err, syscall.ENOSPC) && os.Remove(f.reserve) == nil {
		err = f.appendSynced(buf.Bytes())
	}
	if err != nil {
		return err
	}
	f.waiting = append(f.waiting, records...)
	return nil
}

// withLock runs do on the file, which must exist unless flags make it, while no other process adds
// to it or takes it away.
func (f *spillFile) withLock(flags int, do func(*os.File) error) error {
	for {
		file, err := os.OpenFile(f.path, flags, 0o600)
		if err != nil {
			return err
		}
		_ = unix.Flock(int(file.Fd()), unix.LOCK_EX) // where there are no locks, only one process at a time is safe
		mine, err := file.Stat()
		now, gone := os.Stat(f.path)
		still := err == nil && gone == nil && os.SameFile(mine, now)
		if still {
			err = do(file)
		}
		if err = errors.Join(err, file.Close()); err != nil || still {
			return err
		}
	}
}

// appendSynced adds data to the file and syncs it, whole or not at all: a half line must not hide
// what comes after it.
func (f *spillFile) appendSynced(data []byte) error {
	return f.withLock(os.O_CREATE|os.O_WRONLY|os.O_APPEND, func(file *os.File) error {
		before, err := file.Stat()
		if err != nil {
			return err
		}
		if _, err = file.Write(data); err == nil {
			err = file.Sync()
		}
		if err != nil {
			err = errors.Join(err, file.Truncate(before.Size()))
		}
		return err
	})
}

// settleReplayed takes the file away when all that it holds was replayed. A record that can never
// go in (its session was deleted) stays in a file beside it. What another process added meanwhile
// waits for the next replay.
func (f *spillFile) settleReplayed(refused bool, stamp string) error {
	handled := make(map[string]bool, len(f.waiting))
	for _, r := range f.waiting {
		handled[r.ID] = true
	}
	f.waiting = nil
	return f.withLock(os.O_RDWR, func(*os.File) error {
		all, err := f.readRecords()
		if err != nil {
			return err
		}
		for _, r := range all {
			if !handled[r.ID] {
				f.waiting = all // whatever of it went in already is skipped by its ID
				return nil
			}
		}
		if refused {
			return os.Rename(f.path, f.path+".refused-"+stamp)
		}
		return os.Remove(f.path)
	})
}

// replaySpilled puts what waits into the database, in one transaction.
func (s *Store) replaySpilled() error {
	if len(s.spill.waiting) == 0 {
		return nil
	}
	ctx := context.Background()
	if err := beginImmediate(ctx, s.conn); err != nil {
		return err
	}
	t := &tx{ctx: ctx, conn: s.conn, now: s.now().UnixMilli()}
	var err error
	done := 0
	for _, r := range s.spill.waiting {
		var fatal, answer error
		if answer, fatal = t.attemptNested(func(t *tx) error { return t.replayRecord(r) }); fatal != nil {
			err = fatal
			break
		}
		if answer == nil {
			done++
		}
	}
	if err == nil {
		err = s.commitTx(t)
	}
	if err != nil {
		_, _ = s.conn.ExecContext(ctx, "ROLLBACK")
		return err
	}
	s.replayed.Add(int64(done))
	// A file that cannot be taken away is read again at the next start, and skipped by its IDs.
	_ = s.spill.settleReplayed(done < len(s.spill.waiting), timeStamp(s.now()))
	return nil
}

// replayRecord applies one record unless a crash between commit and removal of the file left it
// behind.
func (t *tx) replayRecord(r record) error {
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
		_, err = t.appendMessage(r.UID, r.Append.Unpack(), r.Derived)
	case r.Seal != nil:
		err = t.sealMessage(r.Seal.Unpack())
	}
	return err
}
