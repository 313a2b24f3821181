package program

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
)

// TestAMentionOnTheScreenAndOnTheCommandLine: the chip says what goes with the message, the model
// gets the text, and /undo brings the words back, from which it is read again.
func TestAMentionOnTheScreenAndOnTheCommandLine(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "First answer."}, modeltest.Turn{Text: "Second answer."}, modeltest.Turn{Text: "Third answer."})
	path := filepath.Join(h.work, "notes.txt")
	if err := os.WriteFile(path, []byte("the key is red"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("run", "which key? @notes.txt"); r.code != 0 || !strings.Contains(r.out, "First answer.") {
		t.Fatal(r)
	}
	s := h.open()
	s.Type("which key? @notes.txt ")
	s.WaitFor("[notes.txt · 14 bytes]")
	s.Type(enter)
	s.WaitFor("Second answer.")
	s.WaitFor(" ready ")
	if err := os.WriteFile(path, []byte("the key is blue now"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Type("/undo" + enter)
	agree(s, "Really?")
	s.WaitFor("[notes.txt · 19 bytes]")
	s.WaitFor("❯ which key? @notes.txt")
	s.Type(enter)
	s.WaitFor("Third answer.")
	for i, want := range []string{"the key is red", "the key is red", "the key is blue now"} {
		body := string(server.Requests()[i].Body)
		if strings.Count(body, "the key is ") != 1 || !strings.Contains(body, want) {
			t.Errorf("request %d lacks %q: %s", i, want, body)
		}
	}
}

// A folder, what git sees as changed, a page, and of a long text its beginning: each has its chip
// before it is sent, and goes with the message.
func TestFoldersDiffsPagesAndLongTextsGoWithAMessage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		testskip.Missing(t, "git")
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<title>News</title><article><p>The bridge is open again.</p></article>")
	}))
	defer site.Close()
	h, server := homeWith(t, modeltest.Turn{Text: "Seen."})
	h.configure(serverSettings(server) + "web:\n  allow_private_urls: true\n")
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(h.work, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(h.work, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("src/inside.go", "package inside\n")
	write("days.py", "old line\n")
	write("long.txt", "BEGIN"+strings.Repeat("x", 100<<10)+"FINISH")
	for _, args := range [][]string{{"init", "-q"}, {"add", "days.py"}, {"-c", "user.name=p", "-c", "user.email=p@localhost", "-c", "commit.gpgsign=false", "commit", "-qm", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = h.work
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	write("days.py", "new line\n")
	s := h.open()
	s.Type("what of @" + site.URL + " @diff @src/ ")
	for _, chip := range []string{"[" + site.URL + " · web page]", "[diff]", "[src/ · folder]"} {
		s.WaitFor(chip)
	}
	s.Type("and @long.txt ")
	s.WaitFor(" [long.txt ·")
	s.Type(enter)
	s.WaitFor("Seen.")
	body := string(server.Requests()[0].Body)
	for _, want := range []string{"inside.go", "-old line", "+new line", "BEGINxxx", "only the first 64 of", "The bridge is open again."} {
		if !strings.Contains(body, want) {
			t.Errorf("the model was not told %q", want)
		}
	}
	if strings.Contains(body, "FINISH") {
		t.Error("a long text went whole")
	}
	leave(t, s)
}
