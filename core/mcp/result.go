package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/chat"
	"hermes/core/clip"
	"hermes/core/content"
	"hermes/core/tool"
)

// resultOf is what the model is given of a server's answer: texts joined, images and other content
// as parts, links listed and never fetched. Rows beyond the settings' are cut, and that is said.
func (t *remote) resultOf(res *sdk.CallToolResult) tool.Result {
	out := tool.Result{IsError: res.IsError}
	var texts []string
	var said bool
	for _, c := range res.Content {
		text, part := t.contentOf(c)
		if _, is := c.(*sdk.TextContent); is {
			said = true
		}
		if text != "" {
			texts = append(texts, text)
		}
		if part != nil {
			out.Parts = append(out.Parts, *part)
		}
	}
	if !said && res.StructuredContent != nil {
		if data, err := json.Marshal(res.StructuredContent); err == nil {
			texts = append(texts, t.cutRows(string(data)))
		}
	}
	out.Text = strings.Join(texts, "\n")
	if out.Text == "" && len(out.Parts) == 0 {
		out.Text = "[the tool ended without a result]"
	}
	return out
}

// findMisfit says how a result breaks the schema that the tool declares for it; "" is not at all. A
// failure has no form.
func (t *remote) findMisfit(res *sdk.CallToolResult) string {
	schema := t.gives()
	switch {
	case schema == nil || res.IsError:
		return ""
	case res.StructuredContent == nil:
		return "it declares data and gave none"
	}
	if err := schema.Validate(res.StructuredContent); err != nil {
		return clip.Runes(plainText(err.Error()), 300, "…")
	}
	return ""
}

// contentOf is one piece of a result as text, as a part, or both.
func (t *remote) contentOf(c sdk.Content) (string, *chat.Part) {
	name := t.set.Name + " " + t.def.Name
	switch c := c.(type) {
	case *sdk.TextContent:
		return t.cutRows(plainText(c.Text)), nil
	case *sdk.ImageContent:
		if content.IsImage(c.Data) {
			return "", &chat.Part{Kind: chat.PartImage, Name: name, Media: c.MIMEType, Data: c.Data}
		}
		return "", &chat.Part{Kind: chat.PartFile, Name: name, Media: c.MIMEType, Data: c.Data}
	case *sdk.AudioContent:
		return "", &chat.Part{Kind: chat.PartFile, Name: name + " (audio)", Media: c.MIMEType, Data: c.Data}
	case *sdk.ResourceLink:
		return linkLine(c), nil
	case *sdk.EmbeddedResource:
		return "", resourcePart(c.Resource)
	default:
		return fmt.Sprintf("[a piece of the result of a kind that is not known here: %T]", c), nil
	}
}

// linkLine names a resource that the server points to. Nobody fetches it by itself.
func linkLine(l *sdk.ResourceLink) string {
	words := []string{"resource " + plainText(l.URI)}
	for _, w := range []string{l.Title, l.Name, l.MIMEType, l.Description} {
		if w != "" {
			words = append(words, clip.Runes(plainText(w), 200, "…"))
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// resourcePart is the content of a resource.
func resourcePart(r *sdk.ResourceContents) *chat.Part {
	if r == nil {
		return nil
	}
	name := r.URI
	if i := strings.LastIndexByte(strings.TrimRight(name, "/"), '/'); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	p := &chat.Part{Kind: chat.PartResource, Name: plainText(name), URI: plainText(r.URI), Media: r.MIMEType, Foreign: true}
	switch {
	case r.Blob != nil && content.IsImage(r.Blob):
		p.Kind, p.Data = chat.PartImage, r.Blob
	case r.Blob != nil:
		p.Kind, p.Data = chat.PartFile, r.Blob
	default:
		p.Text = plainText(r.Text)
	}
	return p
}

// cutRows cuts a text to the rows that the settings allow. A list of JSON has elements as rows, an
// object the elements of its lists, any other text its lines.
func (t *remote) cutRows(text string) string {
	most := t.set.Permissions.MaxRows
	if most <= 0 {
		return text
	}
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{") {
		if cut, left, ok := cutJSON([]byte(trimmed), most); ok {
			if left == 0 {
				return text
			}
			return string(cut) + rowsNote(most, left)
		}
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "") + rowsNote(most, len(lines)-most)
}

func rowsNote(most, left int) string {
	return fmt.Sprintf("\n[%d more rows were cut: the person's settings allow %d (max_rows). Ask for fewer, or for a count.]", left, most)
}

// cutJSON cuts a list, or the lists of an object, to most elements, and says how many are gone.
// Numbers stay as they are written.
func cutJSON(data []byte, most int) (out []byte, left int, ok bool) {
	if data[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			return nil, 0, false
		}
		if len(list) <= most {
			return data, 0, true
		}
		out, err := json.Marshal(list[:most])
		return out, len(list) - most, err == nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return nil, 0, false
	}
	for key, v := range object {
		if v = bytes.TrimSpace(v); len(v) == 0 || v[0] != '[' {
			continue
		}
		cut, gone, ok := cutJSON(v, most)
		if !ok {
			return nil, 0, false
		}
		if gone > 0 {
			object[key], left = cut, left+gone
		}
	}
	if left == 0 {
		return data, 0, true
	}
	out, err := json.Marshal(object)
	return out, left, err == nil
}

// asData is a result for a program: what the server gave as data, else its text.
func asData(res *sdk.CallToolResult, text string) any {
	if m, ok := res.StructuredContent.(map[string]any); ok {
		return m
	}
	if res.StructuredContent != nil {
		return map[string]any{"result": res.StructuredContent}
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		if m, ok := v.(map[string]any); ok {
			return m
		}
		return map[string]any{"result": v}
	}
	return map[string]any{"result": text}
}
