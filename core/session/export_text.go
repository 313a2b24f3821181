package session

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"hermes/core/chat"
)

// writeMarkdown writes a session to be read. Tool output is fenced so that nothing in it can end
// the fence.
func writeMarkdown(w io.Writer, x file) error {
	var b strings.Builder
	title := x.Session.Title
	if title == "" {
		title = x.Session.UID
	}
	fmt.Fprintf(&b, "# %s\n\n- id: `%s`\n- started: %s\n", title, x.Session.UID, x.Session.Started.Format("2006-01-02 15:04"))
	if x.Session.Model != "" {
		fmt.Fprintf(&b, "- model: %s\n", x.Session.Model)
	}
	if x.Session.Cwd != "" {
		fmt.Fprintf(&b, "- folder: `%s`\n", x.Session.Cwd)
	}
	shown := map[string]bool{}
	for _, m := range x.visibleMessages() {
		markdownMessage(&b, &m)
		m.EachPart(func(p *chat.Part) { markdownPart(&b, p, x.Contents[p.Blob]) })
		m.EachPart(func(p *chat.Part) { shown[p.Blob] = p.Kind == chat.PartImage && x.Contents[p.Blob] != nil })
	}
	for _, blob := range slices.Sorted(maps.Keys(shown)) {
		if shown[blob] {
			fmt.Fprintf(&b, "\n[%s]: data:%s;base64,%s\n", blob[:linkDigits], http.DetectContentType(x.Contents[blob]),
				base64.StdEncoding.EncodeToString(x.Contents[blob]))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownMessage(b *strings.Builder, m *chat.Message) {
	switch m.Role {
	case chat.RoleUser:
		b.WriteString("\n## " + headingLine(m.From.Words()) + "\n\n")
	case chat.RoleAssistant:
		b.WriteString("\n## Assistant\n\n")
	case chat.RoleSystem:
		b.WriteString("\n## System\n\n")
	case chat.RoleTool:
	}
	if m.Reasoning != "" {
		b.WriteString("<details><summary>Reasoning</summary>\n\n" + strings.TrimSpace(m.Reasoning) + "\n\n</details>\n\n")
	}
	if text := strings.TrimSpace(m.Text); text != "" {
		b.WriteString(text + "\n")
	}
	for _, c := range m.Calls {
		fmt.Fprintf(b, "\n**%s**\n\n%s", c.Name, fencedBlock(string(c.Args)+c.Invalid, "json"))
	}
	if r := m.Result; r != nil {
		fmt.Fprintf(b, "\nResult of **%s**%s\n\n%s", r.Name, resultNote(r), fencedBlock(r.Text, ""))
	}
	if m.Status == chat.StatusCancelled || m.Status == chat.StatusError {
		fmt.Fprintf(b, "\n*(%s)*\n", m.Status)
	}
}

// headingLine is a name that somebody else chose, as one line without marks.
func headingLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' || strings.ContainsRune("`*_#[]<>|\\", r) {
			return -1
		}
		return r
	}, s)
}

// linkDigits of a content's name are enough for a link within a file.
const linkDigits = 16

// markdownPart writes what a message carries: an image as a link to the end of the file, a text in
// full.
func markdownPart(b *strings.Builder, p *chat.Part, content []byte) {
	switch words := strings.NewReplacer("[", "(", "]", ")").Replace(p.Describe()); {
	case p.Kind == chat.PartImage && content != nil:
		fmt.Fprintf(b, "\n![%s][%s]\n", words, p.Blob[:linkDigits])
	case p.Binary():
		fmt.Fprintf(b, "\nAttached: %s\n", words)
	default:
		fmt.Fprintf(b, "\nAttached: %s\n", p.Name)
	}
	if p.Text != "" {
		b.WriteString("\n" + fencedBlock(p.Text, ""))
	}
}

func resultNote(r *chat.ToolResult) string {
	switch {
	case r.Interrupted:
		return " (interrupted)"
	case r.ExitCode != nil && *r.ExitCode != 0:
		return fmt.Sprintf(" (exit code %d)", *r.ExitCode)
	case r.IsError:
		return " (error)"
	default:
		return ""
	}
}

// fencedBlock puts text in a fence that is longer than any run of backticks in it.
func fencedBlock(text, lang string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + lang + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// The ShareGPT form: system, human, gpt and tool turns. Every gpt turn starts with a think block,
// empty or not; calls and responses are JSON inside XML tags.
type shareGPT struct {
	ID            string        `json:"id"`
	Model         string        `json:"model,omitempty"`
	Conversations []shareGPTMsg `json:"conversations"`
}

type shareGPTMsg struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

func writeShareGPT(w io.Writer, x file) error {
	out := shareGPT{ID: x.Session.UID, Model: x.Session.Model, Conversations: []shareGPTMsg{}}
	add := func(from, value string) {
		last := len(out.Conversations) - 1
		if from == "tool" && last >= 0 && out.Conversations[last].From == "tool" { // answers to parallel calls are one turn
			out.Conversations[last].Value += "\n" + value
			return
		}
		out.Conversations = append(out.Conversations, shareGPTMsg{from, value})
	}
	if x.Prompt != "" {
		add("system", x.Prompt)
	}
	for _, m := range x.visibleMessages() {
		m = describeParts(m)
		if err := addTurn(add, &m); err != nil {
			return err
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func addTurn(add func(from, value string), m *chat.Message) error {
	switch m.Role {
	case chat.RoleSystem:
		add("system", m.Text)
	case chat.RoleUser:
		if m.From.Other() {
			m.Text = "[" + m.From.Words() + "]\n" + m.Text
		}
		add("human", m.Text)
	case chat.RoleAssistant:
		value := "<think>\n" + strings.TrimSpace(m.Reasoning) + "\n</think>\n" + m.Text
		for _, c := range m.Calls {
			args := c.Args
			if !json.Valid(args) {
				args, _ = json.Marshal(string(c.Args) + c.Invalid) // a string marshals
			}
			tag, err := wrapInTag("tool_call", map[string]any{"name": c.Name, "arguments": args})
			if err != nil {
				return err
			}
			value += "\n" + tag
		}
		add("gpt", value)
	case chat.RoleTool:
		if m.Result == nil {
			return nil
		}
		tag, err := wrapInTag("tool_response", map[string]any{"tool_call_id": m.Result.CallID, "name": m.Result.Name, "content": m.Result.Text})
		if err != nil {
			return err
		}
		add("tool", tag)
	}
	return nil
}

func wrapInTag(tag string, v any) (string, error) {
	var b strings.Builder
	b.WriteString("<" + tag + ">\n")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return b.String() + "</" + tag + ">", nil
}

// describeParts returns m with its parts as text.
func describeParts(m chat.Message) chat.Message {
	return m.Reduce(func(p *chat.Part) string {
		if p.Text != "" {
			return "\n" + p.Name + ":\n" + p.Text
		}
		return "[" + p.Describe() + "]"
	})
}
