package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/ui/uitest"
)

const (
	altZ  = "\x1bz"
	ctrlN = "\x0e"
)

// two makes a home with two conversations, the second one in Chinese, and opens it with the list
// focused.
func two(t *testing.T) (*home, *uitest.Screen) {
	t.Helper()
	h := newHome(t, "")
	s := h.open()
	say(s, "$ echo docker network one")
	s.WaitFor("✓ $ ")
	s.WaitFor("ready")
	s.Type(ctrlN)
	s.WaitFor("New conversation")
	say(s, "$ echo 容器里的网络")
	s.WaitFor("✓ $ ")
	s.WaitFor("ready")
	s.Type(altOne)
	s.WaitFor("enter open")
	return h, s
}

// list is the session pane of the usual arrangement as it is shown.
func list(picture string) string {
	var out []string
	for _, row := range strings.Split(picture, "\n") {
		cells := []rune(row)
		out = append(out, string(cells[:min(len(cells), 24)]))
	}
	return strings.Join(out, "\n")
}

func TestBrowseSearchAndPreview(t *testing.T) {
	t.Parallel()
	_, s := two(t)
	s.Type("/")
	s.WaitFor("words, tool:")
	s.Type("网络")
	s.Wait("the match in a narrow column", func(p string) bool { return strings.Contains(list(p), "«网络»") })
	s.Type(altZ)
	s.Wait("a preview beside the list", func(p string) bool {
		return strings.Contains(p, "│ You") && strings.Contains(p, "  容器里的网络") && !strings.Contains(p, "─ 3 Output")
	})
	s.Type(altZ)
	s.WaitFor("─ 3 Output")
	s.Type("\x15in:work") // ctrl+u clears; a filter alone lists what fits
	s.Wait("both sessions of the project", func(p string) bool { return strings.Contains(list(p), "2 sessions") })
	s.Type("\x15nowhere")
	s.WaitFor("Nothing found")
}

func TestBrowseChangesSessions(t *testing.T) {
	t.Parallel()
	h, s := two(t)
	s.WaitFor("▸ echo 容器里的网络")
	s.Type("r")
	s.Type("\x15named")
	s.WaitFor("▸ named")
	s.Type(enter)
	s.Wait("the new name over the conversation", func(p string) bool { return strings.Contains(p, "─ 2 named") })

	s.Type("e")
	s.WaitFor("written to")
	data, err := os.ReadFile(filepath.Join(h.work, "named.md"))
	if err != nil || !strings.Contains(string(data), "容器里的网络") {
		t.Errorf("the export holds %q, %v", data, err)
	}

	s.Type("a")
	s.Wait("the archived one gone", func(p string) bool { return !strings.Contains(list(p), "named") })
	s.Type("A")
	s.WaitFor("with archived ones")
	s.Wait("it back in the list", func(p string) bool { return strings.Contains(list(p), "named") })
}

// The session that is shown can be deleted: what stood there makes place for a new conversation.
func TestBrowseDeletesTheOpenSession(t *testing.T) {
	t.Parallel()
	_, s := two(t)
	s.WaitFor("▸ echo 容器里的网络")
	s.Type("d")
	agree(s, "Really?")
	s.WaitFor("─ 2 New conversation")
	s.WaitGone("容器里的网络")
	s.Type(altTwo)
	say(s, "$ echo again")
	s.WaitFor("✓ $ ")
	leave(t, s)
}
