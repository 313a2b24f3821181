package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"hermes/core/provider"
)

// NewJSONClient makes a Client for calls that answer in one piece. Cut is what the end of the base
// URL loses; a bare host gets the path bare.
func NewJSONClient(e provider.Endpoint, bare string, cut ...string) (*Client, error) {
	base, err := BaseURL(e.BaseURL, bare, cut...)
	if err != nil {
		return nil, err
	}
	return newClient(e, base, Bearer(e.Key)), nil
}

// PostJSON posts a body as JSON to a path below the base URL and returns the answer, which may have
// so many bytes. Every error is an *provider.Error.
func (c *Client) PostJSON(ctx context.Context, path, model string, body any, most int) ([]byte, error) {
	answer, err := c.postJSON(ctx, path, body, most)
	if err != nil {
		return nil, c.explain(ctx, ctx, model, err)
	}
	return answer, nil
}

func (c *Client) postJSON(ctx context.Context, path string, body any, most int) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, err
	}
	sent := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base.String()+path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(answer) > most {
		return nil, Malformed(fmt.Sprintf("the answer has more than %d MB", most>>20))
	}
	return answer, nil
}
