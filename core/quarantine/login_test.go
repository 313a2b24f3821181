package quarantine

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddressesAreKeptWithoutLogin(t *testing.T) {
	for source, want := range map[string]string{
		"https://TOKEN@host/a/b.git":       "https://host/a/b.git",
		"https://me:p@ss:word@host/a.git":  "https://host/a.git",
		"http://me:@host:8080/a":           "http://host:8080/a",
		"git://x@host/a":                   "git://host/a",
		"ssh://git@host/a":                 "ssh://git@host/a",
		"ssh://git:secret@host:22/a":       "ssh://git@host:22/a",
		"git@host:a/b.git":                 "git@host:a/b.git",
		"https://host/a@b.git":             "https://host/a@b.git",
		"/home/me/skills@work":             "/home/me/skills@work",
		"file:///srv/a@b.git":              "file:///srv/a@b.git",
		"file:///srv/a?b#c@d.git":          "file:///srv/a?b#c@d.git",
		"http://host:8080/a@b.git":         "http://host:8080/a@b.git",
		"ssh://git@[::1]:22/a@b.git":       "ssh://git@[::1]:22/a@b.git",
		"https://[::1]/a@b.git":            "https://[::1]/a@b.git",
		"https://host/a?x=me@example.com":  "https://host/a",
		"https://h/x.git?private_token=ab": "https://h/x.git",
		"https://me:pw@h/x.git?a=b#token":  "https://h/x.git",
		"https://h/x#token":                "https://h/x",
		"HTTPS://u:pw@h/x":                 "HTTPS://h/x",
		"file://u:pw@h/x":                  "file://h/x",
		"file://u:p/w@h/x":                 "file://h/x",
		"https://u:p/w@h/x":                "https://h/x",
		"https://u:p/w@x@h/x":              "https://h/x",
		"https://u:p?w#@h/x":               "https://h/x",
		"ssh://u:p/w@h/x":                  "ssh://u@h/x",
		"ssh://:pw@h/x":                    "ssh://h/x",
		"https://me:100%zz@host/not-valid": "https://host/not-valid",
	} {
		if got := withoutLogin(source); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}

// A token in an address goes to git, and to nobody else: not into the result, the lock file, nor an
// error, whatever git says.
func TestALoginInAnAddressIsNotKept(t *testing.T) {
	const source = "https://me:TOPSECRET@example.invalid/x.git"
	said := filepath.Join(t.TempDir(), "said")
	fakeGit(t, `case "$*" in *rev-parse*) echo abc; exit;; esac
for into; do :; done
echo "$*" > `+said+`
mkdir "$into" && echo x > "$into/a.txt"
`)
	limits := Limits{What: "skill", Files: 9, Bytes: 1 << 20, Depth: 5}
	f, err := Fetch(t.Context(), t.TempDir(), Request{Source: source}, limits)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(said); err != nil || !bytes.Contains(got, []byte("TOPSECRET@")) {
		t.Errorf("git was not given the login: %s %v", got, err)
	}
	if f.Source != "https://example.invalid/x.git" || !strings.Contains(strings.Join(f.Notes, "\n"), "is not kept") {
		t.Errorf("%q %q", f.Source, f.Notes)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}

	lock := filepath.Join(t.TempDir(), "lock.json")
	if err := os.WriteFile(lock, []byte(`{"installed": {"old": {"source": "`+source+`", "trust": "high"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := List(lock); err != nil || list["old"].Source != f.Source {
		t.Errorf("%v %v", list, err)
	}
	if err := Record(lock, "new", Installed{Source: f.Source}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(lock); err != nil || bytes.Contains(data, []byte("TOPSECRET")) || !bytes.Contains(data, []byte(`"trust": "high"`)) {
		t.Errorf("%s %v", data, err)
	}

	const token = "https://example.invalid/x.git?private_token=TOPSECRET"
	fakeGit(t, `echo "fatal: $* is not there" >&2; exit 128`)
	_, err = Fetch(t.Context(), t.TempDir(), Request{Source: token}, limits)
	if err == nil || strings.Contains(err.Error(), "TOPSECRET") || !strings.Contains(err.Error(), "example.invalid/x.git") {
		t.Error(err)
	}
	fakeGit(t, `echo "fatal: Authentication failed for 'https://me:TOPSECRET@example.invalid/x.git/'" >&2; exit 128`)
	_, err = Fetch(t.Context(), t.TempDir(), Request{Source: source}, limits)
	if err == nil || strings.Contains(err.Error(), "TOPSECRET") || !strings.Contains(err.Error(), "credential helper") {
		t.Error(err)
	}
}

// Folders cost room too: those that are named, and those that lie above a file.
func TestFoldersAreCounted(t *testing.T) {
	limits := Limits{What: "skill", Files: 50, Bytes: 1 << 20, Depth: 8}
	archives := map[string]func(add func(name string)){
		"named":  func(add func(string)) { addEach(60, "d%d/", add) },
		"nested": func(add func(string)) { addEach(20, "a%[1]d/b%[1]d/c%[1]d/file", add) },
	}
	for what, fill := range archives {
		for kind, data := range map[string][]byte{".zip": zipOf(t, fill), ".tar": tarOf(t, fill)} {
			file := filepath.Join(t.TempDir(), "x"+kind)
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			base := t.TempDir()
			_, err := Fetch(t.Context(), base, Request{Source: file}, limits)
			if err == nil || !strings.Contains(err.Error(), "more than 50 folders") {
				t.Errorf("%s%s: %v", what, kind, err)
			}
			if left, _ := os.ReadDir(base); len(left) > 0 {
				t.Errorf("%s%s: %v is left", what, kind, left)
			}
		}
	}
	dir := t.TempDir()
	addEach(60, "d%d", func(name string) {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := Fetch(t.Context(), t.TempDir(), Request{Source: dir}, limits); err == nil || !strings.Contains(err.Error(), "more than 50 folders") {
		t.Error(err)
	}
	few := func(add func(string)) { addEach(40, "d/file%d", add) }
	file := filepath.Join(t.TempDir(), "few.zip")
	if err := os.WriteFile(file, zipOf(t, few), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Fetch(t.Context(), t.TempDir(), Request{Source: file}, limits); err != nil {
		t.Error("one folder was counted more than once:", err)
	} else if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func addEach(n int, pattern string, add func(string)) {
	for i := range n {
		add(fmt.Sprintf(pattern, i))
	}
}

func zipOf(t *testing.T, fill func(add func(name string))) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	fill(func(name string) {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t *testing.T, fill func(add func(name string))) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	fill(func(name string) {
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(name, "/") {
			kind = tar.TypeDir
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Mode: 0o700}); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
