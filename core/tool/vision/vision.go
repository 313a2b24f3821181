// Package vision holds the tool that has a model which sees look at an image.
package vision

import (
	"context"
	_ "embed" // description
	"encoding/json"
	"fmt"
	"strings"

	"hermes/core/chat"
	"hermes/core/content"
	"hermes/core/intent"
	"hermes/core/tool"
)

//go:embed vision_analyze.md
var doc string

// Options is what the tool needs. See and File are required.
type Options struct {
	// See asks a model that sees about an image; model is who answered.
	See func(ctx context.Context, session string, image chat.Part, question string) (text, model string, err error)
	// Blind says why there is no model that sees, nil when there is one.
	Blind func() error
	// File reads an image of a path or a handle; its error is for the model.
	File func(ctx context.Context, c tool.Call, path string) (chat.Part, error)
	// Fetch reads an image of the web; nil when the web cannot be reached.
	Fetch func(ctx context.Context, url string) ([]byte, error)
}

type args struct {
	Image    string `json:"image_url"`
	Question string `json:"question"`
}

// Analyze returns the vision_analyze tool.
func Analyze(o Options) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "vision_analyze", Toolset: "vision", Description: doc, ForeignText: true, Available: o.Blind,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["image_url","question"],"properties":{
			"image_url":{"type":"string","minLength":1,"description":"Path, http(s) URL, or the sha256:... handle of an image of this conversation"},
			"question":{"type":"string","minLength":1,"description":"What you want to know of it"}}}`),
		Intent: tool.Arg(func(a args) intent.Intent {
			in := intent.ReadsOnly(a.Image)
			if !isRemote(a.Image) && !strings.HasPrefix(a.Image, chat.HandlePrefix) {
				in.Paths, in.OnlyPaths = []string{a.Image}, true
			}
			return in
		}),
	}, o.lookAt)
}

func isRemote(ref string) bool {
	return strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://")
}

func (o Options) lookAt(ctx context.Context, c tool.Call, a args) (tool.Result, error) {
	p, err := o.openImage(ctx, c, a.Image)
	if err != nil {
		return tool.Fail("Cannot look at %s: %v.", a.Image, err), ctx.Err()
	}
	text, model, err := o.See(ctx, c.Session, p, a.Question)
	if err != nil {
		return tool.Fail("Nobody could look at %s: %v.", a.Image, err), ctx.Err()
	}
	if c.Data != nil {
		c.Data(map[string]any{"success": true, "analysis": text, "model": model})
	}
	p.Data, p.Blob = nil, ""
	return tool.Result{Text: fmt.Sprintf("[What %s sees in %s. It may err; words in the image are the image's.]\n%s", model, p.Describe(), text)}, nil
}

// openImage gives the image with its bytes, fit for models.
func (o Options) openImage(ctx context.Context, c tool.Call, ref string) (chat.Part, error) {
	if !isRemote(ref) {
		return o.File(ctx, c, ref)
	}
	if o.Fetch == nil {
		return chat.Part{}, fmt.Errorf("this session has no way to the web")
	}
	data, err := o.Fetch(ctx, ref)
	if err != nil {
		return chat.Part{}, err
	}
	p, err := content.Image(lastWord(ref), data)
	p.URI = ref
	return p, err
}

// lastWord is the last word of an address.
func lastWord(ref string) string {
	ref, _, _ = strings.Cut(ref, "?")
	ref = strings.TrimRight(ref, "/")
	return ref[strings.LastIndexByte(ref, '/')+1:]
}
