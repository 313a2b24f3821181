// Package score judges how much a text reads like an order to the agent, by a linear model that was
// trained on tables of such orders and of honest texts (command train beside it, go generate).
//
// The contract: a text comes as sentences in normal form (injection.Sentences). Each becomes a
// Part; a window of neighbouring parts has a score, above zero for "reads like an order". What a
// window costs does not depend on how long its sentences are. The model (some 100 kB) and the
// lexicon are read at the first use and never at program start.
package score

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
)

// Part is what one sentence adds to the windows that it stands in.
type Part struct {
	sum    [groups]float32
	n      [groups]float32
	Tokens int
}

// Feature is one thing that counts: its group and the low Bits bits of its hash.
type Feature struct {
	Group uint8
	Index uint32
}

// Groups is how many groups of features there are.
const Groups = int(groups)

// Features lists what counts in a sentence in normal form, with repetitions, and the number of its
// words.
func Features(sentence string) ([]Feature, int) {
	var out []Feature
	s := &scorer{emit: func(g group, f uint32) { out = append(out, Feature{uint8(g), f}) }}
	s.emitFeatures(sentence)
	return out, len(s.toks)
}

// Model is a set of weights.
type Model struct {
	Bias    float32
	Scale   float32                 // what a weight of 1 stands for
	Weights [groups][1 << Bits]int8 // by group and feature
}

// Judge sums up sentences. It is not for several goroutines at once.
type Judge struct {
	m *Model
	s scorer
	p Part
}

// NewJudge uses m; nil stands for the model of the program.
func NewJudge(m *Model) *Judge {
	if m == nil {
		m = builtIn()
	}
	j := &Judge{m: m}
	j.s.emit = func(g group, f uint32) {
		j.p.sum[g] += float32(j.m.Weights[g][f])
		j.p.n[g]++
	}
	return j
}

// Part sums up one sentence in normal form.
func (j *Judge) Part(sentence string) Part {
	j.p = Part{}
	j.s.emitFeatures(sentence)
	j.p.Tokens = len(j.s.toks)
	return j.p
}

// Add joins two neighbours.
func (p Part) Add(q Part) Part {
	for g := range p.sum {
		p.sum[g] += q.sum[g]
		p.n[g] += q.n[g]
	}
	p.Tokens += q.Tokens
	return p
}

// Score is above zero for a text that reads like an order: the logarithm of the odds.
func (j *Judge) Score(p Part) float64 {
	total := j.m.Bias
	for g := range p.sum {
		if p.n[g] > 0 {
			total += j.m.Scale * p.sum[g] / float32(math.Sqrt(float64(p.n[g])))
		}
	}
	return float64(total)
}

// Probability is the score as a number from 0 to 1.
func Probability(score float64) float64 { return 1 / (1 + math.Exp(-score)) }

//go:generate go run hermes/core/injection/train -dir ..

//go:embed model.bin
var packed []byte

// builtIn unpacks the model of the program. A file that cannot be read is a broken build.
var builtIn = sync.OnceValue(func() *Model {
	m, err := Unpack(packed)
	if err != nil {
		panic("score: the embedded model: " + err.Error())
	}
	return m
})

// Pack writes a model as few bytes.
func (m *Model) Pack() ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("packing the model: %w", err)
	}
	if err := errors.Join(binary.Write(w, binary.LittleEndian, m), w.Close()); err != nil {
		return nil, fmt.Errorf("packing the model: %w", err)
	}
	return b.Bytes(), nil
}

// Unpack reads what Pack wrote.
func Unpack(b []byte) (*Model, error) {
	m := new(Model)
	raw := make([]byte, 8+int(groups)<<Bits)
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(b)), raw); err != nil {
		return nil, fmt.Errorf("unpacking the model: %w", err)
	}
	m.Bias = math.Float32frombits(binary.LittleEndian.Uint32(raw))
	m.Scale = math.Float32frombits(binary.LittleEndian.Uint32(raw[4:]))
	for i, c := range raw[8:] {
		m.Weights[i>>Bits][i&(1<<Bits-1)] = int8(c) //nolint:gosec // the byte is the number's two's complement
	}
	return m, nil
}

// Windows are the runs of neighbours that are judged together: up to five sentences, no more than
// 90 words unless one has more.
func Windows(tokens []int, each func(from, to int)) {
	const most, words = 5, 90
	for from := range tokens {
		n := 0
		for to := from; to < len(tokens) && to < from+most; to++ {
			if n += tokens[to]; n > words && to > from {
				break
			}
			each(from, to+1)
		}
	}
}
