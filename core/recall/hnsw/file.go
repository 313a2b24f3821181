package hnsw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math"
)

// A file is: the magic with the version, a header, ids, levels, neighbours, vectors, and the CRC-64
// of all before it. Numbers are little endian. It holds no deleted node.
const magic = "HNSWv001"

// header is fixed in size.
type header struct {
	Tag     [32]byte // whose vectors they are; see Read
	Dims    uint32
	Nodes   uint32
	Entry   uint32
	Links   uint64 // numbers in all lists of neighbours
	Checked uint32 // what the writer says of it
}

var table = crc64.MakeTable(crc64.ECMA)

// Write writes the graph without its deleted nodes. tag names what the vectors are of; checked
// comes back from Read.
func (g *Graph) Write(w io.Writer, tag [32]byte, checked bool) error {
	if g.deleted > 0 {
		g = g.Compact()
	}
	sum := crc64.New(table)
	out := io.MultiWriter(w, sum)
	var links []uint32
	for n := range g.ids {
		for l := range int(g.level[n]) + 1 {
			list := g.neighbours(uint32(n), l)
			links = append(links, list[:1+list[0]]...)
		}
	}
	h := header{Tag: tag, Dims: uint32(g.dims), Nodes: uint32(len(g.ids)), Entry: g.entry, Links: uint64(len(links))}
	if checked {
		h.Checked = 1
	}
	if _, err := io.WriteString(out, magic); err != nil {
		return err
	}
	for _, part := range []any{h, g.ids, g.level, links} {
		if err := binary.Write(out, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	const step = 64 << 10
	for rest := g.vectors; len(rest) > 0; rest = rest[min(step, len(rest)):] {
		if err := binary.Write(out, binary.LittleEndian, rest[:min(step, len(rest))]); err != nil {
			return err
		}
	}
	return binary.Write(w, binary.LittleEndian, sum.Sum64())
}

// Faults of a file.
var (
	ErrOther   = errors.New("the graph is of other vectors, or of another version of the program")
	errDamaged = errors.New("the file of the graph is damaged")
)

const maxFileDims = 8192

// Read is the graph of a file that Write wrote with the same tag.
func Read(data []byte, tag [32]byte) (g *Graph, checked bool, err error) {
	if len(data) < len(magic)+8 || string(data[:len(magic)]) != magic {
		return nil, false, ErrOther
	}
	body, end := data[:len(data)-8], data[len(data)-8:]
	if crc64.Checksum(body, table) != binary.LittleEndian.Uint64(end) {
		return nil, false, errDamaged
	}
	r := bytes.NewReader(body[len(magic):])
	var h header
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return nil, false, errDamaged
	}
	if h.Tag != tag {
		return nil, false, ErrOther
	}
	want := uint64(h.Nodes)*(8+1+4*uint64(h.Dims)) + 4*h.Links
	if h.Dims == 0 || h.Dims > maxFileDims || h.Nodes > math.MaxInt32 || h.Links > math.MaxInt32*ground ||
		want != uint64(r.Len()) || h.Nodes > 0 && h.Entry >= h.Nodes {
		return nil, false, errDamaged
	}
	if g, err = readGraph(r, h); err != nil {
		return nil, false, err
	}
	return g, h.Checked == 1, nil
}

func readGraph(r io.Reader, h header) (*Graph, error) {
	g := New(int(h.Dims), uint64(h.Nodes)+1)
	g.ids, g.level, g.gone = make([]int64, h.Nodes), make([]uint8, h.Nodes), make([]bool, h.Nodes)
	links := make([]uint32, h.Links)
	g.vectors, g.entry = make([]float32, uint64(h.Nodes)*uint64(h.Dims)), h.Entry
	for _, part := range []any{g.ids, g.level, links, g.vectors} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return nil, errDamaged
		}
	}
	g.low, g.high = make([]uint32, int(h.Nodes)*(ground+1)), make([][]uint32, h.Nodes)
	for n, id := range g.ids {
		if _, twice := g.at[id]; twice || g.level[n] > maxLevel || g.level[n] > g.level[g.entry] {
			return nil, fmt.Errorf("%w: node %d", errDamaged, n)
		}
		g.at[id] = uint32(n)
		if g.level[n] > 0 {
			g.high[n] = make([]uint32, int(g.level[n])*(degree+1))
		}
		for l := range int(g.level[n]) + 1 {
			var ok bool
			if links, ok = g.readNeighbours(links, g.neighbours(uint32(n), l), l); !ok {
				return nil, fmt.Errorf("%w: neighbours of node %d", errDamaged, n)
			}
		}
	}
	if len(links) > 0 {
		return nil, errDamaged
	}
	return g, nil
}

// readNeighbours reads one list of neighbours, which are nodes of that level, and returns the rest.
func (g *Graph) readNeighbours(links, list []uint32, level int) ([]uint32, bool) {
	if len(links) == 0 || int(links[0]) >= len(list) || int(links[0]) >= len(links) {
		return nil, false
	}
	n := links[0] + 1
	for _, to := range links[1:n] {
		if int(to) >= len(g.ids) || int(g.level[to]) < level {
			return nil, false
		}
	}
	copy(list, links[:n])
	return links[n:], true
}
