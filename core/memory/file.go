package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"hermes/core/realpath"
)

// maxFile bounds what is read: a larger file is no memory, whatever made it.
const maxFile = 1 << 20

// lockTime is how long a write waits for another program's.
const lockTime = 10 * time.Second

// openFolder opens the folder of the files and holds it. Its path may lead over links; what is done
// in it then follows none.
func (s *Store) openFolder(create bool) (*realpath.Dir, error) {
	path, err := realpath.Resolve(s.dir)
	if err != nil {
		return nil, fmt.Errorf("the memory folder %s: %w", s.dir, err)
	}
	if !create {
		return realpath.OpenDir(path)
	}
	d, err := realpath.MakeDir(path, 0o700, nil)
	if err != nil {
		return nil, fmt.Errorf("the memory folder %s cannot be made or opened: %w", s.dir, err)
	}
	return d, nil
}

// readTarget returns the bytes of a target's file, checked; nil when it is not there.
func (s *Store) readTarget(t Target) ([]byte, error) {
	d, err := s.openFolder(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.unusableFile(t, err)
	}
	defer d.Close()
	return s.readIn(d, t)
}

func (s *Store) readIn(d *realpath.Dir, t Target) ([]byte, error) {
	raw, err := readFile(d, t.File())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, realpath.ErrMoved):
		return nil, s.unusableFile(t, errors.New("it is a link; memory is kept in a file of its own: put the file in its place (the folder may be a link)"))
	case err != nil:
		return nil, s.unusableFile(t, err)
	case len(raw) > maxFile:
		return nil, s.unusableFile(t, fmt.Errorf("it is larger than %d KiB, which is no memory; move it away, or shorten it", maxFile>>10))
	case !utf8.Valid(raw):
		return nil, s.unusableFile(t, notText(raw))
	}
	return raw, nil
}

func (s *Store) unusableFile(t Target, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrUnusable, s.Path(t), err)
}

// notText says where a file stops being text.
func notText(raw []byte) error {
	line, at := 1, 0
	for at < len(raw) {
		r, size := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		at += size
	}
	return fmt.Errorf("line %d is not UTF-8 text (byte %d of the file is 0x%02x); save it as UTF-8 with \"hermes memory edit\"", line, at, raw[at])
}

func readFile(d *realpath.Dir, name string) ([]byte, error) {
	f, err := d.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// withLock runs f while no other program writes the target.
func (s *Store) withLock(t Target, f func(d *realpath.Dir) error) error {
	d, err := s.openFolder(true)
	if err != nil {
		return err
	}
	defer d.Close()
	lock, err := d.Open(t.File()+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("memory cannot be locked: %w", err)
	}
	defer lock.Close() // lets it go
	for end := time.Now().Add(lockTime); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f(d)
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("memory cannot be locked: %w", err)
		}
		if time.Now().After(end) {
			return fmt.Errorf("another program has held the lock of %s for %s; nothing was written", t.File(), lockTime)
		}
	}
}

// replaceFile makes data the file of a name, in one step. Only who holds the lock may call it.
func replaceFile(d *realpath.Dir, name string, data []byte) error {
	tmp := "." + name + ".tmp" // what a crash left of it is written over
	if err := d.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.Open(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = d.Rename(tmp, name)
	}
	if err != nil {
		_ = d.Remove(tmp)
		return fmt.Errorf("memory was not written, the file is as it was: %w", err)
	}
	return d.Sync()
}

// Apply does the operations, all or none. A *Refusal says why none was done.
func (s *Store) Apply(t Target, ops []Op, by string, rules Rules) (Change, error) {
	var c Change
	err := s.withLock(t, func(d *realpath.Dir) error {
		raw, err := s.readIn(d, t)
		if err != nil {
			return err
		}
		if c, err = s.planChange(t, raw, ops, rules); err != nil || c.Nothing() {
			return err
		}
		return s.writeChange(d, &c, by)
	})
	return c, err
}

// writeChange keeps the old version, then puts the new one in its place.
func (s *Store) writeChange(d *realpath.Dir, c *Change, by string) error {
	if err := addVersion(d, c.Target, newVersion(by, c.Before.raw, c.After.raw)); err != nil {
		return err
	}
	return replaceFile(d, c.Target.File(), c.After.raw)
}

// Write makes data the whole file, if it still is what the caller has seen. A person does that with
// an editor.
func (s *Store) Write(t Target, seen, data []byte, by string, rules Rules) (Change, error) {
	if !utf8.Valid(data) {
		return Change{}, s.unusableFile(t, notText(data))
	}
	if len(data) > maxFile {
		return Change{}, s.unusableFile(t, fmt.Errorf("it is larger than %d KiB", maxFile>>10))
	}
	c := Change{Target: t, Before: s.newDocument(t, seen), After: s.newDocument(t, data)}
	c.compareEntries()
	if err := c.checkRules(rules); err != nil {
		return c, err
	}
	err := s.withLock(t, func(d *realpath.Dir) error {
		now, err := readFile(d, t.File())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s.unusableFile(t, err)
		}
		if !bytes.Equal(now, seen) {
			return newRefusal(Stale, "%s was changed meanwhile by somebody else", t.File())
		}
		if c.Nothing() {
			return nil
		}
		return s.writeChange(d, &c, by)
	})
	return c, err
}

// Raw is the file as it is, whatever is in it; nil when it is not there. It is for editors.
func (s *Store) Raw(t Target) ([]byte, error) {
	d, err := s.openFolder(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	raw, err := readFile(d, t.File())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s is larger than %d KiB: open it with an editor yourself", filepath.Base(s.Path(t)), maxFile>>10)
	}
	return raw, err
}

// Ensure makes the folder, and the target's file when it is not there: an editor is to find both.
func (s *Store) Ensure(t Target) error {
	d, err := s.openFolder(true)
	if err != nil {
		return err
	}
	defer d.Close()
	f, err := d.Open(t.File(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return s.unusableFile(t, err)
	}
	return f.Close()
}

// Made makes the folder and returns its path without links, to be watched.
func (s *Store) Made() (string, error) {
	d, err := s.openFolder(true)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return d.Path(), nil
}
