package conversation

import (
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// coloursOf are the foregrounds of a word wherever it stands in a picture.
func coloursOf(picture, word string) map[text.Colour]bool {
	out := map[text.Colour]bool{}
	for _, line := range strings.Split(picture, "\n") {
		plain := text.Sanitize(line)
		for from := 0; ; {
			i := strings.Index(plain[from:], word)
			if i < 0 {
				break
			}
			out[foregroundAt(line, from+i)] = true
			from += i + len(word)
		}
	}
	return out
}

// foregroundAt is the colour of the character at a byte of a line without its sequences.
func foregroundAt(line string, at int) text.Colour {
	var pen text.Pen
	for rest := line; rest != ""; {
		if rest[0] == 0x1b {
			n := text.Sequence(rest)
			pen.Scan(rest[:n])
			rest = rest[n:]
			continue
		}
		if at == 0 {
			return pen.Fg
		}
		at, rest = at-1, rest[1:]
	}
	return 0
}

// A string has one colour, whether it stands in the code of an answer, in a command, in the diff of
// an edit or in what an approval asks about.
func TestOneHighlighterDrawsCodeCommandsDiffsAndApprovals(t *testing.T) {
	const command = `echo "kiwi"`
	edit := "--- a/x.sh\n+++ b/x.sh\n@@ -1,2 +1,2 @@\n echo \"fig\"\n-true\n+false\n"
	w := &world{messages: []chat.Message{
		user(1, "go"),
		assistant(2, "So:\n\n```bash\necho \"plum\"\n```", toolCall("a", command)),
		{ID: 3, Seq: 3, Session: "s", At: start, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "a", Name: "terminal", Diffs: []chat.FileDiff{{Path: "x.sh", Op: chat.FileModified, Unified: edit, Added: 1, Removed: 1}}}},
	}}
	p := open(t, w)
	p.Restyle(uitest.Styles(t, style.True))
	view := p.View()
	say(p, asking("ap", command, start.Add(time.Hour)))
	o := press(p, "ctrl+y")[0].(ui.ShowOverlay).Overlay
	o.Restyle(uitest.Styles(t, style.True))
	asked := o.View(o.Size(80, 24))
	seen := map[string]map[text.Colour]bool{
		"code": coloursOf(view, `"plum"`), "a command": coloursOf(view, `"kiwi"`), "a diff": coloursOf(view, `"fig"`),
		"an approval": coloursOf(strings.SplitN(asked, "\n", 2)[0], `"kiwi"`),
	}
	plain := coloursOf(view, "So:")
	for what, colours := range seen {
		if len(colours) != 1 {
			t.Fatalf("%s is drawn in %d colours:\n%s", what, len(colours), text.Sanitize(view))
		}
		for c := range colours {
			if !seen["code"][c] || plain[c] {
				t.Errorf("%s has the colour %v, code %v, prose %v", what, c, seen["code"], plain)
			}
		}
	}
}
