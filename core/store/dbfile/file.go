// Package dbfile reads the rows of an SQLite file without SQLite, page by page: what SQLite refuses
// as a whole after one bad page is mostly there. It follows the published file format, trusts
// nothing that it reads, and writes nothing.
package dbfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
)

const (
	magic       = "SQLite format 3\x00"
	headerSize  = 100
	defaultPage = 4096
	maxPayload  = 256 << 20 // bytes of one row; a longer one is taken for damage
)

// File is a database with its write-ahead log. It is not safe for concurrent use.
type File struct {
	db, wal *os.File
	size    int              // bytes of a page
	usable  int              // of them: all, nothing is reserved at the end of a page unless an extension asks for it
	pages   uint32           // the highest number of a page
	logged  map[uint32]int64 // where the newest committed version of a page is in the log
	behind  []int64          // pages in the log that are newer than a break in it
	torn    []int64          // the page that broke
	stale   []int64          // pages of an earlier round of the log
	broken  bool             // something was committed behind the break
	budget  int              // pages that rows may still go on in: damage can lead every row through every page
	free    map[uint32]bool
	owned   map[uint32]bool // pages whose rows were read
	bad     map[uint32]bool
}

// Open opens the database at path and the log beside it. Only that nothing can be read at all is an
// error.
func Open(path string) (*File, error) {
	f := &File{size: defaultPage, logged: map[uint32]int64{}, free: map[uint32]bool{}, owned: map[uint32]bool{}, bad: map[uint32]bool{}}
	var err, errLog error
	f.db, err = openPlain(path)
	f.wal, errLog = openPlain(path + "-wal")
	if f.db == nil && f.wal == nil {
		return nil, errors.Join(err, errLog)
	}
	header := make([]byte, headerSize)
	readAt(f.db, header, 0)
	n := pageSize(binary.BigEndian.Uint16(header[16:]))
	sound := bytes.HasPrefix(header, []byte(magic)) && n > 0
	if sound {
		f.size = f.trueSize(n, header)
	}
	f.readLog(sound)
	f.usable = f.size
	f.pages = uint32(min((fileLength(f.db)+fileLength(f.wal))/int64(f.size)+1, 1<<31)) // there are no more in either
	f.budget = 64 * (int(f.pages) + 100)
	f.readFree()
	return f, nil
}

// IsDatabase reports whether a file begins as an SQLite file does. No other connection of this
// process may be open: closing a file gives up the locks on it.
func IsDatabase(path string) bool {
	f, err := openPlain(path)
	if err != nil {
		return false
	}
	defer f.Close()
	header := make([]byte, len(magic))
	return readAt(f, header, 0) && string(header) == magic
}

// Close closes both files.
func (f *File) Close() error { return errors.Join(closeFile(f.db), closeFile(f.wal)) }

// Bad is how many pages were met that should hold rows and could not be read.
func (f *File) Bad() int { return len(f.bad) }

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

func openPlain(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a plain file")}
	}
	return os.Open(path)
}

func fileLength(f *os.File) int64 {
	if f == nil {
		return 0
	}
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// readAt fills data as far as the file goes and reports whether it went all the way.
func readAt(f *os.File, data []byte, at int64) bool {
	if f == nil {
		return false
	}
	_, err := f.ReadAt(data, at)
	return err == nil
}

// votes is how many pages are looked at to tell their size.
const votes = 400

// trueSize is the size of a page. It is what the header says, unless the number of pages in there
// tells of another one and pages of that size begin as pages do.
func (f *File) trueSize(said int, header []byte) int {
	count, length := int64(binary.BigEndian.Uint32(header[28:])), fileLength(f.db)
	if count == 0 || count*int64(said) == length || length%count != 0 {
		return said
	}
	size := length / count
	if size > 65536 || size != 65536 && int64(pageSize(uint16(size))) != size {
		return said
	}
	is, was := f.pagesOf(int(size)), f.pagesOf(said)
	if is > 2*was || int(size) < said && is > 0.75*was { // smaller pieces of true pages begin as pages at every second place at most
		return int(size)
	}
	return said
}

// pagesOf is the share of places, this far apart, where a page of a tree begins.
func (f *File) pagesOf(size int) float64 {
	found, first := 0, make([]byte, 1)
	n := min(int(fileLength(f.db)/int64(size)), votes)
	for i := 1; i < n; i++ {
		if readAt(f.db, first, int64(i)*int64(size)) && bytes.IndexByte([]byte{2, 5, 10, 13}, first[0]) >= 0 {
			found++
		}
	}
	return float64(found) / float64(max(n-1, 1))
}

// pageSize is the size that a header says, 0 when it is none.
func pageSize(n uint16) int {
	switch {
	case n == 1:
		return 65536
	case n >= 512 && n&(n-1) == 0:
		return int(n)
	default:
		return 0
	}
}

// readPage returns a page as it was last committed. What a file that was cut short does not hold is
// zero.
func (f *File) readPage(n uint32) []byte {
	data := make([]byte, f.size)
	if n == 0 {
		return data
	}
	if at, ok := f.logged[n]; ok {
		readAt(f.wal, data, at)
		return data
	}
	readAt(f.db, data, int64(n-1)*int64(f.size))
	return data
}

// readFree follows the list of pages that are in no table: what they hold was deleted.
func (f *File) readFree() {
	first := f.readPage(1)
	if !bytes.HasPrefix(first, []byte(magic)) {
		return
	}
	for trunk := binary.BigEndian.Uint32(first[32:]); trunk > 0 && trunk <= f.pages && !f.free[trunk]; {
		f.free[trunk] = true
		data := f.readPage(trunk)
		count := min(binary.BigEndian.Uint32(data[4:]), uint32(f.usable/4-2))
		for i := range count {
			f.free[binary.BigEndian.Uint32(data[8+4*i:])] = true
		}
		trunk = binary.BigEndian.Uint32(data)
	}
}
