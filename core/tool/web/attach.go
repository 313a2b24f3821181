package web

import (
	"context"
	"strings"

	"hermes/core/chat"
	"hermes/core/tool"
)

// Attach reads the page that a person names in a message, by the rules of web_extract, as a part of
// that message. What a page says is a stranger's word, and the part says so; a page that cannot be
// read becomes a part that says why.
func (w *Web) Attach(ctx context.Context, session, raw string) chat.Part {
	p := w.readPage(ctx, raw)
	part := chat.Part{Kind: chat.PartResource, Name: p.URL, Media: "text/markdown", URI: p.URL, Foreign: true}
	if p.Error != "" {
		part.Text = "[the page could not be read: " + p.Error + "]"
		return part
	}
	w.cutContent(p, tool.Call{Session: session, Has: func(string) bool { return false }}, w.o.CharLimit)
	lines := []string{"[" + strangers + "]"}
	if p.Final != "" {
		lines = append(lines, "[redirects led to "+p.Final+"]")
	}
	for _, why := range p.Warnings {
		lines = append(lines, "[warning: "+why+"]")
	}
	if p.Title != "" {
		lines = append(lines, "# "+p.Title)
	}
	part.Text = tool.CutText(strings.Join(append(lines, p.Content), "\n\n"), w.o.Budget).Head
	return part
}
