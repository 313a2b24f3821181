package workbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/panes/conversation"
	"hermes/ui/compose"

	"pgregory.net/rapid"
)

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestListFindsFilesAndLeavesOutWhatNobodyMeans(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"main.go", "pool/pool.go", ".github/ci.yml", ".git/config", "node_modules/x/main.go", "文档/读我.md", "Upper.TXT"} {
		write(t, filepath.Join(dir, name), "")
	}
	if err := os.Symlink(dir, filepath.Join(dir, "round")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		prefix string
		want   []string
	}{
		{"main", []string{"main.go"}},
		{"pgo", []string{"pool/pool.go"}},
		{"读", []string{"文档/读我.md"}},
		{"upper", []string{"Upper.TXT"}},
		{"ci", []string{".github/ci.yml"}},
		{"config", nil},
		{"", []string{".github/", "Upper.TXT", "main.go", "pool/", "round", "文档/", ".github/ci.yml", "pool/pool.go", "文档/读我.md"}},
	}
	for _, tt := range tests {
		got := fileLister{}.List(t.Context(), conversation.Folder{Cwd: dir}, tt.prefix)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.prefix, got, tt.want)
		}
	}
}

func TestListIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 * maxListed {
		write(t, filepath.Join(dir, fmt.Sprintf("f%04d", i)), "")
	}
	if got := (fileLister{}).List(t.Context(), conversation.Folder{Cwd: dir}, ""); len(got) != maxListed {
		t.Errorf("%d files are listed, at most %d should be", len(got), maxListed)
	}
	if got := readFolder(dir, 10); len(got) != 10 {
		t.Errorf("%d entries were read, 10 were asked for", len(got))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := (fileLister{}).List(ended, conversation.Folder{Cwd: dir}, ""); len(got) != 0 {
		t.Errorf("%d files after nobody wanted them any more", len(got))
	}
	if got := (fileLister{}).List(t.Context(), conversation.Folder{Cwd: filepath.Join(dir, "missing")}, ""); got != nil {
		t.Errorf("a folder that is not there holds %q", got)
	}
}

func load(t testing.TB, h *promptHistory) []string {
	t.Helper()
	got, err := h.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range got {
		out = append(out, p.Text)
	}
	return out
}

func TestHistoryKeepsWhatWasTyped(t *testing.T) {
	h := &promptHistory{path: filepath.Join(t.TempDir(), "history")}
	if got := load(t, h); got != nil {
		t.Errorf("no file, yet %q", got)
	}
	long := strings.Repeat("容", 1<<20)
	want := []string{"first", "two\nlines", long, "\x1b[31m"}
	for _, s := range want {
		if err := h.Append(t.Context(), compose.Prompt{Text: s}); err != nil {
			t.Fatal(err)
		}
	}
	if got := load(t, h); !slices.Equal(got, want) {
		t.Errorf("%d prompts came back of %d", len(got), len(want))
	}
}

// TestHistoryKeepsPastedChipsWhole: what was pasted comes back with its prompt.
func TestHistoryKeepsPastedChipsWhole(t *testing.T) {
	h := &promptHistory{path: filepath.Join(t.TempDir(), "history")}
	paste := chat.Part{Kind: chat.PartPaste, Name: "paste 1: 900 lines", Text: strings.Repeat("a line\n", 900)}
	if err := h.Append(t.Context(), compose.Prompt{Text: "look", Parts: []chat.Part{paste}}); err != nil {
		t.Fatal(err)
	}
	got, err := h.Load(t.Context())
	if err != nil || len(got) != 1 || got[0].Text != "look" || len(got[0].Parts) != 1 || got[0].Parts[0].Text != paste.Text {
		t.Errorf("%d prompts came back, %v", len(got), err)
	}
}

// What is too large for the history is not lost in silence: its chip says that it is missing.
func TestHistorySaysWhatItDidNotKeep(t *testing.T) {
	h := &promptHistory{path: filepath.Join(t.TempDir(), "history")}
	parts := []chat.Part{
		{Kind: chat.PartPaste, Name: "paste 1: 9 lines", Text: strings.Repeat("x", maxKeptPaste+1)},
		{Kind: chat.PartImage, Name: "chart.png", Media: "image/png", Data: []byte("png")},
		{Kind: chat.PartPaste, Name: "paste 2: 1 line", Text: "short"},
	}
	if err := h.Append(t.Context(), compose.Prompt{Text: "look", Parts: parts}); err != nil {
		t.Fatal(err)
	}
	got, err := h.Load(t.Context())
	if err != nil || len(got) != 1 || len(got[0].Parts) != 3 {
		t.Fatalf("%+v %v", got, err)
	}
	for i, want := range []string{"paste 1: 9 lines (not kept)", "chart.png (not kept)", "paste 2: 1 line"} {
		p := got[0].Parts[i]
		if p.Name != want || p.Kind != chat.PartPaste || strings.Contains(p.Text, "has to be given again") != (i < 2) {
			t.Errorf("%q: %q", p.Name, p.Text)
		}
	}
}

