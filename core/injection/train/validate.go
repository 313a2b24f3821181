package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"hermes/core/injection"
)

// result is how one author's table fares with a model that has not seen it.
type result struct {
	author        string
	texts         []judged
	orders, fair  int // texts of each kind
	rules, learnt tally
	both          tally
	atThree       float64 // recall of the model where it stops 3 % of the honest texts
}

// tally counts hits among orders and among honest texts.
type tally struct{ found, wrong int }

func (t *tally) count(hit, block bool) {
	switch {
	case hit && block:
		t.found++
	case hit:
		t.wrong++
	}
}

type judged struct {
	*sample
	score float64
	rule  bool
}

// validateByAuthor leaves out one author after another. Tables with texts of one kind only are
// learnt from, not judged.
func validateByAuthor(samples []sample) []result {
	names := map[string][2]int{}
	for _, s := range samples {
		n := names[s.author]
		if s.block {
			n[0]++
		} else {
			n[1]++
		}
		names[s.author] = n
	}
	var out []result
	for name, n := range names {
		if n[0] > 0 && n[1] > 0 {
			out = append(out, validateWithout(samples, name))
		}
	}
	slices.SortFunc(out, func(a, b result) int { return cmp.Compare(a.author, b.author) })
	return out
}

func validateWithout(samples []sample, author string) result {
	var rest []sample
	r := result{author: author}
	for _, s := range samples {
		if s.author != author {
			rest = append(rest, s)
		}
	}
	l := learn(rest, usual)
	for i := range samples {
		s := &samples[i]
		if s.author != author {
			continue
		}
		j := judged{s, l.scoreText(s.sentence), len(injection.Rules(s.text)) > 0}
		if s.block {
			r.orders++
		} else {
			r.fair++
		}
		r.rules.count(j.rule, s.block)
		r.learnt.count(j.score > injection.Threshold, s.block)
		r.both.count(j.rule || j.score > injection.Threshold, s.block)
		r.texts = append(r.texts, j)
	}
	r.atThree = r.recallAt(0.03)
	return r
}

// recallAt is how much is found where the share of honest texts that are stopped is at most part.
func (r result) recallAt(part float64) float64 {
	slices.SortStableFunc(r.texts, func(a, b judged) int { return cmp.Compare(b.score, a.score) })
	found, wrong := 0, 0
	for _, t := range r.texts {
		if t.block {
			found++
		} else if wrong++; float64(wrong) > part*float64(r.fair) {
			break
		}
	}
	return shareOf(found, r.orders)
}

func (r result) String() string {
	return fmt.Sprintf("%-4s %4d orders, %4d honest: rules %.2f/%.3f, model %.2f/%.3f, both %.2f/%.3f; model at 3 %% false: %.2f",
		r.author, r.orders, r.fair, shareOf(r.rules.found, r.orders), shareOf(r.rules.wrong, r.fair), shareOf(r.learnt.found, r.orders),
		shareOf(r.learnt.wrong, r.fair), shareOf(r.both.found, r.orders), shareOf(r.both.wrong, r.fair), r.atThree)
}

func (r result) writeErrors(out io.Writer) {
	for _, t := range r.texts {
		if hit := t.rule || t.score > injection.Threshold; hit != t.block {
			_, _ = fmt.Fprintf(out, "%s\t%s\tblock=%v\trule=%v\t%.2f\t%s\n", r.author, t.lang, t.block, t.rule, t.score, t.text)
		}
	}
}

func shareOf(n, of int) float64 { return float64(n) / float64(max(1, of)) }
