package workbench

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/content"
)

// clipTime bounds each program that is asked for the clipboard.
const clipTime = 2 * time.Second

// clipSource is a program that gives the image of the clipboard on its standard output.
type clipSource struct {
	env    string // the variable that must be set for it to make sense; "" for none
	argv   []string
	base64 bool
}

// clipSources are the programs of Wayland, X11, macOS and Windows (from WSL), in the order in which
// they are asked.
func clipSources() []clipSource {
	windows := "$i = Get-Clipboard -Format Image; if ($i) { $m = New-Object IO.MemoryStream; " +
		"$i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }"
	return []clipSource{
		{env: "WAYLAND_DISPLAY", argv: []string{"wl-paste", "--no-newline", "--type", "image/png"}},
		{env: "WAYLAND_DISPLAY", argv: []string{"wl-paste", "--no-newline", "--type", "image/jpeg"}},
		{env: "DISPLAY", argv: []string{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"}},
		{env: "DISPLAY", argv: []string{"xclip", "-selection", "clipboard", "-target", "image/jpeg", "-out"}},
		{argv: []string{"pngpaste", "-"}},
		{env: "WSL_DISTRO_NAME", argv: []string{"powershell.exe", "-NoProfile", "-STA", "-Command", windows}, base64: true},
	}
}

// Clipboard implements conversation.Files.
func (fileLister) Clipboard(ctx context.Context) (chat.Part, error) {
	return clipboardImage(ctx, os.Getenv, clipSources())
}

// clipboardImage asks each program that is there for an image, until one gives some.
func clipboardImage(ctx context.Context, getenv func(string) string, from []clipSource) (chat.Part, error) {
	asked := ""
	for _, s := range from {
		if s.env != "" && getenv(s.env) == "" {
			continue
		}
		if _, err := exec.LookPath(s.argv[0]); err != nil {
			continue
		}
		asked = s.argv[0]
		data, err := s.readClipboard(ctx)
		if err != nil || len(data) == 0 {
			continue // it says that no image is there, each in its own way
		}
		return content.Image("pasted "+time.Now().Format("15:04:05")+".png", data)
	}
	switch {
	case asked != "":
		return chat.Part{}, fmt.Errorf("%s finds no image in the clipboard", asked)
	case getenv("SSH_CONNECTION") != "":
		return chat.Part{}, errors.New("the clipboard of your own machine cannot be read over ssh: copy the file here, and /attach FILE")
	default:
		return chat.Part{}, errors.New("no program that reads images of the clipboard is there: install wl-paste (wl-clipboard), xclip or pngpaste")
	}
}

// readClipboard reads what the program gives, up to what an image may have.
func (s clipSource) readClipboard(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, clipTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.WaitDelay = clipTime
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(out, 2*content.MaxInput))
	cancelled := len(data) == 2*content.MaxInput
	if cancelled {
		cancel() // nobody reads the rest
	}
	if end := cmd.Wait(); err == nil && !cancelled {
		err = end
	}
	if err == nil && s.base64 {
		return base64.StdEncoding.DecodeString(strings.TrimSpace(string(bytes.TrimSpace(data))))
	}
	return data, err
}

// showPicture is this program again, as it shows an image on the whole terminal.
func showPicture(path string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return exec.Command(self, "picture", "--wait", path)
}
