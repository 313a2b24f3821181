package workbench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/testskip"
)

// The programs of the clipboard are asked in order; what is no image, fails or is not there is
// passed over, and what is wrong is said.
func TestClipboardImage(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 5, 4))); err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(dir, "p.png")
	if err := os.WriteFile(picture, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	coded := "echo " + base64.StdEncoding.EncodeToString(b.Bytes())
	sh := func(script string) clipSource { return clipSource{argv: []string{"sh", "-c", script}} }
	elsewhere := sh("cat " + picture)
	elsewhere.env = "NOT_SET"
	windows := sh(coded)
	windows.base64 = true
	env := func(name string) string { return map[string]string{"SSH_CONNECTION": "yes"}[name] }
	for name, c := range map[string]struct {
		from []clipSource
		want string // in the error; "" for an image
	}{
		"the second has one":    {[]clipSource{sh("exit 1"), sh("true"), {argv: []string{"no-such-program"}}, sh("cat " + picture)}, ""},
		"base64":                {[]clipSource{windows}, ""},
		"text":                  {[]clipSource{sh("echo hello")}, "no image"},
		"none has":              {[]clipSource{sh("exit 1")}, "finds no image in the clipboard"},
		"nothing fits, far off": {[]clipSource{elsewhere, {argv: []string{"no-such-program"}}}, "over ssh"},
		"endless":               {[]clipSource{sh("cat /dev/zero")}, "images of up to 32 MB"},
	} {
		p, err := clipboardImage(context.Background(), env, c.from)
		if c.want == "" && (err != nil || p.Kind != chat.PartImage || p.Width != 5 || p.Height != 4) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An image that xclip put into the clipboard of a real X server is read.
func TestClipboardOfX11(t *testing.T) {
	for _, program := range []string{"xclip", "Xvfb"} {
		if _, err := exec.LookPath(program); err != nil {
			testskip.Missing(t, program)
		}
	}
	number, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-noreset", "-displayfd", "3", "-screen", "0", "64x64x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{tell}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = x.Process.Kill()
		_ = x.Wait()
	})
	tell.Close()
	line, err := bufio.NewReader(number).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(line))
	t.Setenv("WAYLAND_DISPLAY", "")
	if p, err := clipboardImage(t.Context(), os.Getenv, clipSources()); err == nil {
		t.Errorf("an empty clipboard gives %+v", p)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 7, 6))); err != nil {
		t.Fatal(err)
	}
	put := exec.Command("xclip", "-selection", "clipboard", "-target", "image/png", "-in")
	put.Stdin = &b
	if err := put.Run(); err != nil {
		t.Fatal(err)
	}
	p, err := clipboardImage(t.Context(), os.Getenv, clipSources())
	if err != nil || p.Width != 7 || p.Height != 6 || p.Media != "image/jpeg" && p.Media != "image/png" {
		t.Errorf("%+v, %v", p, err)
	}
}
