package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
	"hermes/core/testskip"
)

// drawMessage makes a message with anything in it that can be there.
func drawMessage(t *rapid.T) chat.Message {
	short := rapid.String()
	text := rapid.OneOf(short, short, short, short, short, short, short, rapid.Just(strings.Repeat("long 数据 ", 2800))) // long enough to be packed
	m := chat.Message{
		At:     time.UnixMilli(rapid.Int64Range(1, 4e12).Draw(t, "at")),
		Status: rapid.SampledFrom([]chat.Status{chat.StatusFinal, chat.StatusCancelled, chat.StatusError}).Draw(t, "status"),
		Role:   rapid.SampledFrom([]chat.Role{chat.RoleUser, chat.RoleAssistant, chat.RoleTool}).Draw(t, "role"),
		Text:   text.Draw(t, "text"), Reasoning: rapid.String().Draw(t, "reasoning"), Model: rapid.String().Draw(t, "model"),
	}
	switch m.Role {
	case chat.RoleTool:
		code := rapid.IntRange(-1, 255).Draw(t, "code")
		m.Result = &chat.ToolResult{
			CallID: rapid.String().Draw(t, "id"), Name: rapid.String().Draw(t, "name"), Text: text.Draw(t, "result"), ExitCode: &code,
			IsError: code != 0, Backend: "b", Took: time.Duration(code), Warnings: []string{"w"},
			Parts: drawParts(t),
			Diffs: []chat.FileDiff{{Path: "a", Op: chat.FileModified, Unified: text.Draw(t, "diff"), Added: 1}},
		}
	case chat.RoleAssistant:
		raw := rapid.SampledFrom([]string{`{"a": 1,  "b":[ ]}`, `{not json`, ``, `"<&>"`})
		m.Calls = []chat.ToolCall{{ID: "1", Name: "terminal", Args: bytesOf(raw.Draw(t, "args"))}, {ID: "2", Name: "x", Invalid: "{half"}}
		m.Opaque = bytesOf(raw.Draw(t, "opaque"))
		m.Usage = chat.Usage{Input: 5, Output: 7, Cost: 9, CostKnown: true}
		m.Finish = chat.FinishToolCalls
	case chat.RoleUser, chat.RoleSystem:
		m.From = chat.Author{Kind: chat.AuthorPeer, ID: rapid.String().Draw(t, "from")}
		m.Parts = append(drawParts(t), chat.Part{Kind: chat.PartPaste, Name: "paste", Text: text.Draw(t, "paste")})
	}
	return m
}

func drawParts(t *rapid.T) []chat.Part {
	var out []chat.Part
	for range rapid.IntRange(0, 1).Draw(t, "parts") {
		out = append(out, chat.Part{
			Kind: chat.PartImage, Name: rapid.String().Draw(t, "part"), Width: 5, Height: 7, URI: "db://x",
			Data: []byte(rapid.StringN(1, 9, -1).Draw(t, "content")),
		})
	}
	return out
}

