package agent

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/tool"
)

// aPNG is a picture of one colour.
func aPNG(t testing.TB, w, h int, shade uint8) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = shade
	}
	m.SetGray(0, 0, color.Gray{Y: 255 - shade})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// camera is a tool that gives another picture at each call.
func camera(t testing.TB) tool.Tool {
	shade := uint8(0)
	return newTool("shot", func(s *tool.Spec) { s.Serial = true }, func(context.Context, tool.Call) (tool.Result, error) {
		shade++
		return tool.Result{Text: "taken", Parts: []chat.Part{{Kind: chat.PartImage, Name: fmt.Sprintf("s%d.png", shade), Data: aPNG(t, 1600, 900, shade)}}}, nil
	})
}

// images counts the images with bytes in a request, and joins all of its texts.
func images(r provider.Request) (n int, text string) {
	for _, m := range r.Messages {
		m.EachPart(func(p *chat.Part) {
			if p.Data != nil {
				n++
			}
		})
		text += m.Text + "\n"
		if m.Result != nil {
			text += m.Result.Text + "\n"
		}
	}
	return n, text
}

func TestImagesOfAToolReachTheModelThatSees(t *testing.T) {
	r := rigWith(t, []tool.Tool{camera(t)}, callsTools(fakeCall{"shot", `{}`}))
	if err := r.agent.SetModel(context.Background(), r.uid, "eyes"); err != nil {
		t.Fatal(err)
	}
	r.submit("look", "")
	r.idle()
	p := r.history()[2].Result.Parts[0]
	if p.Width != 1568 || p.Height != 882 || len(p.Blob) != 64 || p.Data != nil || p.Media != "image/png" {
		t.Fatalf("stored as %+v", p)
	}
	r.sink.until(func(all []event.Envelope) bool {
		return slices.ContainsFunc(all, func(e event.Envelope) bool {
			x, ok := e.Event.(event.ToolEnded)
			return ok && len(x.Result.Parts) == 1 && x.Result.Parts[0].Blob == p.Blob
		})
	})
	if n, text := images(r.model.seen()[1]); n != 1 || strings.Contains(text, "sha256:") {
		t.Errorf("sent %d images and %s", n, text)
	}

	// What becomes of the file, or of the model, never ends the conversation.
	file := r.svc.ContentPath(p.Blob)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, broken := range []func() error{
		func() error { return os.WriteFile(file, whole[:100], 0o600) },
		func() error { return os.Remove(file) },
		func() error { return r.agent.SetModel(context.Background(), r.uid, "blind") },
	} {
		if err := broken(); err != nil {
			t.Fatal(err)
		}
		r.submit("again", "")
		r.idle()
		n, text := images(r.model.seen()[2+i])
		says := []string{"is damaged", "is not in the store any more", "this model takes no images"}[i]
		if n != 0 || !strings.Contains(text, `[image "s1.png", image/png, 1568x882 px,`) || !strings.Contains(text, says) {
			t.Errorf("sent %d images and %s", n, text)
		}
	}
}

func TestAPersonsPartsAreKeptInQueueAndMessage(t *testing.T) {
	r := newRig(t, hangs("", nil))
	parts := []chat.Part{{Kind: chat.PartImage, Name: "x.png", Data: aPNG(t, 20, 10, 1)}, {Kind: chat.PartFile, Name: "a.pdf", Data: []byte("%PDF")}}
	for i, mode := range []event.InputMode{"", event.InputQueue} {
		if err := r.agent.Submit(context.Background(), r.uid, Input{Text: fmt.Sprint("p", i), Parts: parts, Mode: mode}); err != nil {
			t.Fatal(err)
		}
	}
	waiting, err := r.svc.LoadQueue(context.Background(), r.uid)
	if err != nil || len(waiting) != 1 || len(waiting[0].Parts) != 2 {
		t.Fatalf("%+v, %v", waiting, err)
	}
	for _, kept := range [][]chat.Part{waiting[0].Parts, r.history()[0].Parts} {
		for _, p := range kept {
			if data, err := r.svc.Content(p.Blob); err != nil || !bytes.HasPrefix(data, []byte{0x89}) && string(data) != "%PDF" {
				t.Errorf("%+v: %v", p, err)
			}
		}
	}
	many := slices.Repeat(parts[:1], 100)
	if err := r.agent.Submit(context.Background(), r.uid, Input{Parts: many, Mode: event.InputQueue}); err != nil {
		t.Fatal(err)
	}
	if q := r.agent.Queue(r.uid); len(q[1].Parts) != chat.MaxParts+1 || !strings.Contains(q[1].Parts[chat.MaxParts].Text, "68 more") {
		t.Errorf("%d parts are kept", len(q[1].Parts))
	}
	r.agent.Interrupt(r.uid)
	r.idle()
}

