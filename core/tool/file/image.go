package file

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"hermes/core/chat"
	"hermes/core/content"
	"hermes/core/files"
	"hermes/core/tool"
)

// Image reads an image, fit for models: a file that may be read, or one that the session keeps, by
// its handle. The part has its bytes in Data. The error is for the model.
func (w *Workspace) Image(ctx context.Context, c tool.Call, path string) (chat.Part, error) {
	if strings.HasPrefix(path, chat.HandlePrefix) {
		if w.kept == nil {
			return chat.Part{}, errors.New("no images are kept")
		}
		p, err := w.kept(ctx, c.Session, path)
		if err == nil && p.Kind != chat.PartImage {
			err = errors.New("it is no image")
		}
		return p, err
	}
	at, err := w.findPlace(ctx, c, "", path)
	if err != nil {
		return chat.Part{}, err
	}
	if err := w.mayRead(at); err != nil {
		return chat.Part{}, err
	}
	f, _, err := at.room.Files.Open(ctx, at.real)
	if err != nil {
		return chat.Part{}, files.Reason(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, content.MaxInput+1))
	if err != nil {
		return chat.Part{}, files.Reason(err)
	}
	p, err := content.Image(filepath.Base(at.real), data)
	p.Path = at.real
	return p, err
}