func bytesOf(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// What goes in comes out: through the store, and through a file into another store.
func TestExportImportLosesNothing(t *testing.T) {
	testskip.LongWithoutRace(t, "random sessions, synced to disk")
	from, _ := newService(t)
	to, _ := newService(t)
	rapid.Check(t, func(rt *rapid.T) {
		uid := create(t, from, NewSession{Title: rapid.String().Draw(rt, "title"), Cwd: "/c", Model: "m", Provider: "p", Source: "tui"}).UID
		must(t, from.SetPrompt(bg, uid, "prompt "+rapid.String().Draw(rt, "prompt")))
		must(t, from.SetMeta(bg, uid, "todo", "[]"))
		must(t, from.CountUsage(bg, uid, Spent{Usage: chat.Usage{Input: 3, CostKnown: true}}))
		var want []chat.Message
		for _, m := range rapid.SliceOfN(rapid.Custom(drawMessage), 1, 5).Draw(rt, "messages") {
			m.Parts = from.KeepParts(bg, uid, m.Parts)
			if m.Result != nil {
				m.Result.Parts = from.KeepParts(bg, uid, m.Result.Parts)
			}
			must(t, from.Append(bg, uid, &m))
			want = append(want, m)
		}
		sameMessages(rt, want, history(t, from, uid))

		add(t, from, uid, user("taken back"))
		if _, err := from.Undo(bg, uid, 1); err != nil {
			rt.Fatal(err)
		}
		var file bytes.Buffer
		must(t, from.Export(bg, uid, &file, JSON))
		first := file.String()
		infos, err := to.Import(bg, &file)
		if err != nil || len(infos) != 1 || infos[0].UID != uid {
			rt.Fatalf("import: %v %v", infos, err)
		}
		sameMessages(rt, history(t, from, uid), history(t, to, uid))
		if again, err := to.Import(bg, strings.NewReader(first)); err != nil || len(again) != 0 {
			rt.Fatalf("second import: %v %v", again, err)
		}
		if a, b := exported(t, from, uid), exported(t, to, uid); !reflect.DeepEqual(a, b) {
			rt.Fatalf("the exports differ:\n%+v\n%+v", a, b)
		}
		must(t, to.Delete(bg, uid))
	})
	check(t, from)
	check(t, to)
}

func history(t testing.TB, s *Service, uid string) []chat.Message {
	t.Helper()
	h, err := s.History(bg, uid)
	must(t, err)
	return h
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func sameMessages(t failer, want, got []chat.Message) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range want {
		w, g := want[i], got[i]
		w.ID, g.ID = 0, 0
		if !w.At.Equal(g.At) {
			t.Fatalf("time %v, want %v", g.At, w.At)
		}
		w.At, g.At = time.Time{}, time.Time{}
		if !reflect.DeepEqual(w, g) {
			t.Fatalf("message %d:\n%+v, want\n%+v", i, g, w)
		}
	}
}

// exported is a session's file without what may differ: row ids.
func exported(t testing.TB, s *Service, uid string) file {
	t.Helper()
	x, err := s.loadFile(bg, uid)
	must(t, err)
	x.Session.ID = 0
	for i := range x.Messages {
		x.Messages[i].ID = 0
	}
	return x
}

func TestMarkdownAndShareGPT(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{Title: "Work", Model: "m", Cwd: "/c"}).UID
	must(t, s.SetPrompt(bg, uid, "be kind"))
	add(t, s, uid, user("run it"))
	m := assistant("running", chat.ToolCall{ID: "1", Name: "terminal", Args: []byte(`{"command":"a && b"}`)}, chat.ToolCall{ID: "2", Name: "read_file", Invalid: "{x"})
	m.Reasoning = "hm"
	add(t, s, uid, m)
	r := result("1", "terminal", "```\nfence\n```")
	code := 3
	r.Result.ExitCode = &code
	add(t, s, uid, r)
	add(t, s, uid, result("2", "read_file", "text"))
	add(t, s, uid, assistant("done"))
	var md, gpt bytes.Buffer
	must(t, s.Export(bg, uid, &md, Markdown))
	for _, want := range []string{"# Work\n", "## You\n\nrun it", "````\n```\nfence\n```\n````", "(exit code 3)", `{"command":"a && b"}`, "<summary>Reasoning"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("markdown lacks %q:\n%s", want, md.String())
		}
	}
	must(t, s.Export(bg, uid, &gpt, ShareGPT))
	if strings.Count(gpt.String(), "\n") != 1 {
		t.Error("not one line")
	}
	var out shareGPT
	must(t, json.Unmarshal(gpt.Bytes(), &out))
	var from []string
	for _, c := range out.Conversations {
		from = append(from, c.From)
		if c.From == "gpt" && !strings.HasPrefix(c.Value, "<think>\n") {
			t.Errorf("gpt turn %q", c.Value)
		}
	}
	if strings.Join(from, " ") != "system human gpt tool gpt" {
		t.Errorf("turns %v", from)
	}
	if v := out.Conversations[3].Value; strings.Count(v, "<tool_response>") != 2 {
		t.Errorf("parallel answers %q", v)
	}
	if err := s.Export(bg, uid, &gpt, "pdf"); err == nil || !strings.Contains(err.Error(), "markdown") {
		t.Errorf("unknown format: %v", err)
	}
}

func TestExportsHoldImages(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{Title: "Pictures"}).UID
	png := []byte("\x89PNG\r\n\x1a\n picture")
	kept := s.KeepParts(bg, uid, []chat.Part{
		{Kind: chat.PartImage, Name: "a [1].png", Data: png}, {Kind: chat.PartFile, Name: "b.pdf", Media: "application/pdf", Data: []byte("%PDF")},
	})
	m := user("look")
	m.Parts = kept
	add(t, s, uid, m)
	r := result("1", "shot", "taken")
	r.Result.Parts = kept[:1]
	add(t, s, uid, r)
	var md, gpt bytes.Buffer
	must(t, s.Export(bg, uid, &md, Markdown))
	link := "[" + kept[0].Blob[:16] + "]"
	for want, n := range map[string]int{
		`![image "a (1).png", 16 bytes, ` + kept[0].Handle() + "]" + link:                        2,
		"\n" + link + ": data:image/png;base64," + base64.StdEncoding.EncodeToString(png) + "\n": 1,
		`Attached: file "b.pdf", application/pdf, 4 bytes`:                                       1,
	} {
		if strings.Count(md.String(), want) != n {
			t.Errorf("markdown has not %d times %q:\n%s", n, want, md.String())
		}
	}
	must(t, s.Export(bg, uid, &gpt, ShareGPT))
	if n := strings.Count(gpt.String(), `[image \"a [1].png\", 16 bytes, sha256:`); n != 1 { // the result's is escaped twice
		t.Errorf("%d images in %s", n, gpt.String())
	}
	var file bytes.Buffer
	must(t, s.Export(bg, uid, &file, JSON))
	to, _ := newService(t)
	broken := strings.Replace(file.String(), base64.StdEncoding.EncodeToString(png), base64.StdEncoding.EncodeToString([]byte("forged")), 1)
	if _, err := to.Import(bg, strings.NewReader(broken)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a forged content: %v", err)
	}
	if _, err := to.Import(bg, &file); err != nil {
		t.Error(err)
	}
	if data, err := to.Content(kept[0].Blob); err != nil || !bytes.Equal(data, png) {
		t.Errorf("imported %q, %v", data, err)
	}
	if _, err := s.Kept(bg, uid, kept[1].Handle()); err == nil {
		t.Error("a document is an image")
	}
	must(t, to.Delete(bg, uid))
	if _, err := to.Content(kept[0].Blob); err == nil {
		t.Error("the content outlives its session")
	}
}

