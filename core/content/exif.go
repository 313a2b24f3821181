package content

import (
	"bytes"
	"encoding/binary"
)

// orientation is how a camera was held, 1 to 8, as the EXIF data of a JPEG says; 1 when it says
// nothing that makes sense.
func orientation(data []byte) int {
	const startOfScan, app1 = 0xDA, 0xE1
	for at := 2; at+4 <= len(data) && data[at] == 0xFF && data[at+1] != startOfScan; {
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		if size < 2 || at+2+size > len(data) {
			break
		}
		if exif, ok := bytes.CutPrefix(data[at+4:at+2+size], []byte("Exif\x00\x00")); ok && data[at+1] == app1 {
			return orientationTag(exif)
		}
		at += 2 + size
	}
	return 1
}

// orientationTag looks through the first directory of a TIFF header.
func orientationTag(tiff []byte) int {
	const tag, head, entry = 0x0112, 8, 12
	if len(tiff) < head {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	n := int(order.Uint16(tiff[at:]))
	for dir := tiff[at+2:]; n > 0 && len(dir) >= entry; n, dir = n-1, dir[entry:] {
		if order.Uint16(dir) == tag {
			return int(order.Uint16(dir[8:]))
		}
	}
	return 1
}
