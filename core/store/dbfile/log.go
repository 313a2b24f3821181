package dbfile

import (
	"encoding/binary"
	"maps"
	"os"
)

const (
	logHeader   = 32
	frameHeader = 24
)

// readLog finds the pages in the write-ahead log. SQLite stops at the first frame whose checksum is
// wrong; what was committed behind it by the same writer is kept apart: it is newer than the file.
func (f *File) readLog(sized bool) {
	header := make([]byte, logHeader)
	if !readAt(f.wal, header, 0) {
		return
	}
	n := binary.BigEndian.Uint32(header[8:])
	if n > 65536 || n < 512 || n&(n-1) != 0 {
		return
	}
	if !sized {
		f.size = int(n)
	} else if int(n) != f.size {
		return // of another database
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if binary.BigEndian.Uint32(header)&1 == 1 {
		order = binary.BigEndian
	}
	sum := checksum(order, [2]uint32{}, header[:24])
	whole := sum == [2]uint32{binary.BigEndian.Uint32(header[24:]), binary.BigEndian.Uint32(header[28:])}
	salts := [8]byte(header[16:24])
	open := map[uint32]int64{} // not committed yet
	frame := make([]byte, frameHeader+f.size)
	for at := int64(logHeader); readAt(f.wal, frame, at); at += int64(len(frame)) {
		number, commit := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:])
		if [8]byte(frame[8:16]) != salts || number == 0 {
			f.stale = append(f.stale, at+frameHeader)
			if whole {
				whole = false
				clear(open)
			}
			continue
		}
		if whole {
			sum = checksum(order, checksum(order, sum, frame[:8]), frame[frameHeader:])
			if whole = sum == [2]uint32{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])}; !whole {
				f.torn = append(f.torn, at+frameHeader)
				continue
			}
		}
		if !whole {
			f.behind = append(f.behind, at+frameHeader)
			f.broken = f.broken || commit > 0
			continue
		}
		if open[number] = at + frameHeader; commit > 0 {
			maps.Copy(f.logged, open)
			clear(open)
		}
	}
	for _, at := range open {
		f.behind = append(f.behind, at) // its commit may be what is broken
	}
}

// LogBroken reports whether the log beside a database holds something committed behind a break,
// which SQLite would leave out without a word.
func LogBroken(path string) bool {
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() == 0 {
		return false
	}
	f := &File{logged: map[uint32]int64{}}
	if f.wal, err = openPlain(path + "-wal"); err != nil {
		return false
	}
	defer f.wal.Close()
	f.readLog(false)
	return f.broken
}

// checksum goes on with the log's checksum over data, eight bytes at a time.
func checksum(order binary.ByteOrder, sum [2]uint32, data []byte) [2]uint32 {
	for ; len(data) >= 8; data = data[8:] {
		sum[0] += order.Uint32(data) + sum[1]
		sum[1] += order.Uint32(data[4:]) + sum[0]
	}
	return sum
}
