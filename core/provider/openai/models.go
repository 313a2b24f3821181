package openai

import (
	"context"
	"io"
	"net/http"

	"hermes/core/provider"
)

// maxList bounds the list of models, in bytes.
const maxList = 16 << 20

// Models implements provider.Provider: GET /models. Endpoints with configured models that do not answer are the
// caller's matter.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base.JoinPath("models").String(), nil)
	if err != nil {
		return nil, p.explain(ctx, ctx, "", err)
	}
	req.Header.Set("User-Agent", "hermes")
	for k, v := range p.endpoint.Headers {
		req.Header.Set(k, v)
	}
	if p.endpoint.Key != "" {
		req.Header.Set("Authorization", "Bearer "+p.endpoint.Key)
	}
	res, err := refuse(req, p.http.Do)
	if err != nil {
		return nil, p.explain(ctx, ctx, "", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxList))
	if err != nil {
		return nil, p.explain(ctx, ctx, "", err)
	}
	list, err := provider.ParseModels(p.endpoint, body)
	if err != nil {
		return nil, &provider.Error{
			Class: provider.ClassMalformed, Provider: p.Name(), Err: err, Message: err.Error(),
			Hint: "check the base URL: it usually ends with /v1",
		}
	}
	return list, nil
}
