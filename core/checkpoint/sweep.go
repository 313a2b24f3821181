package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/atomicfile"
)

const (
	sweepEvery = 10 * time.Minute
	// abandoned is how old a temporary file is before it is taken for one of a process that was
	// killed.
	abandoned = time.Hour
)

// Swept is what a sweep did.
type Swept struct {
	Records, Contents int   // removed
	Size              int64 // bytes that are left
}

// sweepSometimes sweeps when the last time is long ago. Errors are logged: a sweep is nobody's
// business.
func (s *Store) sweepSometimes() {
	s.mu.Lock()
	due := time.Since(s.swept) > sweepEvery || s.blobs.added.Load() > s.o.TotalSize/16
	if due {
		s.swept = time.Now()
		s.blobs.added.Store(0)
	}
	s.mu.Unlock()
	if !due {
		return
	}
	if _, err := s.Sweep(); err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		s.o.Log.Warn("old checkpoints could not be removed", "err", err)
	}
}

// Sweep removes records beyond the bounds, and contents that no record needs. It does not wait for
// others that use the store.
func (s *Store) Sweep() (Swept, error) {
	release, err := s.lockStore(unix.LOCK_EX | unix.LOCK_NB)
	if err != nil {
		return Swept{}, err
	}
	defer release()
	var out Swept
	records, err := s.loadRecords()
	if err != nil {
		return out, err
	}
	records, old := s.tooOld(records)
	for _, r := range old {
		err = errors.Join(err, s.removeRecord(r.ID))
		out.Records++
	}
	err = errors.Join(err, s.fitIntoLimit(records, &out))
	s.sweepTemps()
	return out, err
}

// tooOld splits off the records beyond the bounds of age and number. What runs stays.
func (s *Store) tooOld(all []*Record) (kept, old []*Record) {
	count := map[string]int{}
	for _, r := range slices.Backward(all) {
		count[r.Session]++
		aged := time.Since(r.Began) > s.o.Age || count[r.Session] > s.o.Snapshots
		if aged && !s.isRunning(r.ID) {
			old = append(old, r)
		} else {
			kept = append(kept, r)
		}
	}
	slices.Reverse(kept)
	return kept, old
}

func (s *Store) isRunning(id string) bool {
	if s.openTurnOf(id) != nil {
		return true
	}
	f, err := os.Open(filepath.Join(s.o.Dir, "running", id))
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

// fitIntoLimit removes contents that nobody needs, then the oldest records and the lists of work
// trees until the rest fits.
func (s *Store) fitIntoLimit(records []*Record, out *Swept) error {
	sizes, err := s.blobs.blobSizes()
	if err != nil {
		return err
	}
	indexes := s.treeIndexes()
	for {
		needed := s.neededBlobs(records, indexes)
		var total int64
		for hash, size := range sizes {
			if needed[hash] {
				total += size
			}
		}
		if total > s.o.TotalSize {
			if n := slices.IndexFunc(records, func(r *Record) bool { return !s.isRunning(r.ID) }); n >= 0 {
				err = errors.Join(err, s.removeRecord(records[n].ID))
				records = slices.Delete(records, n, n+1)
				out.Records++
				continue
			}
			if len(indexes) > 0 {
				err = errors.Join(err, os.Remove(indexes[0].file))
				indexes = indexes[1:]
				continue
			}
		}
		for hash := range sizes {
			if !needed[hash] {
				err = errors.Join(err, os.Remove(s.blobs.blobPath(hash)))
				out.Contents++
			}
		}
		out.Size = total
		return err
	}
}

// neededBlobs are the contents that records and lists of work trees refer to.
func (s *Store) neededBlobs(records []*Record, indexes []keptIndex) map[string]bool {
	out := map[string]bool{}
	for _, r := range records {
		for _, f := range r.Files {
			out[f.Before.Hash] = true
			if f.After != nil {
				out[f.After.Hash] = true
			}
		}
		for _, t := range r.Trees {
			out[t.Manifest] = true
			var m manifest
			if data, err := s.blobs.readBlob(t.Manifest); err == nil && json.Unmarshal(data, &m) == nil {
				for _, e := range m.Entries {
					out[e.State.Hash] = true
				}
			}
		}
	}
	for _, x := range indexes {
		for _, hash := range x.hashes {
			out[hash] = true
		}
	}
	return out
}

type keptIndex struct {
	file   string
	at     time.Time
	hashes []string
}

// treeIndexes are the lists of work trees, the oldest first. Those that cannot be read, or were not
// used for as long as a record is kept, are removed.
func (s *Store) treeIndexes() []keptIndex {
	files, _ := filepath.Glob(filepath.Join(s.o.Dir, "trees", "*"))
	var out []keptIndex
	for _, file := range files {
		x, err := s.readIndex(file)
		if err != nil || time.Since(x.At) > s.o.Age {
			_ = os.Remove(file)
			continue
		}
		k := keptIndex{file: file, at: x.At}
		for _, e := range x.List {
			k.hashes = append(k.hashes, e.Hash)
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b keptIndex) int { return a.at.Compare(b.at) })
	return out
}

// blobSizes lists the contents in the store.
func (b blobs) blobSizes() (map[string]int64, error) {
	out := map[string]int64{}
	dirs, err := os.ReadDir(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	for _, d := range dirs {
		if !d.IsDir() || len(d.Name()) != 2 {
			continue
		}
		files, rerr := os.ReadDir(filepath.Join(b.dir, d.Name()))
		err = errors.Join(err, rerr)
		for _, f := range files {
			if info, ierr := f.Info(); ierr == nil {
				out[d.Name()+f.Name()] = info.Size()
			}
		}
	}
	return out, err
}

// sweepTemps removes what killed processes left half written.
func (s *Store) sweepTemps() {
	for _, dir := range []string{s.blobs.dir, filepath.Join(s.o.Dir, "records"), filepath.Join(s.o.Dir, "trees")} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), atomicfile.TempPrefix) && time.Since(info.ModTime()) > abandoned {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	entries, _ := os.ReadDir(filepath.Join(s.o.Dir, "running"))
	for _, e := range entries {
		if !s.isRunning(e.Name()) {
			_ = os.Remove(filepath.Join(s.o.Dir, "running", e.Name()))
		}
	}
}
