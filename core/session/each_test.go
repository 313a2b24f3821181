package session

import (
	"reflect"
	"runtime"
	"testing"

	"hermes/core/chat"
)

// EachMessage hands on what History returns, also after an undo, and does not keep it.
func TestEachMessageIsTheHistory(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	talk(t, s, uid, 150)
	_, err := s.Undo(bg, uid, 2)
	must(t, err)
	var want, got []chat.Message
	whole := allocatedBytes(func() { want, err = s.History(bg, uid) })
	must(t, err)
	must(t, s.EachMessage(bg, uid, func(m *chat.Message) { got = append(got, *m) }))
	if len(want) != 296 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d messages of %d, or others", len(got), len(want))
	}
	n := 0
	each := allocatedBytes(func() { err = s.EachMessage(bg, uid, func(*chat.Message) { n++ }) })
	must(t, err)
	if t.Logf("%d bytes, as a whole %d", each, whole); n != len(want) || each*4 > whole*3 {
		t.Errorf("%d messages one after the other take %d bytes, as a whole %d", n, each, whole)
	}
}

func allocatedBytes(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
