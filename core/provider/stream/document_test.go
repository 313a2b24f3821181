package stream_test

import (
	"bytes"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider/modeltest"
)

// A document goes out as the vendors document it, in every format; a server that refuses it gets
// its text, at once and from then on.
func TestADocument(t *testing.T) {
	wants := []string{
		`{"file":{"file_data":"data:application/pdf;base64,JVBERi0=","filename":"report.pdf"},"type":"file"}`,
		`{"source":{"data":"JVBERi0=","media_type":"application/pdf","type":"base64"},"title":"report.pdf",`,
		`{"file_data":"data:application/pdf;base64,JVBERi0=","filename":"report.pdf","type":"input_file"}`,
	}
	refusals := []string{
		"Invalid value: 'file'. Supported values are: 'text'", "messages.0.content.1: document blocks are not supported",
		"Invalid value: 'input_file'.",
	}
	for _, text := range []string{"what is in it?", ""} {
		for i, f := range formats {
			messages := []chat.Message{{Role: chat.RoleUser, Text: text, Parts: []chat.Part{{
				Kind: chat.PartFile, Name: "report.pdf", Media: chat.PDF, Text: "its words", Data: []byte("%PDF-"), Blob: strings.Repeat("b", 64),
			}}}}
			s := modeltest.New(t, modeltest.Turn{Text: "So."}, modeltest.Turn{Status: 400, Message: refusals[i]}, modeltest.Turn{Text: "So."}, modeltest.Turn{Text: "So."})
			p := client(t, f, s.URL, quick)
			for range 3 {
				if g := collect(t, p, request(messages)); g.Err != nil || g.Text != "So." {
					t.Fatalf("%s: %q %v", f.name, g.Text, g.Err)
				}
			}
			for n, r := range s.Requests() {
				shown, said := bytes.Contains(r.Body, []byte(wants[i])), bytes.Contains(r.Body, []byte("its words"))
				if shown != (n < 2) || said != (n >= 2) {
					t.Errorf("%s, request %d: %s", f.name, n, r.Body)
				}
			}
		}
	}
}
