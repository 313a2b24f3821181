package embed

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Bounds on what a server can make us hold.
const (
	maxAnswer = 32 << 20 // bytes
	maxDims   = 8192
)

// openAIRequest is the body of POST /embeddings, openAIAnswer what comes back.
type openAIRequest struct {
	Input      []string `json:"input"`
	Model      string   `json:"model"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type openAIAnswer struct {
	Data []struct {
		Index     *int   `json:"index"`
		Embedding vector `json:"embedding"`
	} `json:"data"`
}

// ollamaRequest is the body of POST /api/embed, ollamaAnswer what comes back. What is too long
// shall fail, else it would be cut without a word.
type ollamaRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Truncate   bool     `json:"truncate"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type ollamaAnswer struct {
	Embeddings []vector `json:"embeddings"`
}

func (c *Client) request(texts []string) (path string, body any) {
	if c.o.API == Ollama {
		return "api/embed", ollamaRequest{Model: c.o.Model, Input: texts, Dimensions: c.o.Dimensions}
	}
	return "embeddings", openAIRequest{Input: texts, Model: c.o.Model, Encoding: "float", Dimensions: c.o.Dimensions}
}

// readVectors is the vectors of an answer, in the order of the texts.
func (c *Client) readVectors(answer []byte, n int) ([][]float32, error) {
	vectors, err := readOpenAI(answer)
	if c.o.API == Ollama {
		vectors, err = readOllama(answer)
	}
	if err != nil {
		return nil, err
	}
	if len(vectors) != n {
		return nil, fmt.Errorf("it answered with %d vectors for %d texts", len(vectors), n)
	}
	for _, v := range vectors {
		switch want := c.o.Dimensions; {
		case len(v) == 0:
			return nil, errors.New("a text got no vector")
		case want > 0 && len(v) != want:
			return nil, fmt.Errorf("it was asked for %d dimensions and answers with %d: set memory.embedding.dimensions to that", want, len(v))
		}
	}
	return vectors, nil
}

func readOllama(answer []byte) ([][]float32, error) {
	var a ollamaAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, unreadable(err)
	}
	out := make([][]float32, len(a.Embeddings))
	for i, v := range a.Embeddings {
		out[i] = v
	}
	return out, nil
}

func readOpenAI(answer []byte) ([][]float32, error) {
	var a openAIAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, unreadable(err)
	}
	out := make([][]float32, len(a.Data))
	for i, d := range a.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= len(out) || out[at] != nil {
			return nil, fmt.Errorf("it answered with index %d among %d vectors", at, len(out))
		}
		out[at] = d.Embedding
		if out[at] == nil {
			out[at] = []float32{}
		}
	}
	return out, nil
}

var errVector = errors.New("a vector is neither a list of numbers nor base64 of them")

func unreadable(err error) error {
	if errors.Is(err, errVector) {
		return errVector
	}
	return errors.New("the answer is not that of an embedding server")
}

// vector is a list of numbers, or base64 of little endian float32: some servers send that unasked.
type vector []float32

func (v *vector) UnmarshalJSON(b []byte) error {
	var numbers []float32
	if len(b) > 0 && b[0] == '"' {
		var text string
		if err := json.Unmarshal(b, &text); err != nil {
			return errVector
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw)%4 != 0 {
			return errVector
		}
		for ; len(raw) > 0; raw = raw[4:] {
			numbers = append(numbers, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
	} else if err := json.Unmarshal(b, &numbers); err != nil {
		return errVector
	}
	if len(numbers) > maxDims {
		return errVector
	}
	for _, x := range numbers {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return errVector
		}
	}
	*v = numbers
	return nil
}
