package conversation

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/text"
)

// drawPart draws a part on a line: what it is called, and of an image or a file what it is. Opened,
// the file that holds it stands below.
func (e *env) drawPart(p chat.Part, w int, open bool) []string {
	words := p.Name
	if p.Binary() || p.URI != "" {
		words = strings.Join(append([]string{p.Name}, p.Facts()...), " · ")
	}
	out := []string{e.s.Chip.Render("[" + text.Truncate(oneLine(words), max(1, w-2), e.s.Glyphs.Ellipsis) + "]")}
	path := p.Path
	if e.contentPath != nil && p.Blob != "" {
		path = e.contentPath(p.Blob)
	}
	if open && p.Binary() && path != "" {
		for _, l := range text.Wrap(oneLine(path), w) { // whole: it is there to be copied
			out = append(out, e.s.Dim.Render(l))
		}
	}
	return out
}

// droppedMsg brings the image of a path that was pasted.
type droppedMsg struct {
	part  chat.Part
	err   error
	paste tea.KeyMsg
}

// dropFile attaches the image whose file was dropped on the terminal, which pastes its path. ok is
// false for any other paste.
func (p *Pane) dropFile(k tea.KeyMsg) (cmd tea.Cmd, ok bool) {
	if p.deps.Files == nil || !k.Paste {
		return nil, false
	}
	if len(k.Runes) == 0 { // some terminals paste nothing when an image is in the clipboard
		return p.pasteImage(), true
	}
	path, ok := p.deps.Files.Dropped(string(k.Runes))
	if !ok {
		return nil, false
	}
	files := p.deps.Files
	return withTimeout(func(ctx context.Context) tea.Msg {
		part, err := files.Load(ctx, "", path)
		return droppedMsg{part, err, k}
	}), true
}

// takeDropped puts the image into the line; a path that leads to none stays text.
func (p *Pane) takeDropped(m droppedMsg) tea.Cmd {
	if m.err == nil {
		p.composer.Attach(m.part)
		return nil
	}
	p.composer.Key(m.paste)
	if errors.Is(m.err, fs.ErrNotExist) {
		return nil
	}
	return showToast(event.Warn, oneLine(m.err.Error()), "the path stays as text")
}

// attachedMsg brings what a person asked to attach.
type attachedMsg struct {
	part chat.Part
	err  error
}

// pasteImage attaches the image of the clipboard.
func (p *Pane) pasteImage() tea.Cmd {
	files := p.deps.Files
	return withTimeout(func(ctx context.Context) tea.Msg {
		part, err := files.Clipboard(ctx)
		return attachedMsg{part, err}
	})
}

// attachFile attaches a file by its path.
func (p *Pane) attachFile(path string) tea.Cmd {
	path = strings.TrimSpace(path)
	if path == "" {
		return showToast(event.Warn, "Name the file: /attach chart.png", "")
	}
	if unquoted, ok := p.deps.Files.Dropped(path); ok {
		path = unquoted
	}
	deps, session := p.deps, p.session
	return withTimeout(func(ctx context.Context) tea.Msg {
		cwd := ""
		if deps.Cwd != nil { // it may ask the store
			cwd = deps.Cwd(session)
		}
		part, err := deps.Files.Load(ctx, cwd, path)
		return attachedMsg{part, err}
	})
}

func (p *Pane) takeAttached(m attachedMsg) tea.Cmd {
	if m.err != nil {
		return showToast(event.Warn, oneLine(m.err.Error()), "")
	}
	p.composer.Attach(m.part)
	return nil
}

// pictureOf is the first image of an item; nil when it has none.
func pictureOf(it item) *chat.Part {
	var parts []chat.Part
	switch it := it.(type) {
	case *prompt:
		parts = it.pieces
	case *call:
		if it.result != nil {
			parts = it.result.Parts
		}
	}
	for i := range parts {
		if parts[i].Kind == chat.PartImage {
			return &parts[i]
		}
	}
	return nil
}

// showPicture gives the terminal to what shows the image of the selected item.
func (p *Pane) showPicture() tea.Cmd {
	part := pictureOf(p.itemAt(p.selected))
	if part == nil {
		return showToast(event.Info, "There is no picture in this item", "")
	}
	path := part.Path
	if p.env.contentPath != nil && part.Blob != "" {
		path = p.env.contentPath(part.Blob)
	}
	cmd := p.deps.Picture(path)
	return func() tea.Msg {
		return ui.RunProcess{Cmd: cmd, Done: func(err error) tea.Msg {
			if err == nil {
				return nil
			}
			return ui.ShowToast{Level: event.Error, Text: "The picture could not be shown: " + oneLine(err.Error())}
		}}
	}
}
