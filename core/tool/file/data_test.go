package file

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/tool"
)

// A program gets the text of a file and no line numbers, whole, however long its lines are; and it
// may ask again.
func TestDataForPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("x", 5000)
	files := map[string]string{"a.txt": "one\ntwo\n", "b.txt": "no end", "empty": "", "long.json": `["` + long + `"]`, "dos.txt": "a\r\nb\r\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "many"), []byte(strings.Repeat("l\n", 3000)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := New(Options{Ripgrep: "off"})
	reg, err := tool.NewRegistry(Read(w), Write(w), Patch(w), Search(w))
	if err != nil {
		t.Fatal(err)
	}
	run := func(name, args string) map[string]any {
		t.Helper()
		var got map[string]any
		res := reg.Run(t.Context(), name, tool.Call{Session: "s", Cwd: dir, Args: json.RawMessage(args), Data: func(v any) {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
		}})
		if res.IsError {
			t.Fatalf("%s %s: %s", name, args, res.Text)
		}
		return got
	}
	for range 2 { // no "unchanged since" for programs
		for name, text := range files {
			want := strings.ReplaceAll(text, "\r", "")
			if got := run("read_file", `{"path":"`+name+`"}`); got["content"] != want || got["truncated"] != false {
				t.Errorf("%s: %.80v", name, got)
			}
		}
	}
	if got := run("read_file", `{"path":"many"}`); got["total_lines"] != 3000.0 || len(got["content"].(string)) != 6000 {
		t.Errorf("not the whole file: %v lines", got["total_lines"])
	}
	if got := run("read_file", `{"path":"many","offset":10,"limit":2}`); got["content"] != "l\nl\n" || got["truncated"] != true || got["lines"] != 2.0 {
		t.Errorf("a page: %v", got)
	}
	found := run("search_files", `{"pattern":"two|one","file_glob":"*.txt"}`)["matches"].([]any)
	if len(found) != 2 || found[1].(map[string]any)["path"] != "a.txt" || found[1].(map[string]any)["line"] != 2.0 || found[1].(map[string]any)["content"] != "two" {
		t.Errorf("matches: %v", found)
	}
	if got := run("search_files", `{"pattern":"nothing like it"}`); len(got["matches"].([]any)) != 0 || got["truncated"] != false {
		t.Errorf("no match: %v", got)
	}
	if got := run("search_files", `{"pattern":"*.txt","target":"files","limit":2}`); len(got["matches"].([]any)) != 2 || got["truncated"] != true {
		t.Errorf("files: %v", got)
	}
	if got := run("patch", `{"path":"a.txt","old_string":"one","new_string":"error"}`); strings.Contains(strings.ToLower(mustText(t, got)), "error") || got["success"] != true {
		t.Errorf("patch: %v", got)
	}
	if got := run("write_file", `{"path":"new","content":"12345"}`); got["bytes_written"] != 5.0 {
		t.Errorf("write: %v", got)
	}
}

func mustText(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
