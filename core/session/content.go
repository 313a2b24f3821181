package session

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"hermes/core/chat"
	"hermes/core/content"
)

// KeepParts stores what parts that came in hold as data, before a message of session uid names it.
// What cannot be kept becomes a text that says why: a message is never lost for what it carries.
func (s *Service) KeepParts(ctx context.Context, uid string, parts []chat.Part) []chat.Part {
	var out []chat.Part
	for i, p := range parts {
		if i == chat.MaxParts {
			text := fmt.Sprintf("[%d more were left out: a message carries %d at most]", len(parts)-i, chat.MaxParts)
			return append(out, chat.Part{Kind: chat.PartFile, Name: "more", Text: text})
		}
		if p.Data != nil {
			hash, err := s.st.KeepContent(ctx, uid, p.Data)
			if err == nil {
				p.Blob, p.Size = hash, int64(len(p.Data))
			} else {
				p.Kind, p.Text = chat.PartFile, "["+string(p.Kind)+", not kept: "+err.Error()+"]"
			}
			p.Data = nil
		}
		out = append(out, p)
	}
	return out
}

// Content returns what a part holds, checked. Its error is for people and models.
func (s *Service) Content(blob string) ([]byte, error) { return s.st.Content(blob) }

// ContentPath is the file that holds a part's content, "" when it has none.
func (s *Service) ContentPath(blob string) string { return s.st.ContentPath(blob) }

// Kept finds what session uid keeps by its handle, see chat.Part.Handle: an image, or a document,
// which comes with its bytes.
func (s *Service) Kept(ctx context.Context, uid, handle string) (chat.Part, error) {
	blob, err := s.st.FindContent(ctx, uid, strings.TrimPrefix(handle, chat.HandlePrefix))
	if err != nil {
		return chat.Part{}, err
	}
	data, err := s.st.Content(blob)
	if err != nil {
		return chat.Part{}, err
	}
	if http.DetectContentType(data) == chat.PDF {
		return chat.Part{Kind: chat.PartFile, Name: handle, Media: chat.PDF, Blob: blob, Size: int64(len(data)), Data: data}, nil
	}
	return content.Stored(handle, blob, data)
}
