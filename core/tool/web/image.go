package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"hermes/core/content"
)

// Image fetches what is at an address, for who makes sure that it is an image. The guard judges the
// address and each redirect. The error is for the model.
func (w *Web) Image(ctx context.Context, raw string) ([]byte, error) {
	u, err := w.guard.CheckURL(raw)
	if err != nil {
		return nil, err
	}
	if secretIn(u.String()) {
		return nil, errors.New("the URL holds what looks like a password or key, and would have told it to the site; nothing was sent")
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Accept", "image/png,image/jpeg,image/webp,image/gif,image/bmp;q=0.9,*/*;q=0.1")
	resp, err := w.client.Do(r)
	if err != nil {
		return nil, errors.New(w.explainFailure(ctx, u, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, statusError(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, content.MaxInput+1))
	if err != nil {
		return nil, fmt.Errorf("the server stopped in the middle of it: %w", err)
	}
	return data, nil
}
