package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hermes/core/atomicfile"
	"hermes/core/quarantine"
)

// An update never leaves a person without their plugin: the old folder is kept in hubFolder until
// the new one is in its place, written down and enabled. What a crash left there is put back the
// next time somebody looks.

func (l *Library) keptFolder() string { return filepath.Join(l.Folder(), hubFolder, "replaced") }

func (l *Library) swapLock() string { return filepath.Join(l.Folder(), hubFolder, "swap.lock") }

// beforeStep is called before each step of a swap, by its name. Tests make it fail.
func (l *Library) beforeStep(name string) error {
	if l.before == nil {
		return nil
	}
	return l.before(name)
}

// swapIn puts what r looked at into its place and enables it. When that fails everything is as it
// was before. The caller holds the lock, so nothing here may list plugins.
func (l *Library) swapIn(r Report, entry quarantine.Installed) (err error) {
	to, kept := filepath.Join(l.Folder(), r.Name), filepath.Join(l.keptFolder(), r.Name)
	if err := os.MkdirAll(l.keptFolder(), 0o700); err != nil {
		return err
	}
	written, err := quarantine.List(l.LockPath())
	if err != nil {
		return err
	}
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; err != nil && i >= 0; i-- {
			if back := undo[i](); back != nil {
				err = errors.Join(err, fmt.Errorf("and it could not be put back: %w", back))
				return
			}
		}
	}()
	rename := func(name, from, to string) error {
		if err := l.beforeStep(name); err != nil {
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return err
		}
		undo = append(undo, func() error { return os.Rename(to, from) })
		return nil
	}
	_, there := os.Lstat(to)
	if there == nil {
		if err := rename("keep", to, kept); err != nil {
			return err
		}
	}
	if err := rename("place", r.Folder, to); err != nil {
		return err
	}
	if err := errors.Join(l.beforeStep("record"), atomicfile.SyncDir(l.Folder())); err != nil {
		return err
	}
	if err := quarantine.Record(l.LockPath(), r.Name, entry); err != nil {
		return err
	}
	undo = append(undo, func() error {
		if before, ok := written[r.Name]; ok {
			return quarantine.Record(l.LockPath(), r.Name, before)
		}
		return quarantine.Drop(l.LockPath(), r.Name)
	})
	if err := l.beforeStep("enable"); err != nil {
		return err
	}
	if err := l.book.Answer(to, r.Hash, true); err != nil {
		return err
	}
	undo = nil
	return errors.Join(l.beforeStep("forget"), os.RemoveAll(kept))
}

// restoreKept puts back what a crash in an update left away from its place.
func (l *Library) restoreKept() error {
	list, err := os.ReadDir(l.keptFolder())
	if err != nil || len(list) == 0 {
		return nil //nolint:nilerr // there is no such folder: nothing was ever replaced
	}
	unlock, err := atomicfile.Lock(l.swapLock()) // an update that goes on now is waited for
	if err != nil {
		return err
	}
	defer unlock()
	var errs []error
	for _, e := range list {
		errs = append(errs, l.restoreFolder(e.Name()))
	}
	return errors.Join(errs...)
}

// restoreFolder puts a kept folder back, or removes it where the new one is in place.
func (l *Library) restoreFolder(name string) error {
	kept, to := filepath.Join(l.keptFolder(), name), filepath.Join(l.Folder(), name)
	if _, err := os.Lstat(kept); err != nil {
		return nil //nolint:nilerr // nothing is kept
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.RemoveAll(kept))
	}
	return os.Rename(kept, to)
}
