package procedure

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// firstParse is how many bytes the first reading of the program's procedures takes. Each start of
// Hermes does it, and what is made only once can be counted only here.
var firstParse uint64

func TestMain(m *testing.M) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for file, data := range Builtin() {
		Parse(file, data)
	}
	runtime.ReadMemStats(&after)
	firstParse = after.TotalAlloc - before.TotalAlloc
	goleak.VerifyTestMain(m)
}

// With the names as a regular expression it was 3.5 MB.
func TestTheFirstReadingIsCheap(t *testing.T) {
	if t.Logf("%d bytes", firstParse); firstParse > 2<<20 {
		t.Errorf("the first reading of the procedures takes %d bytes", firstParse)
	}
}

func TestNames(t *testing.T) {
	same := regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_-]{0,63}$`)
	for _, s := range []string{
		"", "a", "_", "-", "9", "a9", "_-", "a-b_c", "a b", "a.b", "é", "名前", "名1", "²a", "a²", "a\n", "\n", "a\xff", "\xff", "\ufffd", "e\u0301",
		strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("名", 64), strings.Repeat("名", 65),
	} {
		if got, want := isKeyName(s), same.MatchString(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}
