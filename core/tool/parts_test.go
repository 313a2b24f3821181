package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/testskip"
)

// gives is a foreign tool that answers with parts as they come.
type gives struct{ parts []chat.Part }

func (gives) Spec() Spec {
	return Spec{Name: "gives", Toolset: "terminal", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (g gives) Run(context.Context, Call) (Result, error) {
	return Result{Text: strings.Repeat("word ", 20_000), Parts: g.parts}, nil
}

// Whatever a tool gives: images are made fit, what is none is said, and all of it together keeps to
// the budget.
func TestPartsOfResultsAreMadeFitAndCounted(t *testing.T) {
	testskip.WithoutRace(t, "it makes large images small")
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3000, 3000))); err != nil {
		t.Fatal(err)
	}
	large := chat.Part{Kind: chat.PartImage, Name: "large\x00", Media: "text/html", Data: b.Bytes()}
	parts := []chat.Part{large, {Kind: chat.PartImage, Name: "page", Data: []byte("<html>")}, large, large, large}
	r, err := NewRegistry(gives{parts})
	if err != nil {
		t.Fatal(err)
	}
	res := r.Run(context.Background(), "gives", Call{ID: "1", Args: json.RawMessage(`{}`)})
	if len(res.Parts) != 3 {
		t.Fatalf("%d parts are left of %d", len(res.Parts), len(parts))
	}
	if p := res.Parts[0]; p.Width != 1568 || p.Media != "image/png" || p.Name != "large\uFFFD" {
		t.Errorf("the image became %s", p.Describe())
	}
	if p := res.Parts[1]; p.Kind != chat.PartFile || p.Data != nil || !strings.Contains(p.Text, "cannot be shown") {
		t.Errorf("the page became %+v", p)
	}
	cost := len([]rune(res.Text))
	for _, p := range res.Parts {
		cost += 4 * p.Tokens()
	}
	if cost > DefaultMaxResult || !strings.Contains(res.Text, "the result would be too large") {
		t.Errorf("it takes %d characters: %.200s", cost, res.Text)
	}
}
