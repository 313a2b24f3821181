package hub

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/quarantine"
	"hermes/skills"
)

const head = "---\nname: good\ndescription: Does good.\n---\nSo.\n"

func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		if err := addEntry(z, name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fetch(t testing.TB, name string, data []byte) (*Fetched, string, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "skills")
	f, err := Fetch(t.Context(), home, quarantine.Request{Source: file})
	return f, filepath.Join(home, folder, waits), err
}

// Nothing of an archive leaves the quarantine, and nothing is left of one that tries.
func TestArchivesThatLie(t *testing.T) {
	bomb := strings.Repeat("0", maxBytes+1)
	many := map[string]string{}
	for i := range maxFiles + 1 {
		many["f"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26)] = ""
	}
	for name, files := range map[string]map[string]string{
		"up": {"../evil": "x"}, "deep up": {"a/../../evil": "x"}, "root": {"/etc/evil": "x"}, "backslash": {`..\evil`: "x"},
		"bomb": {"a": bomb}, "many": many,
	} {
		f, place, err := fetch(t, "a.zip", zipped(t, files))
		if err == nil {
			t.Errorf("%s: %+v", name, f)
		}
		if left, _ := os.ReadDir(place); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "good/SKILL.md", Typeflag: tar.TypeReg, Size: int64(len(head)), Mode: 0o600},
		{Name: "good/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "good/dev", Typeflag: tar.TypeChar},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(head)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, place, err := fetch(t, "a.tar", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.Items()
	if err != nil || len(list) != 1 || list[0].Key != "good" || len(f.Notes) != 2 {
		t.Errorf("%v %v %v", list, f.Notes, err)
	}
	if _, err := os.Lstat(filepath.Join(f.Dir, "good/link")); err == nil {
		t.Error("a link was made")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(place); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A link in a folder is not followed.
func TestAFolderWithLinks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"s/good/SKILL.md": head, "secret": "x", "s/.git/config": "x"} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "s/good/notes.md")); err != nil {
		t.Fatal(err)
	}
	f, err := Fetch(t.Context(), filepath.Join(dir, "home"), quarantine.Request{Source: filepath.Join(dir, "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "good/notes.md") {
		t.Error(f.Notes)
	}
	for _, name := range []string{"good/notes.md", ".git"} {
		if _, err := os.Lstat(filepath.Join(f.Dir, name)); err == nil {
			t.Errorf("%s came along", name)
		}
	}
}

// What others wrote into the lock file stays.
func TestTheLockFileKeepsWhatItHolds(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Dir(LockPath(dir)), 0o700); err != nil {
		t.Fatal(err)
	}
	was := `{"version": 3, "extra": [1], "installed": {"theirs": {"source": "hub", "trust": "high"}}}`
	if err := os.WriteFile(LockPath(dir), []byte(was), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := quarantine.Record(LockPath(dir), "mine", quarantine.Installed{Source: "here", InstalledAt: time.Unix(0, 0).UTC()}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(LockPath(dir))
	var got map[string]any
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	entries, _ := got["installed"].(map[string]any)
	theirs, _ := entries["theirs"].(map[string]any)
	if err != nil || got["version"] != 3.0 || got["extra"] == nil || theirs["trust"] != "high" || entries["mine"] == nil {
		t.Errorf("%v %s", err, data)
	}
	if err := os.WriteFile(LockPath(dir), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := quarantine.Record(LockPath(dir), "mine", quarantine.Installed{}); err == nil {
		t.Error("a broken file was written over")
	}
}

func TestPackIsReadAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "good")
	if err := os.MkdirAll(filepath.Join(dir, "references"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{skills.File: head, "references/a.md": "text", "references/b.bin": "\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	left, err := Pack(&b, ItemOf(skills.One(dir)))
	if err != nil || strings.Join(left, " ") != "references/b.bin" {
		t.Fatal(left, err)
	}
	f, _, err := fetch(t, "good.skill", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Items()
	if err != nil || len(list) != 1 || strings.Join(list[0].Files, " ") != "references/a.md" {
		t.Errorf("%v %v", list, err)
	}
}

// No archive leads out of its folder, whatever its bytes.
func FuzzUnpack(f *testing.F) {
	f.Add(zipped(f, map[string]string{"good/SKILL.md": head}), "a.zip")
	f.Add(zipped(f, map[string]string{"../x": "y"}), "a.zip")
	f.Add([]byte("good/SKILL.md\x00"), "a.tar")
	f.Add([]byte("\x1f\x8b\x08"), "a.tgz")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		dir := t.TempDir()
		kind := []string{".zip", ".tar", ".tgz"}[len(name)%3]
		file := filepath.Join(dir, "in"+kind)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Fetch(context.Background(), filepath.Join(dir, "skills"), quarantine.Request{Source: file})
		if err == nil {
			if _, err := got.Items(); err != nil {
				t.Error(err)
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
		if list, _ := os.ReadDir(dir); len(list) != 2 {
			t.Errorf("beside it: %v", list)
		}
	})
}
