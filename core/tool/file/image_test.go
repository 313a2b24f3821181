package file

import (
	"context"
	"errors"
	"testing"

	"hermes/core/chat"
	"hermes/core/tool"
)

// read_file takes the handle of an image that the session keeps in the place of a path, and asks
// for that session only.
func TestReadOfAKeptImage(t *testing.T) {
	w := New(Options{Image: func(_ context.Context, session, handle string) (chat.Part, error) {
		if session != "s" || handle != "sha256:abc" {
			return chat.Part{}, errors.New("not found")
		}
		return chat.Part{Kind: chat.PartImage, Name: handle, Blob: "b"}, nil
	}})
	for path, want := range map[string]int{"sha256:abc": 1, "sha256:other": 0} {
		res, err := w.read(context.Background(), tool.Call{Session: "s", Cwd: t.TempDir()}, readArgs{Path: path})
		if err != nil || len(res.Parts) != want || res.IsError != (want == 0) {
			t.Errorf("%s: %+v, %v", path, res, err)
		}
	}
}
