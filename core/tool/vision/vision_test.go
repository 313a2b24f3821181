package vision_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/tool"
	"hermes/core/tool/file"
	"hermes/core/tool/vision"
)

func aPNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 9, 9))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An image comes from a file, the web or the conversation; what is none, or cannot be had, is said
// to the model.
func TestWhereImagesComeFrom(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"a.png": aPNG(t), "notes.png": []byte("text")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(_ context.Context, _, handle string) (chat.Part, error) {
		if handle != "sha256:111111111111" {
			return chat.Part{}, errors.New("nothing is kept under this handle")
		}
		return chat.Part{Kind: chat.PartImage, Name: "kept.png", Blob: strings.Repeat("1", 64)}, nil
	}
	var asked chat.Part
	looks := vision.Analyze(vision.Options{
		See: func(_ context.Context, _ string, p chat.Part, q string) (string, string, error) {
			asked = p
			return "It shows " + q, "lab/eyes", nil
		},
		File: file.New(file.Options{Kept: kept}).Image,
		Fetch: func(_ context.Context, url string) ([]byte, error) {
			if strings.HasSuffix(url, "page") {
				return []byte("<html>"), nil
			}
			return aPNG(t), nil
		},
	})
	for ref, want := range map[string]string{
		"a.png": `What lab/eyes sees in image "a.png"`, filepath.Join(dir, "a.png"): "sees", "https://x.test/pic/b.png?w=1": `"b.png"`,
		"sha256:111111111111": "sees", "sha256:222222222222": "nothing is kept", "none.png": "no such file", "notes.png": "it is no image",
		"https://x.test/page": "it is no image",
	} {
		args, err := json.Marshal(map[string]string{"image_url": ref, "question": "what?"})
		if err != nil {
			t.Fatal(err)
		}
		asked = chat.Part{}
		res, err := looks.Run(context.Background(), tool.Call{Session: "s", Cwd: dir, Args: args})
		if err != nil || !strings.Contains(res.Text, want) || res.IsError == (asked.Name != "") {
			t.Errorf("%s: %+v, %v", ref, res, err)
		}
	}
	in := looks.Spec().Means(json.RawMessage(`{"image_url":"a.png","question":"x"}`))
	if !in.Reads || len(in.Paths) != 1 || in.Paths[0] != "a.png" {
		t.Errorf("%+v", in)
	}
}
