package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hermes/core/chat"
)

// A document that a person attached is shown to a model that reads such, and to another one its
// text, which is read once; the newest five go as they are.
func TestADocumentOfAPerson(t *testing.T) {
	r := newRig(t, says("seen"))
	reads := 0
	r.agent.d.DocumentText = func(_ context.Context, pdf []byte) (string, error) {
		reads++
		if string(pdf) == "%PDF-broken" {
			return "", errors.New("it is damaged")
		}
		return "words of " + string(pdf), nil
	}
	send := func(data string) {
		part := chat.Part{Kind: chat.PartFile, Name: "a.pdf", Media: chat.PDF, Data: []byte(data), Size: int64(len(data))}
		if err := r.agent.Submit(context.Background(), r.uid, Input{Text: "read", Parts: []chat.Part{part}}); err != nil {
			t.Fatal(err)
		}
		r.idle()
	}
	last := func() (n int, text string) {
		seen := r.model.seen()
		n, _ = images(seen[len(seen)-1])
		for _, m := range seen[len(seen)-1].Messages {
			for _, p := range m.Parts {
				if p.Data == nil {
					text += p.Text + "\n"
				}
			}
		}
		return n, text
	}
	send("%PDF-1")
	if n, text := last(); n != 0 || text != "words of %PDF-1\n" {
		t.Errorf("a model that reads none was shown %d and told %q", n, text)
	}
	if err := r.agent.SetModel(context.Background(), r.uid, "reads"); err != nil {
		t.Fatal(err)
	}
	send("%PDF-broken")
	if n, text := last(); n != 2 || text != "" {
		t.Errorf("a model that reads them was shown %d and told %q", n, text)
	}
	for _, data := range []string{"%PDF-3", "%PDF-4", "%PDF-5", "%PDF-6"} {
		send(data)
	}
	if n, text := last(); n != maxDocuments || text != "words of %PDF-1\n" {
		t.Errorf("was shown %d and told %q", n, text)
	}
	if err := r.agent.SetModel(context.Background(), r.uid, "eyes"); err != nil {
		t.Fatal(err)
	}
	send("%PDF-7")
	if n, text := last(); n != 0 || !strings.Contains(text, "[its text cannot be read: it is damaged]") || reads != 7 {
		t.Errorf("was shown %d and told %q after %d readings", n, text, reads)
	}
}

// A session without a tool that reads files again keeps the text of a document whose pages go, and
// is told of no such tool.
func TestADocumentKeepsItsTextWhereNothingReadsItAgain(t *testing.T) {
	m := chat.Message{ID: 1, Role: chat.RoleUser, Text: "see", Parts: []chat.Part{
		{Kind: chat.PartFile, Name: "a.pdf", Media: chat.PDF, Blob: strings.Repeat("ab", 32), Size: 5, Text: "the terms"},
	}}
	for alone, want := range map[bool]bool{true: true, false: false} {
		got := pruneHistory([]chat.Message{m}, cut{media: 1, alone: alone})[0]
		text := fmt.Sprintf("%+v", got)
		if strings.Contains(text, "the terms") != want || strings.Contains(text, "read_file") == want || hasMedia(got) {
			t.Errorf("alone %v: %s", alone, text)
		}
	}
}
