package hnsw

import (
	"bytes"
	"encoding/binary"
	"hash/crc64"
)

// sealed has the magic and the sum of a good file, whatever stands between them.
func sealed(data []byte) []byte {
	data = bytes.Clone(data)
	if len(data) < len(magic)+8 {
		data = append(data, make([]byte, len(magic)+8)...)
	}
	copy(data, magic)
	copy(data[len(magic):], tag[:])
	body := data[:len(data)-8]
	return binary.LittleEndian.AppendUint64(body[:len(body):len(body)], crc64.Checksum(body, table))
}
