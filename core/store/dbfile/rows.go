package dbfile

import (
	"encoding/binary"
	"math"
	"slices"
)

// Row is a row of a table: its number, and its values as they are stored: nil, int64, float64,
// string or []byte. The column that is the number itself is stored as nil.
type Row struct {
	ID     int64
	Values []any
}

const (
	indexInner, tableInner, indexLeaf, tableLeaf = 2, 5, 10, 13

	maxDepth = 40
)

// Roots returns the first page of each table and index by name, as far as the schema can be read.
func (f *File) Roots() map[string]uint32 {
	roots := map[string]uint32{}
	f.Table(1, func(r Row) bool {
		if len(r.Values) != 5 {
			return false
		}
		name, isText := r.Values[1].(string)
		root, isNumber := r.Values[3].(int64)
		if isText && isNumber && root > 1 && root <= int64(f.pages) {
			roots[name] = uint32(root)
		}
		return isText && isNumber
	})
	return roots
}

// Table visits the rows below a root page. Visit reports whether the row belongs to the table.
// Whole is false when a page could not be read or held something else: some of the table may then
// lie elsewhere, see Strays.
func (f *File) Table(root uint32, visit func(Row) bool) (whole bool) {
	return f.walkTree(root, 0, map[uint32]bool{}, visit)
}

func (f *File) walkTree(n uint32, depth int, seen map[uint32]bool, visit func(Row) bool) (whole bool) {
	if n == 0 || n > f.pages || seen[n] || depth > maxDepth {
		return false
	}
	seen[n] = true
	data := f.readPage(n)
	cells, ok := f.cellOffsets(data, n == 1)
	switch kind := data[headerAt(n == 1)]; {
	case !ok || kind == indexInner || kind == indexLeaf:
		f.bad[n] = true
		return false
	case kind == tableLeaf:
		return f.visitLeaf(n, data, cells, visit)
	}
	whole = true
	for _, at := range cells {
		whole = at+4 <= len(data) && f.walkTree(binary.BigEndian.Uint32(data[at:]), depth+1, seen, visit) && whole
	}
	return f.walkTree(binary.BigEndian.Uint32(data[headerAt(n == 1)+8:]), depth+1, seen, visit) && whole
}

// visitLeaf visits the rows of a page. A page is owned by a table once one of its rows belongs to
// that.
func (f *File) visitLeaf(n uint32, data []byte, cells []int, visit func(Row) bool) (whole bool) {
	whole = true
	for _, at := range cells {
		r, ok := f.readRow(data, at)
		if ok = ok && visit(r); ok {
			f.owned[n] = true
		} else {
			f.bad[n], whole = true, false
		}
	}
	return whole
}

// Strays visits the rows of all pages that no call of Table has read and that are not free: their
// table cannot be reached from its root. Where the list of free pages cannot be read either, rows
// that were deleted may be among them.
func (f *File) Strays(visit func(Row)) {
	for n := uint32(1); n <= f.pages; n++ {
		if !f.owned[n] && !f.free[n] {
			f.visitStrayPage(f.readPage(n), n == 1, visit)
		}
	}
}

// Behind visits the rows of pages that were written behind a break in the log, the newest first.
// They are newer than those of Table.
func (f *File) Behind(visit func(Row)) { f.visitLogPages(f.behind, visit) }

// Leftovers visits the rows of the frame of the log that broke, and, if all, of frames that were in
// the file already: they are older than those of Table, and may have been deleted.
func (f *File) Leftovers(all bool, visit func(Row)) {
	if f.visitLogPages(f.torn, visit); all {
		f.visitLogPages(f.stale, visit)
	}
}

func (f *File) visitLogPages(offsets []int64, visit func(Row)) {
	data := make([]byte, f.size)
	for _, at := range slices.Backward(offsets) {
		if readAt(f.wal, data, at) {
			f.visitStrayPage(data, false, visit)
		}
	}
}

func (f *File) visitStrayPage(data []byte, first bool, visit func(Row)) {
	cells, ok := f.cellOffsets(data, first)
	if !ok || data[headerAt(first)] != tableLeaf {
		return
	}
	for _, at := range cells {
		if r, ok := f.readRow(data, at); ok {
			visit(r)
		}
	}
}

// headerAt is where the header of a page begins: the first page has the file's before it.
func headerAt(first bool) int {
	if first {
		return headerSize
	}
	return 0
}

