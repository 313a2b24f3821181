package core

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/room"
)

// What a text names of another machine is kept from the model where the file tools would keep it,
// wherever the agent's cd has led; and of a large file no more than is shown is fetched.
func TestWhatATextNamesOfABackEnd(t *testing.T) {
	pool := &boxes{folder: filepath.Join(t.TempDir(), "home"), dir: inBox, alone: true}
	for name, text := range map[string]string{
		".ssh/id_rsa": "PRIVATE", ".aws/credentials": "PRIVATE", "log.txt": strings.Repeat("line of a log\n", 300_000), "disk.img": "\x00" + strings.Repeat("x", 11<<20),
		"notes.txt": "plain",
	} {
		at := filepath.Join(pool.folder, name)
		must(t, os.MkdirAll(filepath.Dir(at), 0o700))
		must(t, os.WriteFile(at, []byte(text), 0o600))
	}
	load := func(cd, path string) string {
		t.Helper()
		pool.asked, pool.dir = 0, cd
		r, err := room.Finder{Pool: pool}.Find("s", "box")
		must(t, err)
		return namedThere{word: "box:" + path, path: path, room: r, home: t.TempDir()}.loadPart(t.Context()).Text
	}
	if got := load(inBox, inBox+"/notes.txt"); got != "plain" {
		t.Errorf("%q", got)
	}
	for _, dir := range []string{".ssh/id_rsa", ".aws/credentials"} { // after the agent's cd it is not hidden there
		folder := inBox + "/" + filepath.Dir(dir)
		if got := load(folder, inBox+"/"+dir); !strings.Contains(got, "could not be attached") || strings.Contains(got, "PRIVATE") {
			t.Errorf("%s: %q", dir, got)
		}
	}
	if got := load(inBox, inBox+"/log.txt"); !strings.Contains(got, "only the first 64 of") || pool.asked > 3<<20 {
		t.Errorf("%d bytes were fetched for %.80q", pool.asked, got)
	}
	if got := load(inBox, inBox+"/disk.img"); !strings.Contains(got, "at most 10 are attached") || pool.asked > 3<<20 {
		t.Errorf("%d bytes were fetched for %.80q", pool.asked, got)
	}
}