func TestImportOfNonsense(t *testing.T) {
	s, _ := newService(t)
	for _, in := range []string{"{", `{"format":"other"}`, `{"format":"hermes-session","version":9}`, "[]", "\x00"} {
		if _, err := s.Import(bg, strings.NewReader(in)); err == nil {
			t.Errorf("%q was imported", in)
		}
	}
	infos, err := s.Import(bg, strings.NewReader(`{"format":"hermes-session","version":1,"session":{},"messages":[{"role":"user","status":"final","text":"hi"}]}`))
	if err != nil || len(infos) != 1 || infos[0].Messages != 1 {
		t.Errorf("the least file: %v %v", infos, err)
	}
}

func FuzzImport(f *testing.F) {
	f.Add(`{"format":"hermes-session","version":1,"session":{"uid":"a"},"messages":[{"role":"tool","result":{"text":"x"}}]}`)
	f.Add(`{}`)
	st, err := store.Open(bg, f.TempDir()+"/w.db", store.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { st.Close() })
	s := New(st, nil)
	f.Fuzz(func(t *testing.T, in string) {
		infos, _ := s.Import(bg, strings.NewReader(in))
		for _, x := range infos {
			history(t, s, x.UID)
		}
	})
}

// Who wrote a message stays with it, is named in words, and is no claim that a file can make about
// its reader.
func TestTheAuthorOfAMessage(t *testing.T) {
	ctx := context.Background()
	svc, _ := newService(t)
	info := create(t, svc, NewSession{Cwd: "/proj", Source: "test"})
	process := chat.Author{Kind: chat.AuthorProcess, ID: "p1 `#x"}
	for _, m := range []chat.Message{
		{Role: chat.RoleUser, From: chat.Person(), Text: "$ ls"}, {Role: chat.RoleUser, From: process, Text: "it ended"}, {Role: chat.RoleUser, Text: "old"},
	} {
		if err := svc.Append(ctx, info.UID, &m); err != nil {
			t.Fatal(err)
		}
	}
	if err := svc.SaveQueue(ctx, info.UID, []event.QueuedInput{{ID: "q", From: chat.Person(), Text: "$ make"}}); err != nil {
		t.Fatal(err)
	}
	authors := func(s *Service) (out []chat.Author) {
		h, err := s.History(ctx, info.UID)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range h {
			out = append(out, m.From)
		}
		return out
	}
	if got := authors(svc); !slices.Equal(got, []chat.Author{chat.Person(), process, {}}) {
		t.Errorf("stored %+v", got)
	}
	var md, js bytes.Buffer
	if err := errors.Join(svc.Export(ctx, info.UID, &md, Markdown), svc.Export(ctx, info.UID, &js, JSON)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(md.String(), "## You\n"); n != 2 || !strings.Contains(md.String(), "## Background process p1 x\n") {
		t.Errorf("%s", md.String())
	}
	other, _ := newService(t)
	if _, err := other.Import(ctx, &js); err != nil {
		t.Fatal(err)
	}
	if got := authors(other); !slices.Equal(got, []chat.Author{{}, process, {}}) {
		t.Errorf("imported %+v", got)
	}
	if q, err := other.LoadQueue(ctx, info.UID); err != nil || len(q) != 1 || q[0].Text != "$ make" || q[0].From != (chat.Author{}) {
		t.Errorf("imported queue %+v, %v", q, err)
	}
}

// What an export of version 1 holds is found by search as it was where it came from: words, names
// of tools, arguments of calls.
func TestImportOfVersion1IsFound(t *testing.T) {
	s, _ := newService(t)
	_, err := s.Import(bg, strings.NewReader(`{"format":"hermes-session","version":1,"session":{"uid":"old"},"messages":[
 {"role":"user","status":"final","text":"what is in the harbour log"},
 {"role":"assistant","status":"final","calls":[{"id":"c1","name":"terminal","args":{"command":"grep anchor log"}}]},
 {"role":"tool","status":"final","result":{"call_id":"c1","name":"terminal","text":"rusty chain"}}]}`))
	must(t, err)
	for q, want := range map[string]int{"harbour": 1, "terminal": 2, "grep anchor": 1, "tool:terminal rusty": 1, "nowhere": 0} {
		if r, _ := found(t, s, Query{Text: q}); len(r.Hits) != want {
			t.Errorf("%s: %d hits, want %d", q, len(r.Hits), want)
		}
	}
}