// A crash may leave half a line, or noise: what was typed before and after it stays.
func TestHistorySurvivesTornLines(t *testing.T) {
	for _, torn := range []string{`"half a pro`, "\x00\x00\x00", "{}", `"ended"`, "\n\n"} {
		h := &promptHistory{path: filepath.Join(t.TempDir(), "history")}
		write(t, h.path, "\"before\"\n"+torn)
		if err := h.Append(t.Context(), compose.Prompt{Text: "after"}); err != nil {
			t.Fatal(err)
		}
		got := load(t, h)
		if got[0] != "before" || got[len(got)-1] != "after" {
			t.Errorf("behind %q: %q", torn, got)
		}
	}
}

func TestHistoryIsCutWhenItHasGrown(t *testing.T) {
	h := &promptHistory{path: filepath.Join(t.TempDir(), "history")}
	var b strings.Builder
	for i := range 2*maxHistory + 1 {
		fmt.Fprintf(&b, "%q\n", fmt.Sprint(i))
	}
	write(t, h.path, b.String())
	got := load(t, h)
	if len(got) != maxHistory || got[maxHistory-1] != fmt.Sprint(2*maxHistory) {
		t.Errorf("%d prompts, the newest %q", len(got), got[len(got)-1])
	}
	data, err := os.ReadFile(h.path)
	if n := strings.Count(string(data), "\n"); err != nil || n != maxHistory {
		t.Errorf("the file holds %d lines: %v", n, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(h.path), ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left behind: %v %v", left, err)
	}
}

func TestLayoutFile(t *testing.T) {
	s := stateFile(filepath.Join(t.TempDir(), "cache", "layout.json"))
	if data, err := s.Load(); data != nil || err != nil {
		t.Errorf("nothing was saved, yet %q, %v", data, err)
	}
	if err := s.Save([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Load(); string(data) != "{}" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

func TestFileName(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Fix the flaky test", "fix-the-flaky-test"},
		{"../../etc/passwd", "etcpasswd"},
		{`C:\con*?"<>|`, "ccon"},
		{"..", "session"},
		{"", "session"},
		{"-rf /", "rf"},
		{"~root", "root"},
		{"a\x00b\x1b[2J\nc\td", "ab2j-c-d"},
		{"gnp\u202eexe.txt", "gnpexetxt"},
		{"全角\u3000空白", "全角-空白"},
		{"$(touch x);`id`&|'\"", "touch-xid"},
		{"हिन्दी 日本 ﻋﺮﺑﻲ snake_case 42", "हिन्दी-日本-ﻋﺮﺑﻲ-snake_case-42"},
		{"bad\xff\xfebytes", "badbytes"},
	}
	for _, tt := range tests {
		if got := fileName(tt.title); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.title, got, tt.want)
		}
	}
}

func TestFileNameOfAnyTitleIsOneSafeName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := fileName(rapid.OneOf(rapid.String(), rapid.StringN(0, 400, -1), rapid.Just(strings.Repeat("容", 500))).Draw(t, "title"))
		switch {
		case name == "", name[0] == '-', name[0] == '.', len(name) > maxFileName, !utf8.ValidString(name), filepath.Base(name) != name:
			t.Fatalf("%q", name)
		case strings.ContainsFunc(name, func(r rune) bool {
			return r != '-' && r != '_' && !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd)
		}):
			t.Fatalf("%q holds what a shell may take for more than a name", name)
		}
	})
}

func TestNewFileReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []string{"a.md", "a-2.md", "a-3.md"} {
		f, err := newFile(dir, "a", ".md")
		if err != nil || filepath.Base(f.Name()) != want {
			t.Fatalf("file %d: %v, %v", i, f, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := newFile(filepath.Join(dir, "missing"), "a", ".md"); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
