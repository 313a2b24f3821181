package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"hermes/core/chat"
	"hermes/core/provider"
)

func (p *Provider) tools(r provider.Request) ([]sdk.ChatCompletionToolUnionParam, error) {
	out := make([]sdk.ChatCompletionToolUnionParam, 0, len(r.Tools))
	for _, t := range r.Tools {
		var schema shared.FunctionParameters
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return nil, &provider.Error{
				Class: provider.ClassFormat, Provider: p.Name(), Model: r.Model, Err: err,
				Message: fmt.Sprintf("the schema of the tool %q is not a JSON object", t.Name), Hint: "switch its toolset off",
			}
		}
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: schema}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		out = append(out, sdk.ChatCompletionFunctionTool(f))
	}
	return out, nil
}

// messages converts a conversation. Whatever the history looks like, the result keeps the rules of the wire format.
func (p *Provider) messages(system string, in []chat.Message) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	if system != "" {
		out = append(out, sdk.SystemMessage(system))
	}
	in = mend(in)
	turn := turnStart(in)
	for i, m := range in {
		switch m.Role {
		case chat.RoleSystem:
			out = append(out, sdk.SystemMessage(m.Text))
		case chat.RoleUser:
			out = append(out, user(m))
		case chat.RoleAssistant:
			thinking := i >= turn && !p.noThoughts.Load() && wantsThoughts(m, p.Name())
			out = append(out, assistant(m, thinking))
		case chat.RoleTool:
			out = append(out, sdk.ToolMessage(resultText(m.Result), m.Result.CallID))
		}
	}
	return out
}

func assistant(m chat.Message, thinking bool) sdk.ChatCompletionMessageParamUnion {
	a := &sdk.ChatCompletionAssistantMessageParam{}
	if m.Text != "" {
		a.Content.OfString = param.NewOpt(m.Text)
	}
	if thinking {
		a.SetExtraFields(map[string]any{"reasoning_content": m.Reasoning})
	}
	for _, c := range m.Calls {
		f := &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID:       c.ID,
			Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: arguments(c)},
		}
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: f})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: a}
}

// arguments is always a JSON object: some servers parse the arguments of old calls, and one broken call in the history
// would make every later request fail.
func arguments(c chat.ToolCall) string {
	var o map[string]json.RawMessage
	if c.Invalid == "" && json.Unmarshal(c.Args, &o) == nil && o != nil {
		return string(c.Args)
	}
	raw := c.Invalid
	if raw == "" {
		raw = string(c.Args)
	}
	if strings.TrimSpace(raw) == "" || raw == "null" {
		return "{}"
	}
	b, err := json.Marshal(map[string]string{"_invalid_json": raw})
	if err != nil {
		return "{}"
	}
	return string(b)
}

func resultText(r *chat.ToolResult) string {
	switch {
	case strings.TrimSpace(r.Text) != "":
		return r.Text
	case r.Interrupted:
		return "(interrupted: the call did not finish)"
	default:
		return "(no output)"
	}
}

func user(m chat.Message) sdk.ChatCompletionMessageParamUnion {
	text := userText(m)
	var images []sdk.ChatCompletionContentPartUnionParam
	for _, a := range m.Attachments {
		if a.Kind == chat.AttachImage {
			images = append(images, image(a))
		}
	}
	if images == nil {
		return sdk.UserMessage(text)
	}
	return sdk.UserMessage(append([]sdk.ChatCompletionContentPartUnionParam{sdk.TextContentPart(text)}, images...))
}

// userText is the text with pasted blocks and files after it.
func userText(m chat.Message) string {
	var b strings.Builder
	b.WriteString(m.Text)
	for _, a := range m.Attachments {
		if a.Kind == chat.AttachImage {
			continue
		}
		fmt.Fprintf(&b, "\n\n<attachment name=%q>\n%s\n</attachment>", a.Name, a.Text)
	}
	if text := strings.TrimLeft(b.String(), "\n"); strings.TrimSpace(text) != "" {
		return text
	}
	return "(an empty message)"
}

// maxImage bounds an image that is sent, in bytes.
const maxImage = 20 << 20

// image is the picture as a data URL, or a sentence that says why it is not there.
func image(a chat.Attachment) sdk.ChatCompletionContentPartUnionParam {
	data, err := readImage(a.Path)
	if err != nil {
		return sdk.TextContentPart(fmt.Sprintf("[the image %q cannot be sent: %v]", a.Name, err))
	}
	media := a.Media
	if media == "" {
		media = http.DetectContentType(data)
	}
	if !strings.HasPrefix(media, "image/") {
		return sdk.TextContentPart(fmt.Sprintf("[the file %q cannot be sent: it is %s, not an image]", a.Name, media))
	}
	return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
		URL: "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data),
	})
}

func readImage(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxImage+1))
	if err == nil && len(data) > maxImage {
		err = fmt.Errorf("it is larger than %d MB", maxImage>>20)
	}
	return data, err
}
