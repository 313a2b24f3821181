package main

import (
	"math"

	"hermes/core/injection/score"
)

// settings of the training, found by leaving one author out.
type settings struct {
	epochs  int
	rate    float64
	shrink  float64 // of weights, with each step that touches them
	least   int     // samples that a feature must be in
	factors [score.Groups]float64
	benign  float64 // weight of honest samples
	part    float64 // weight of their worst window
	docs    float64 // weight of our own pages
}

var usual = settings{epochs: 30, rate: 0.1, shrink: 1e-2, least: 1, factors: [score.Groups]float64{1, 0.7, 0.8}, benign: 1, part: 0.3, docs: 0.1}

// learner holds weights while they change.
type learner struct {
	settings
	bias, biasSum float64
	w, sum        [score.Groups][]float64
	seen          [score.Groups][]uint16
	step          [score.Groups][]float64
}

func newLearner(s settings) *learner {
	l := &learner{settings: s}
	for g := range l.w {
		l.w[g] = make([]float64, 1<<score.Bits)
		l.sum[g] = make([]float64, 1<<score.Bits)
		l.step[g] = make([]float64, 1<<score.Bits)
		l.seen[g] = make([]uint16, 1<<score.Bits)
	}
	return l
}

// learn is logistic regression by AdaGrad. What counts of a sample is its worst window: an order
// stands in one place of a text, and an honest text is honest everywhere. Samples come in a fixed
// order that a fixed generator shuffles: the same tables make the same model.
func learn(samples []sample, s settings) *learner {
	l := newLearner(s)
	l.count(samples)
	order := make([]int, len(samples))
	for i := range order {
		order[i] = i
	}
	random := uint64(88172645463325252)
	for range s.epochs {
		for i := len(order) - 1; i > 0; i-- {
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			j := int(random % uint64(i+1)) //nolint:gosec // below i
			order[i], order[j] = order[j], order[i]
		}
		for _, k := range order {
			l.learnSample(&samples[k])
		}
	}
	return l
}

// count finds the features that are in several samples: only those say something about others.
func (l *learner) count(samples []sample) {
	for i := range samples {
		done := map[score.Feature]bool{}
		for _, p := range samples[i].sentence {
			for _, f := range p.features {
				if !done[f] {
					done[f] = true
					l.seen[f.Group][f.Index]++
				}
			}
		}
	}
}

func (l *learner) learnSample(s *sample) {
	if s.block {
		l.moveWeights(s.sentence, 0, len(s.sentence), 1, 1)
		return
	}
	weight := l.benign
	if s.author == pagesAuthor {
		weight = l.docs
	}
	l.moveWeights(s.sentence, 0, len(s.sentence), 0, weight)
	if len(s.sentence) > 1 {
		from, to, _ := l.worstWindow(s.sentence)
		l.moveWeights(s.sentence, from, to, 0, l.part*weight)
	}
}

// moveWeights moves the weights of one window towards y.
func (l *learner) moveWeights(all []sentence, from, to int, y, weight float64) {
	z := l.scoreText(all[from:to])
	d := (1/(1+math.Exp(-z)) - y) * weight
	l.biasSum += d * d
	l.bias -= l.rate * d / (1 + math.Sqrt(l.biasSum))
	n := featureNorm(all[from:to])
	for _, p := range all[from:to] {
		for _, f := range p.features {
			if int(l.seen[f.Group][f.Index]) < l.least {
				continue
			}
			g := d * l.factors[f.Group] / n[f.Group]
			w := &l.w[f.Group][f.Index]
			g += l.shrink * *w
			l.sum[f.Group][f.Index] += g * g
			*w -= l.rate * g / (1e-3 + math.Sqrt(l.sum[f.Group][f.Index]))
		}
	}
}

// featureNorm is the root of the number of features of each group.
func featureNorm(s []sentence) (n [score.Groups]float64) {
	for _, p := range s {
		for _, f := range p.features {
			n[f.Group]++
		}
	}
	for g := range n {
		n[g] = math.Sqrt(max(1, n[g]))
	}
	return n
}

// worstWindow is the window with the highest score.
func (l *learner) worstWindow(s []sentence) (from, to int, z float64) {
	type part struct{ sum, n [score.Groups]float64 }
	parts, tokens := make([]part, len(s)), make([]int, len(s))
	for i, p := range s {
		tokens[i] = p.tokens
		for _, f := range p.features {
			parts[i].sum[f.Group] += l.w[f.Group][f.Index]
			parts[i].n[f.Group]++
		}
	}
	z = math.Inf(-1)
	score.Windows(tokens, func(i, j int) {
		var sum, n [score.Groups]float64
		for _, p := range parts[i:j] {
			for g := range sum {
				sum[g] += p.sum[g]
				n[g] += p.n[g]
			}
		}
		total := l.bias
		for g := range sum {
			total += l.factors[g] * sum[g] / math.Sqrt(max(1, n[g]))
		}
		if total > z {
			from, to, z = i, j, total
		}
	})
	return from, to, z
}

// scoreText is the score of a text as a whole.
func (l *learner) scoreText(all []sentence) float64 {
	var sum, n [score.Groups]float64
	for _, p := range all {
		for _, f := range p.features {
			sum[f.Group] += l.w[f.Group][f.Index]
			n[f.Group]++
		}
	}
	total := l.bias
	for g := range sum {
		total += l.factors[g] * sum[g] / math.Sqrt(max(1, n[g]))
	}
	return total
}

// quantise rounds the weights to bytes.
func (l *learner) quantise() *score.Model {
	top := 1e-9
	for g := range l.w {
		for _, w := range l.w[g] {
			top = max(top, math.Abs(w*l.factors[g]))
		}
	}
	m := &score.Model{Bias: float32(l.bias), Scale: float32(top / 127)}
	for g := range l.w {
		for i, w := range l.w[g] {
			m.Weights[g][i] = int8(math.Round(w * l.factors[g] / top * 127))
		}
	}
	return m
}
