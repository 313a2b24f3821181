package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"hermes/core/atomicfile"
)

// blobs keeps contents by their SHA-256, each in a file of its own.
type blobs struct {
	dir   string
	added *atomic.Int64 // bytes since the last sweep
	enc   func() (*zstd.Encoder, error)
	dec   func() (*zstd.Decoder, error)
}

// maxBlob bounds what one content may unpack to: a file is bounded by Options.FileSize, a list of
// files by its number of files.
const maxBlob = 1 << 30

func newBlobs(dir string) blobs {
	return blobs{
		dir: dir, added: &atomic.Int64{},
		enc: sync.OnceValues(func() (*zstd.Encoder, error) {
			return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		}),
		dec: sync.OnceValues(func() (*zstd.Decoder, error) {
			return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlob))
		}),
	}
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (b blobs) blobPath(hash string) string { return filepath.Join(b.dir, hash[:2], hash[2:]) }

// hasBlob reports whether a content is kept. An empty file is none: it is what a power cut leaves
// of one.
func (b blobs) hasBlob(hash string) bool {
	if len(hash) != 2*sha256.Size {
		return false
	}
	info, err := os.Stat(b.blobPath(hash))
	return err == nil && info.Size() > 0
}

// readBlob returns a content, checked.
func (b blobs) readBlob(hash string) ([]byte, error) {
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size {
		return nil, errors.New("its content was not kept")
	}
	packed, err := os.ReadFile(b.blobPath(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("its content (%.12s) is not in the store any more", hash)
	}
	if err != nil {
		return nil, err
	}
	dec, err := b.dec()
	if err != nil {
		return nil, err
	}
	data, err := dec.DecodeAll(packed, nil)
	if err != nil || hashOf(data) != hash {
		return nil, fmt.Errorf("its content (%.12s) is damaged in the store", hash)
	}
	return data, nil
}

// batch writes contents that become valid together: each is in a temporary file until commit.
type batch struct {
	b    blobs
	temp map[string]string // temporary file by hash
	then []func() error    // run when all is safe
}

func (b blobs) newBatch() *batch { return &batch{b: b, temp: map[string]string{}} }

// addBlob adds a content and returns its hash.
func (t *batch) addBlob(data []byte) (string, error) {
	hash := hashOf(data)
	if _, there := t.temp[hash]; there || t.b.hasBlob(hash) {
		return hash, nil
	}
	enc, err := t.b.enc()
	if err != nil {
		return "", err
	}
	packed := enc.EncodeAll(data, nil)
	if err := os.MkdirAll(filepath.Dir(t.b.blobPath(hash)), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(t.b.dir, atomicfile.TempPrefix+"*")
	if err != nil {
		return "", err
	}
	t.temp[hash] = f.Name()
	_, err = f.Write(packed)
	t.b.added.Add(int64(len(packed)))
	return hash, errors.Join(err, f.Close())
}

// manySync is the number of files from which on the whole file system is synced at once.
const manySync = 64

// commit makes the contents safe and valid.
func (t *batch) commit() error {
	if len(t.temp) > 0 {
		if err := t.publishFiles(); err != nil {
			return err
		}
	}
	for _, then := range t.then {
		if err := then(); err != nil {
			return err
		}
	}
	t.then = nil
	return nil
}

func (t *batch) publishFiles() error {
	if err := t.syncFiles(); err != nil {
		return err
	}
	dirs := map[string]bool{t.b.dir: true}
	for hash, temp := range t.temp {
		if err := os.Rename(temp, t.b.blobPath(hash)); err != nil {
			return err
		}
		dirs[filepath.Dir(t.b.blobPath(hash))] = true
		delete(t.temp, hash)
	}
	if len(dirs) > manySync {
		return syncAll(t.b.dir)
	}
	for dir := range dirs {
		if err := atomicfile.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

func (t *batch) syncFiles() error {
	if len(t.temp) > manySync {
		return syncAll(t.b.dir)
	}
	for _, temp := range t.temp {
		if err := atomicfile.SyncDir(temp); err != nil {
			return err
		}
	}
	return nil
}

// dropUncommitted removes what was not committed.
func (t *batch) dropUncommitted() {
	for _, temp := range t.temp {
		_ = os.Remove(temp)
	}
	clear(t.temp)
}

// isBinary reports whether a content is no text to be compared by lines.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8192)], 0) >= 0 }
