package file

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/tool"
)

// read_file takes the handle of an image or a document that the session keeps in the place of a
// path, and asks for that session only.
func TestReadOfWhatIsKept(t *testing.T) {
	w := New(Options{Kept: func(_ context.Context, session, handle string) (chat.Part, error) {
		if handle == "sha256:pdf" {
			return chat.Part{Kind: chat.PartFile, Media: chat.PDF, Blob: "d", Text: "one\ntwo\nthree"}, nil
		}
		if session != "s" || handle != "sha256:abc" {
			return chat.Part{}, errors.New("not found")
		}
		return chat.Part{Kind: chat.PartImage, Name: handle, Blob: "b"}, nil
	}})
	for path, want := range map[string]int{"sha256:abc": 1, "sha256:other": 0} {
		res, err := w.readFile(context.Background(), tool.Call{Session: "s", Cwd: t.TempDir()}, readArgs{Path: path})
		if err != nil || len(res.Parts) != want || res.IsError != (want == 0) {
			t.Errorf("%s: %+v, %v", path, res, err)
		}
	}
	res, err := w.readFile(context.Background(), tool.Call{Session: "s"}, readArgs{Path: "sha256:pdf", Offset: 2, Limit: 1})
	if err != nil || res.IsError || !strings.HasPrefix(res.Text, "2|two\n") || len(res.Parts) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := w.Image(context.Background(), tool.Call{Session: "s"}, "sha256:pdf"); err == nil {
		t.Error("a document was taken for an image")
	}
}
