package session

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/core/chat"
)

// Volume and what it hands on are the history, for every kind of message, also after an undo.
func TestVolumeIsTheHistory(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	long := strings.Repeat("output\n", 20_000) // stored compressed
	image := []chat.Part{{Kind: chat.PartImage, Name: "x.png", Width: 75, Height: 10}}
	call := chat.ToolCall{ID: "c1", Name: "terminal", Args: json.RawMessage(`{"command":"echo \"漢字\""}`)}
	for _, m := range []chat.Message{
		{Role: chat.RoleUser, Text: "plain words"},
		{Role: chat.RoleUser, Text: "漢字を読む", From: chat.Author{Kind: chat.AuthorProcess, ID: "p1"}},
		{Role: chat.RoleAssistant, Text: "漢字 and more", Reasoning: "hm", Calls: []chat.ToolCall{call, {ID: "c2", Name: "bad", Invalid: "{"}}, Usage: chat.Usage{Input: 70, Output: 7}},
		{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "c1", Name: "terminal", Text: "short"}},
		{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "c2", Name: "bad", Text: long, Parts: image}},
		{Role: chat.RoleAssistant, Text: "done", Usage: chat.Usage{Input: 90, Output: 9}},
		{Role: chat.RoleUser, Text: "taken back"},
		{Role: chat.RoleAssistant, Text: "as well", Usage: chat.Usage{Input: 100}},
	} {
		must(t, s.Append(bg, uid, &m))
	}
	_, err := s.Undo(bg, uid, 1)
	must(t, err)
	history, err := s.History(bg, uid)
	must(t, err)
	var want, read chat.Volume
	for _, m := range history {
		addToVolume(&want, &m)
	}
	handed := 0
	got, err := s.Volume(bg, uid, func(m *chat.Message) { handed++; addToVolume(&read, m) })
	must(t, err)
	got.Said, got.Calls, got.Results = addExtents(got.Said, read.Said), addExtents(got.Calls, read.Calls), addExtents(got.Results, read.Results)
	if got != want || handed != 2 {
		t.Errorf("%+v, want %+v; %d messages were read", got, want, handed)
	}
}

func addToVolume(v *chat.Volume, m *chat.Message) {
	x := extentOf(m.Text + m.Reasoning)
	if m.Result != nil {
		x = extentOf(m.Text + m.Reasoning + m.Result.Text)
		v.Results = addExtents(v.Results, x)
	} else {
		v.Said = addExtents(v.Said, x)
	}
	for _, c := range m.Calls {
		v.Calls = addExtents(v.Calls, extentOf(c.Name+string(c.Args)+c.Invalid))
	}
	if m.Usage.Input > 0 {
		v.Counted = m.Usage.Input + m.Usage.Output
	}
}

func extentOf(s string) chat.Extent {
	return chat.Extent{Texts: 1, Bytes: len(s), Runes: utf8.RuneCountInString(s)}
}

func addExtents(a, b chat.Extent) chat.Extent {
	return chat.Extent{Texts: a.Texts + b.Texts, Bytes: a.Bytes + b.Bytes, Runes: a.Runes + b.Runes}
}

// The length of a conversation costs no memory.
func TestVolumeReadsNoPlainMessage(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	talk(t, s, uid, 150)
	_, err := s.Volume(bg, uid, nil) // statements are prepared now
	must(t, err)
	whole := allocatedBytes(func() { _, err = s.History(bg, uid) })
	must(t, err)
	summed := allocatedBytes(func() { _, err = s.Volume(bg, uid, nil) })
	must(t, err)
	if t.Logf("%d bytes, read %d", summed, whole); summed*10 > whole {
		t.Errorf("summing up 300 messages takes %d bytes, reading them %d", summed, whole)
	}
}

func allocatedBytes(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
