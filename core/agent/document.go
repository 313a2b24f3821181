package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/core/chat"
)

// A PDF document that a person attaches goes to a model that reads such as it is, pages and all. A
// model that does not gets its text, which is read once, when the document comes in.

// Limits of the documents of one request.
const (
	maxDocuments     = 5
	maxDocumentBytes = 16 << 20
	maxDocumentText  = 200 << 10 // bytes of text of one document
)

// readDocuments fills in the texts of documents that came in.
func (a *Agent) readDocuments(ctx context.Context, parts []chat.Part) []chat.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		if p := &parts[i]; p.IsDocument() && p.Data != nil && p.Text == "" {
			p.Text = a.documentText(ctx, p.Data)
		}
	}
	return parts
}

// documentText is the text of a document, or a line that says why there is none.
func (a *Agent) documentText(ctx context.Context, data []byte) string {
	if a.d.DocumentText == nil {
		return ""
	}
	text, err := a.d.DocumentText(ctx, data)
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	switch {
	case err != nil:
		return "[its text cannot be read: " + err.Error() + "]"
	case text == "":
		return "[it holds no text: its pages are pictures]"
	case len(text) > maxDocumentText:
		end := maxDocumentText
		for !utf8.RuneStart(text[end]) {
			end--
		}
		return text[:end] + fmt.Sprintf("\n[only the first %d of %d kB of its text]", maxDocumentText>>10, len(text)>>10)
	}
	return text
}

// presentDocument leaves a document to be shown as it is or as its text, or returns the line that
// stands for it. newest is how many documents, from this one on, the conversation holds, and bytes
// their size.
func (t *turn) presentDocument(p *chat.Part, newest int, bytes int64) string {
	asText := !t.model.Files || newest > maxDocuments || bytes > maxDocumentBytes
	if asText && p.Text != "" {
		return ""
	}
	if asText {
		return p.Instead("its content is not shown to you")
	}
	data, err := t.a.d.Sessions.Content(p.Blob)
	if err == nil && int64(len(data)) != p.Size {
		err = errors.New("it is not of the size that it was kept with")
	}
	if err != nil {
		return p.Instead("it cannot be shown: "+err.Error()) + "\n" + p.Text
	}
	p.Data = data
	return ""
}

// documentsIn counts the documents of a conversation and their bytes.
func documentsIn(messages []chat.Message) (n int, bytes int64) {
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.IsDocument() {
				n, bytes = n+1, bytes+p.Size
			}
		}
	}
	return n, bytes
}
