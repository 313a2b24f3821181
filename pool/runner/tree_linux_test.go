package runner

import (
	"os"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	tail := " S 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 1 2"
	for name, line := range map[string]string{"plain": "12 (sh)" + tail, "hostile": "12 (a) Z 1 (b)" + tail, "blank": "12 ()" + tail} {
		p, ok := parseStat(12, []byte(line))
		if want := (proc{pid: 12, parent: 7, group: 8, session: 9, begun: 4242}); !ok || p != want {
			t.Errorf("%s: %+v, %v", name, p, ok)
		}
	}
	if p, _ := parseStat(12, []byte(strings.Replace("12 (sh)"+tail, "S", "Z", 1))); !p.dead {
		t.Error("a zombie is not seen as dead")
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (sh) S 7 8 9"))
	f.Add([]byte(") "))
	f.Fuzz(func(t *testing.T, line []byte) {
		if p, ok := parseStat(1, line); ok && p.pid != 1 {
			t.Errorf("%+v", p)
		}
	})
}

func TestTagIsWhole(t *testing.T) {
	r := newRunner(t)
	p, err := r.Start(script(t, "exec sleep 100"))
	if err != nil {
		t.Fatal(err)
	}
	tag := p.job.child.tag
	me := proc{pid: p.job.child.pid}
	eventually(t, "the tag is there", func() bool { return me.hasTag(tag) }) // not for a moment while it replaces itself by sleep
	if me.hasTag(tag+"0") || me.hasTag(tag[:len(tag)-1]) || (proc{pid: os.Getpid()}).hasTag(tag) {
		t.Error("the tag is not compared as a whole")
	}
}
