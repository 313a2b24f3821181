package config

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Size is a number of bytes. In the file it is a number with a unit ("512m", "4g", "1.5GiB"; units
// are powers of 1024) or a plain number of megabytes. 0 means that nothing was said, NoLimit is
// written none or unlimited.
type Size int64

// NoLimit is a size that bounds nothing.
const NoLimit Size = -1

var sizeType = reflect.TypeFor[Size]()

const (
	megabyte = 1 << 20
	maxSize  = 1 << 50
)

// ParseSize reads a size as the file has it.
func ParseSize(text string) (Size, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	switch text {
	case "none", "unlimited", "-1":
		return NoLimit, true
	}
	digits := strings.TrimRight(text, "bigkmt ")
	unit := strings.TrimSpace(text[len(digits):])
	factor, ok := sizeUnit(unit)
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(digits), "_", ""), 64)
	bytes := n * factor
	if err != nil || !ok || math.IsNaN(bytes) || bytes < 0 || bytes > maxSize {
		return 0, false
	}
	return Size(bytes), true
}

func sizeUnit(unit string) (float64, bool) {
	if unit == "" {
		return megabyte, true
	}
	if unit == "b" {
		return 1, true
	}
	power := strings.IndexByte("kmgt", unit[0])
	if rest := unit[1:]; power < 0 || (rest != "" && rest != "b" && rest != "ib") {
		return 0, false
	}
	return math.Pow(1024, float64(power+1)), true
}

// String is the size as one would write it: 4g, 512m, 1000b.
func (s Size) String() string {
	switch {
	case s < 0:
		return "none"
	case s == 0:
		return "0"
	}
	n, unit := int64(s), 0
	for n%1024 == 0 && unit < len("bkmgt")-1 {
		n /= 1024
		unit++
	}
	return strconv.FormatInt(n, 10) + "bkmgt"[unit:unit+1]
}

func setSize(v reflect.Value, text string) *badValue {
	s, ok := ParseSize(text)
	if !ok {
		return &badValue{"expected a size, found", "write a number with a unit (512m, 4g) or megabytes (4096)"}
	}
	v.SetInt(int64(s))
	return nil
}
