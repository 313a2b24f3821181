package content

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/realpath"
)

// Limits of what is no image.
const (
	maxText = 256 << 10 // bytes of a text that goes into a message
	maxFile = 10 << 20  // bytes of any other file
)

// From makes a part of bytes: an image fit for models, a text, or a file that is kept as it is.
func From(name string, data []byte) (chat.Part, error) {
	p := chat.Part{Kind: chat.PartFile, Name: name, Media: http.DetectContentType(data)}
	switch {
	case IsImage(data):
		return Image(name, data)
	case p.Media != chat.PDF && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0:
		if len(data) > maxText {
			return p, fmt.Errorf("it has %d kB of text; up to %d kB can be attached, and the agent reads more with read_file", len(data)>>10, maxText>>10)
		}
		p.Text = string(data)
	case strings.HasPrefix(p.Media, "image/"):
		return p, fmt.Errorf("it is %s, which cannot be decoded; PNG, JPEG, GIF, WebP and BMP can", p.Media)
	case len(data) > maxFile:
		return p, fmt.Errorf("it has %d MB; files of up to %d MB can be attached", len(data)>>20, maxFile>>20)
	default:
		p.Data, p.Size = data, int64(len(data))
	}
	return p, nil
}

// Load reads a file that a person attached. Relative paths start in cwd.
func Load(cwd, path string) (chat.Part, error) {
	p, err := loadPart(cwd, path)
	if err != nil {
		return p, fmt.Errorf("%s cannot be attached: %w", path, withoutPath(err))
	}
	return p, nil
}

func loadPart(cwd, path string) (chat.Part, error) {
	home, _ := os.UserHomeDir() // without one, ~ stays as it is written
	full := realpath.Of(home, cwd, path)
	info, err := os.Stat(full)
	if err != nil {
		return chat.Part{}, err
	}
	if !info.Mode().IsRegular() {
		return chat.Part{}, errors.New("it is not a regular file")
	}
	f, err := os.Open(full)
	if err != nil {
		return chat.Part{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxInput+1))
	if err != nil {
		return chat.Part{}, err
	}
	p, err := From(filepath.Base(full), data)
	p.Path = full
	return p, err
}

// withoutPath leaves out the path, which the sentence has already.
func withoutPath(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

var extensions = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"}

// hasImageName reports whether a path has the name of an image.
func hasImageName(path string) bool {
	return slices.Contains(extensions, strings.ToLower(filepath.Ext(path)))
}

// Dropped returns the path of an image that a terminal pasted when its file was dropped: absolute,
// perhaps quoted, escaped or a URL.
func Dropped(paste string) (path string, ok bool) {
	s := strings.TrimSpace(paste)
	if strings.ContainsAny(s, "\r\n") {
		return "", false
	}
	if u, err := url.Parse(s); err == nil && u.Scheme == "file" {
		s = u.Path
	} else if quoted := len(s) > 1 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0]; quoted {
		s = s[1 : len(s)-1]
	} else {
		s = strings.NewReplacer(`\\`, `\`, `\`, "").Replace(s)
	}
	return s, hasImageName(s) && (filepath.IsAbs(s) || strings.HasPrefix(s, "~/"))
}
