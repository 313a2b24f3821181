package tool

import (
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/content"
	"hermes/core/secret"
)

// cleanParts makes what a tool gave beside its text fit for a model and the store: images
// normalised, texts without secrets.
func cleanParts(parts []chat.Part) []chat.Part {
	var out []chat.Part
	for _, p := range parts {
		p.Name, p.URI, p.Text = cleanText(secret.Clean(p.Name)), cleanText(secret.Clean(p.URI)), secret.Text(cleanText(p.Text))
		if p.Kind == chat.PartImage && p.Data != nil {
			fit, err := content.Image(p.Name, p.Data)
			if err != nil { // it stays visible that there was something
				fit = chat.Part{Kind: chat.PartFile, Name: p.Name, Media: p.Media, Text: "[the image cannot be shown: " + err.Error() + "]"}
			}
			fit.Path, fit.URI = p.Path, p.URI
			p = fit
		}
		out = append(out, p)
	}
	return out
}

// fitParts keeps the parts that the budget of limit characters has room for, a line in the place of
// the others, and returns the room that they leave to the text: a quarter at least.
func fitParts(out *chat.ToolResult, limit int) int {
	const perToken = 4 // characters
	room, kept := limit*3/4, 0
	m := chat.Message{Result: out}.Reduce(func(p *chat.Part) string {
		cost := utf8.RuneCountInString(p.Text)
		if p.Text == "" {
			cost = perToken * p.Tokens()
		}
		if cost > room || kept == chat.MaxParts {
			return p.Instead("left out, because the result would be too large")
		}
		room, kept = room-cost, kept+1
		return ""
	})
	*out = *m.Result
	return limit - (limit*3/4 - room)
}