// cellOffsets returns where the cells of a page of a tree are; those that lie outside of the page
// are left out.
func (f *File) cellOffsets(data []byte, first bool) (cells []int, ok bool) {
	at := headerAt(first)
	kind := data[at]
	if kind != indexInner && kind != tableInner && kind != indexLeaf && kind != tableLeaf {
		return nil, false
	}
	array := at + 8
	if kind == indexInner || kind == tableInner {
		array += 4
	}
	count := int(binary.BigEndian.Uint16(data[at+3:]))
	if array+2*count > f.usable {
		return nil, false
	}
	for i := range count {
		cell := int(binary.BigEndian.Uint16(data[array+2*i:]))
		if cell < array+2*count || cell >= f.usable {
			cell = f.usable // which no row is read from
		}
		cells = append(cells, cell)
	}
	return cells, true
}

// readRow reads the cell of a leaf of a table.
func (f *File) readRow(data []byte, at int) (r Row, ok bool) {
	data = data[:f.usable]
	length, n := readVarint(data[at:])
	at += n
	if n == 0 || length < 0 || length > maxPayload || length > int64(f.pages)*int64(f.size) {
		return r, false
	}
	id, n := readVarint(data[min(at, len(data)):])
	if n == 0 {
		return r, false
	}
	payload, ok := f.readPayload(data[at+n:], int(length))
	if !ok {
		return r, false
	}
	values, ok := decodeRecord(payload)
	return Row{ID: id, Values: values}, ok
}

// readPayload puts a row together that goes on in other pages.
func (f *File) readPayload(cell []byte, length int) ([]byte, bool) {
	local := length
	if most := f.usable - 35; length > most {
		least := (f.usable-12)*32/255 - 23
		if local = least + (length-least)%(f.usable-4); local > most {
			local = least
		}
	}
	if local == length {
		return cell[:min(length, len(cell))], length <= len(cell)
	}
	if local+4 > len(cell) {
		return nil, false
	}
	out := append([]byte(nil), cell[:local]...)
	next := binary.BigEndian.Uint32(cell[local:])
	seen := map[uint32]bool{}
	for len(out) < length {
		if next == 0 || next > f.pages || f.free[next] || seen[next] || f.budget == 0 {
			return nil, false
		}
		seen[next] = true
		f.budget--
		data := f.readPage(next)
		out = append(out, data[4:min(f.usable, 4+length-len(out))]...)
		next = binary.BigEndian.Uint32(data)
	}
	return out, next == 0
}

// decodeRecord reads the values of a row. All of the payload must be used: what is damaged seldom
// adds up.
func decodeRecord(payload []byte) ([]any, bool) {
	size, n := readVarint(payload)
	if n == 0 || size < int64(n) || size > int64(len(payload)) {
		return nil, false
	}
	header, body := payload[n:size], payload[size:]
	var values []any
	for len(header) > 0 {
		kind, n := readVarint(header)
		if n == 0 {
			return nil, false
		}
		header = header[n:]
		width := widthOf(kind)
		if width < 0 || width > int64(len(body)) {
			return nil, false
		}
		values = append(values, decodeValue(kind, body[:width]))
		body = body[width:]
	}
	return values, len(body) == 0
}

// widthOf is how many bytes a value of a kind takes, -1 for a kind that does not exist.
func widthOf(kind int64) int64 {
	switch {
	case kind >= 12:
		return (kind - 12) / 2
	case kind < 0 || kind == 10 || kind == 11:
		return -1
	default:
		return int64([]int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind])
	}
}

func decodeValue(kind int64, data []byte) any {
	switch {
	case kind == 0:
		return nil
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(data))
	case kind == 8 || kind == 9:
		return kind - 8
	case kind >= 12 && kind%2 == 0:
		return append([]byte{}, data...)
	case kind >= 12:
		return string(data)
	}
	n := int64(int8(data[0]))
	for _, b := range data[1:] {
		n = n<<8 | int64(b)
	}
	return n
}

// readVarint reads a number of one to nine bytes and returns its length, 0 when it does not end.
func readVarint(data []byte) (n int64, length int) {
	var u uint64
	for i := range min(8, len(data)) {
		u = u<<7 | uint64(data[i]&0x7f)
		if data[i] < 0x80 {
			return int64(u), i + 1
		}
	}
	if len(data) < 9 {
		return 0, 0
	}
	return int64(u<<8 | uint64(data[8])), 9
}
