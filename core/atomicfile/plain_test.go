package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadPlain(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range map[string]string{"small": "12345678", "large": "123456789"} {
		if err := os.WriteFile(in(name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": in("small"), "endless": "/dev/zero"} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadPlain(in("small"), 8); err != nil || string(data) != "12345678" {
		t.Errorf("%q %v", data, err)
	}
	for _, name := range []string{"large", "link", "endless", "pipe", ".", "none"} {
		if data, err := ReadPlain(in(name), 8); err == nil {
			t.Errorf("%s was read: %q", name, data)
		}
	}
}
