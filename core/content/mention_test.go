package content

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/core/chat"
)

func project(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// TestAFileThatIsNamedIsAttached: @file attaches its text, @folder what is in it.
func TestAFileThatIsNamedIsAttached(t *testing.T) {
	dir := project(t, map[string]string{"main.go": "package main\n", "src/a.go": "a", "src/b\nc": "", "src/deep/x": "", "data.bin": "\x00\x01"})
	got := Mentioned(dir, "why does @main.go fail? see @src and @src/, not @alice, me@main.go or @data.bin.")
	var names []string
	for _, p := range got {
		names = append(names, string(p.Kind)+" "+p.Name+" "+p.Text)
	}
	listing := "a.go  1 bytes\n\"b\\nc\"  0 bytes\ndeep/\n"
	want := []string{"file main.go package main\n", "file src/ " + listing, "file src/ " + listing, "file data.bin "}
	if !slices.Equal(names, want) {
		t.Errorf("got  %q\nwant %q", names, want)
	}
	if again := Mentioned(dir, "@main.go", got...); len(again) > 0 {
		t.Errorf("attached twice: %v", again)
	}
	if p := Mentioned(dir, "@./"); len(p) != 1 || !strings.Contains(p[0].Text, "src/\n") {
		t.Errorf("the folder itself: %v", p)
	}
}

// TestALongFileIsCut: a text goes in up to a limit, and the part says how much is missing.
func TestALongFileIsCut(t *testing.T) {
	for _, size := range []int{maxMentionText + 100, 3 * maxText} {
		dir := project(t, map[string]string{"long.txt": strings.Repeat("äb", size/3)})
		got := Mentioned(dir, "@long.txt")
		if len(got) != 1 || len(got[0].Text) > maxMentionText+200 || !utf8.ValidString(got[0].Text) || !strings.Contains(got[0].Text, "only the first 64 of") {
			t.Errorf("%d: %d parts", size, len(got))
		}
	}
}

// TestAPastedTextReachesNothingElse: words in a text that somebody else wrote name nothing outside
// of the folder, and nothing hidden.
func TestAPastedTextReachesNothingElse(t *testing.T) {
	outside := project(t, map[string]string{"id_rsa": "PRIVATE"})
	dir := project(t, map[string]string{".env": "KEY=PRIVATE", ".ssh/key": "PRIVATE", "x/y": ""})
	must(t, os.Symlink(filepath.Join(outside, "id_rsa"), filepath.Join(dir, "link")))
	for _, word := range []string{"@.env", "@./.env", "@x/../.ssh/key", "@.ssh", "@link", "@" + outside + "/id_rsa", "@../" + filepath.Base(filepath.Dir(outside))} {
		for _, p := range Mentioned(dir, word) {
			if strings.Contains(p.Text, "PRIVATE") || p.Data != nil || !strings.Contains(p.Text, "could not be attached") {
				t.Errorf("%s attaches %q", word, p.Text)
			}
		}
	}
}

func TestDescribeSaysWhatWouldBeAttached(t *testing.T) {
	dir := project(t, map[string]string{"main.go": strings.Repeat("x", 2100), "src/a": "", ".env": "", "long.txt": strings.Repeat("x", 100<<10)})
	got := Describe(dir, "@main.go @long.txt @src @diff @https://example.org/x, @.env @nobody @main.go")
	want := []string{"main.go · 2 kB", "long.txt · 102 kB, of a text the first 64 kB", "src/ · folder", "diff", "https://example.org/x · web page", ".env · not attached: it is hidden; /attach attaches it"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func FuzzMentioned(f *testing.F) {
	f.Add("see @main.go and @\"a b\"")
	f.Add("@diff @https://x @../..@@ @\"")
	f.Add(strings.Repeat("@a ", 40))
	dir := project(f, map[string]string{"main.go": "PUBLIC", ".env": "PRIVATE"})
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(Words(text)); n > maxMentions {
			t.Fatal(n)
		}
		for _, p := range Mentioned(dir, text) {
			if strings.Contains(fmt.Sprint(p.Text), "PRIVATE") || p.Kind == chat.PartPaste {
				t.Fatalf("%q attaches %q", text, p.Text)
			}
		}
	})
}

// A PDF is a document, however much of it is plain text.
func TestAPDFIsADocument(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"short.pdf": "%PDF-1.4\n1 0 obj\n", "long.pdf": "%PDF-1.7\n" + strings.Repeat("0 0 m\n", 60_000),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		parts := Mentioned(dir, "read @"+name)
		if len(parts) != 1 || !parts[0].IsDocument() || parts[0].Text != "" || string(parts[0].Data) != data || parts[0].Name != name {
			t.Errorf("%.300v", parts)
		}
	}
}
