package stream

import (
	"context"
	"io"
	"net/http"

	"hermes/core/provider"
)

// maxList bounds the list of models, in bytes.
const maxList = 16 << 20

// Models implements provider.Provider. Endpoints with configured models that do not answer are the
// caller's matter.
func (c *Client) Models(ctx context.Context) ([]provider.Model, error) {
	body, err := c.get(ctx, c.wire.Models)
	if err != nil {
		return nil, c.explain(ctx, ctx, "", err)
	}
	list, err := provider.ParseModels(c.Endpoint, body)
	if err != nil {
		return nil, &provider.Error{
			Class: provider.ClassMalformed, Provider: c.Name(), Err: err, Message: err.Error(),
			Hint: "check the base URL: it usually ends with /v1",
		}
	}
	return list, nil
}

func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base.String()+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(io.LimitReader(res.Body, maxList))
}