// A request holds the newest images; which ones changes seldom, so that what was sent before stays
// the same.
func TestNewestImagesFillARequest(t *testing.T) {
	changes, last := 0, 0
	for n := range 60 {
		var h []chat.Message
		for range n {
			h = append(h, chat.Message{Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartImage, Size: 100_000}}})
		}
		old := oldImages(h)
		if n-old > maxImages || n > maxImages && n-old < maxImages-imageStep {
			t.Errorf("of %d images %d are left out", n, old)
		}
		if old != last {
			changes, last = changes+1, old
		}
	}
	if changes != 8 {
		t.Errorf("%d changes", changes)
	}
	large := []chat.Message{{Parts: slices.Repeat([]chat.Part{{Kind: chat.PartImage, Size: 1 << 20}}, 10)}}
	if old := oldImages(large); old != 5 {
		t.Errorf("of ten images of 1 MB %d are left out", old)
	}
}

func TestOldImagesGoBeforeOldTexts(t *testing.T) {
	r := newRig(t)
	w, err := r.agent.workerOf(context.Background(), r.uid)
	if err != nil {
		t.Fatal(err)
	}
	turn := newTurn(w)
	turn.specs = []provider.ToolSpec{{Name: "read_file"}}
	hash := strings.Repeat("ab", 32)
	for id := int64(1); id < 9; id += 2 {
		turn.history = append(turn.history,
			chat.Message{ID: id, Role: chat.RoleAssistant, Calls: []chat.ToolCall{{ID: fmt.Sprint(id), Name: "read"}}},
			chat.Message{ID: id + 1, Role: chat.RoleTool, Result: &chat.ToolResult{
				CallID: fmt.Sprint(id), Name: "read", Text: strings.Repeat("text ", 1000),
				Parts: []chat.Part{{Kind: chat.PartImage, Name: "i", Width: 1500, Height: 1000, Blob: hash}},
			}})
	}
	turn.history = append(turn.history, chat.Message{ID: 9, Role: chat.RoleAssistant, Text: "I see."})
	if turn.pruneResults(10_000) == 0 {
		t.Fatal("nothing was pruned")
	}
	first, newest := turn.shownHistory()[1].Result, turn.shownHistory()[7].Result
	if len(first.Parts) != 0 || !strings.HasPrefix(first.Text, "text text") || !strings.Contains(first.Text, "read_file with the path sha256:abababababab") {
		t.Errorf("the first is %d parts and %.100q", len(first.Parts), first.Text)
	}
	if len(newest.Parts) != 1 || len(turn.history[1].Result.Parts) != 1 {
		t.Error("an image is gone that should stay")
	}
	if turn.pruneResults(10_000) == 0 ||
		strings.HasPrefix(turn.shownHistory()[1].Result.Text, "text text") {
		t.Error("texts do not follow")
	}
}

// An old document of a person, its text too, becomes a line that tells how it is read again, also
// in a conversation without tools; the newest one stays.
func TestOldDocumentsGoWithOldImages(t *testing.T) {
	var h []chat.Message
	for id := int64(1); id < 9; id += 2 {
		document := chat.Part{
			Kind: chat.PartFile, Name: "a.pdf", Media: chat.PDF, Blob: strings.Repeat("cd", 32), Size: 400_000, Text: strings.Repeat("page ", 2000),
		}
		h = append(h, chat.Message{ID: id, Role: chat.RoleUser, Text: "Read it.", Parts: []chat.Part{document}},
			chat.Message{ID: id + 1, Role: chat.RoleAssistant, Text: "I read it."})
	}
	through := newestStale(h, 6000)
	if through != 5 {
		t.Fatalf("stale up to %d", through)
	}
	after := pruneHistory(h, cut{media: through})
	for i, m := range after {
		gone := m.Role == chat.RoleUser && m.ID <= through
		if gone != (len(h[i].Parts) > len(m.Parts)) || gone != strings.Contains(m.Text, "read_file with the path sha256:cdcdcdcdcdcd reads its text") {
			t.Errorf("message %d: %d parts, %q", m.ID, len(m.Parts), m.Text)
		}
		if gone && !strings.HasPrefix(m.Text, "Read it.\n[file \"a.pdf\", application/pdf, 400 kB") {
			t.Errorf("%q", m.Text)
		}
	}
	if before, now := estimateTokens(h), estimateTokens(after); now*3 > before {
		t.Errorf("%d tokens became %d", before, now)
	}
}
