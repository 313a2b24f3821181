package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/testskip"
)

// chunksOf draws a stream in pieces.
func chunksOf(t *rapid.T) [][]byte {
	return rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 60)).Draw(t, "chunks")
}

func TestCaptureKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(5, 100).Draw(t, "limit")
		c := newCapture(limit)
		var all []byte
		for _, b := range chunksOf(t) {
			c.keepBytes(b)
			all = append(all, b...)
		}
		want := all
		if len(all) > limit {
			head := limit * 2 / 5
			want = append(bytes.Clone(all[:head]), all[len(all)-(limit-head):]...)
		}
		if got := c.keptBytes(); !bytes.Equal(got, want) || c.total != int64(len(all)) {
			t.Fatalf("limit %d, %d bytes: got %q, want %q", limit, len(all), got, want)
		}
	})
}

func TestRingReadsByOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 50).Draw(t, "size")
		r := newRing(size)
		var all []byte
		for _, b := range chunksOf(t) {
			r.keepBytes(b)
			all = append(all, b...)
		}
		offset := rapid.IntRange(-120, 120).Draw(t, "offset")
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		data, start, end := r.read(int64(offset), limit)
		from := offset
		if offset < 0 {
			from += len(all)
		}
		from = min(max(from, 0, len(all)-size), len(all))
		want := all[from:]
		if limit > 0 {
			want = want[:min(limit, len(want))]
		}
		if start != int64(from) || end != int64(len(all)) || !bytes.Equal(data, want) {
			t.Fatalf("read(%d, %d) of %d in a ring of %d: %q from %d to %d, want %q from %d", offset, limit, len(all), size, data, start, end, want, from)
		}
		if cap(r.buf) > 4*size+200 {
			t.Fatalf("a ring of %d holds %d", size, cap(r.buf))
		}
	})
}

func TestSpillIsWholeAndPrivate(t *testing.T) {
	dir := t.TempDir()
	r := newRunner(t)
	s := script(t, "i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done")
	s.MaxOutput, s.SpillDir = 100, filepath.Join(dir, "new")
	res := mustRun(t, r, s)
	data, err := os.ReadFile(res.Spill)
	if err != nil || int64(len(data)) != res.Total || !strings.HasPrefix(string(data), "line 0\nline 1\n") {
		t.Errorf("spilled %d of %d bytes: %v", len(data), res.Total, err)
	}
	s.MaxOutput = 100_000
	if res := mustRun(t, r, s); res.Spill != "" {
		t.Errorf("output that fits was spilled to %s", res.Spill)
	}
}

func TestSpillFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	s := newSpill(dir, "tag")
	if err := os.Symlink(victim, s.path); err != nil {
		t.Fatal(err)
	}
	s.write([]byte("x"))
	path, warnings := s.close(nil)
	if path != "" || len(warnings) != 1 {
		t.Errorf("path %q, warnings %q", path, warnings)
	}
	if _, err := os.Lstat(victim); !os.IsNotExist(err) {
		t.Errorf("the link was followed: %v", err)
	}
}

func TestSpillHasACap(t *testing.T) {
	s := newSpill(t.TempDir(), "tag")
	s.size = maxSpill - 3
	s.write([]byte("12345"))
	s.write([]byte("6"))
	path, warnings := s.close(nil)
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "123" || len(warnings) != 1 || !s.isCut() {
		t.Errorf("%q, %v, warnings %q, cut: %v", data, err, warnings, s.isCut())
	}
}

// A file to which the disk gave no room for all of it is not called whole.
func TestSpillOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		testskip.Missing(t, err)
	}
	s := newSpill(t.TempDir(), "tag")
	s.file = full
	s.write([]byte("12345"))
	if _, warnings := s.close(nil); len(warnings) != 1 || !s.isCut() {
		t.Errorf("warnings %q, cut: %v", warnings, s.isCut())
	}
}

// A stuck Sink loses what waits, is told how much, and is not called again once the call has
// returned.
func TestFeedWithAStuckSink(t *testing.T) {
	entered, free := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var got []string
	f := newFeed(func(_ Stream, data []byte) {
		mu.Lock()
		got = append(got, string(data[:1]))
		mu.Unlock()
		entered <- struct{}{}
		<-free
	})
	f.queueData(Stdout, []byte("first"))
	<-entered
	for range 40 {
		f.queueData(Stdout, make([]byte, chunkSize))
	}
	if f.size > feedMax {
		t.Errorf("%d bytes wait", f.size)
	}
	f.close(time.Millisecond)
	free <- struct{}{}
	<-f.done
	if len(got) != 1 {
		t.Errorf("%d calls of the sink, want 1: the call had returned", len(got))
	}
}
