package conversation

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/ui"
)

func TestADroppedImageIsAttached(t *testing.T) {
	w := &world{}
	p := open(t, w)
	drop := func(path string) {
		k := keyMsg(path)
		k.Paste = true
		drain(p, p.Update(k))
	}
	drop("/a.png")
	if parts := p.composer.Parts(); len(parts) != 1 || parts[0].Width != 4 || p.composer.Text() != "" {
		t.Errorf("attached %+v beside %q", parts, p.composer.Text())
	}
	w.fail = errors.New("it is too large")
	drop("/b.png")
	if p.composer.Text() != "/b.png" || len(p.composer.Parts()) != 1 {
		t.Errorf("a path that leads to no image became %q", p.composer.Text())
	}
	drop(" and more")
	if p.composer.Text() != "/b.png and more" {
		t.Errorf("a plain paste became %q", p.composer.Text())
	}
}

// The image of the clipboard, and a file that is named, are attached beside what is attached
// already.
func TestWhatIsAskedForIsAttached(t *testing.T) {
	w := &world{}
	p := open(t, w)
	run := func(id, arg string) {
		for _, a := range p.Actions() {
			if a.ID == id {
				drain(p, a.Run(arg))
			}
		}
	}
	run("conversation.paste", "")
	run("conversation.attach", " '/tmp/a b.png' ")
	empty := keyMsg("")
	empty.Paste, empty.Runes = true, nil
	drain(p, p.Update(empty))
	if parts := p.composer.Parts(); len(parts) != 3 || parts[0].Name != "pasted.png" || parts[2].Name != "pasted.png" {
		t.Errorf("attached %+v", parts)
	}
	w.fail = errors.New("there is no image")
	run("conversation.paste", "")
	run("conversation.attach", "")
	if n := len(p.composer.Parts()); n != 3 {
		t.Errorf("%d parts after failures", n)
	}
	if !isAttachCommand("/attach x.png") || !isAttachCommand("/paste") || isAttachCommand("/undo") {
		t.Error("commands that attach are told apart wrongly")
	}
}

func TestPartsAreCardsThatTellTheirFile(t *testing.T) {
	part := chat.Part{Kind: chat.PartImage, Name: "chart\x1b[2J.png", Media: "image/png", Width: 1568, Height: 784, Size: 21_000, Blob: strings.Repeat("a", 64)}
	m := user(1, "look")
	m.Parts = []chat.Part{part}
	calls := chat.Message{ID: 2, Seq: 2, Role: chat.RoleAssistant, Status: chat.StatusFinal, Calls: []chat.ToolCall{{ID: "c", Name: "read_file"}}}
	result := chat.Message{ID: 3, Seq: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "c", Name: "read_file", Parts: m.Parts}}
	p := open(t, &world{messages: []chat.Message{m, calls, result}})
	p.env.contentPath = func(blob string) string { return "/home/blobs/" + blob[:2] }
	const card = "[chart.png · image/png · 1568x784 px · 21 kB]"
	if v := seen(p); strings.Count(v, card) != 2 || strings.Contains(v, "/home/blobs") {
		t.Errorf("closed:\n%s", v)
	}
	for i := range p.list.Len() {
		p.itemAt(i).toggleOpen()
	}
	p.Resize(80, 30)
	if v := seen(p); strings.Count(v, "/home/blobs/aa") != 2 {
		t.Errorf("opened:\n%s", v)
	}
}

// The picture of the selected item, and of no other, is given to what shows it on the terminal.
func TestThePictureOfAnItemIsShown(t *testing.T) {
	m := user(1, "look")
	m.Parts = []chat.Part{{Kind: chat.PartFile, Name: "a.txt", Text: "x"}, {Kind: chat.PartImage, Name: "c.png", Blob: strings.Repeat("a", 64)}}
	p := open(t, &world{messages: []chat.Message{m, {ID: 2, Seq: 2, Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: "yes"}}})
	p.env.contentPath = func(blob string) string { return "/blobs/" + blob[:4] }
	p.deps.Picture = func(path string) *exec.Cmd { return exec.Command("show", path) }
	for i := range p.list.Len() {
		p.selected = i
		msg := p.showPicture()()
		run, ok := msg.(ui.RunProcess)
		if has := pictureOf(p.itemAt(i)) != nil; has != ok {
			t.Errorf("item %d: %+v", i, msg)
		}
		if ok && (run.Cmd.Args[1] != "/blobs/aaaa" || run.Done(nil) != nil || run.Done(errors.New("no terminal")) == nil) {
			t.Errorf("%v", run.Cmd.Args)
		}
	}
}
