//go:build !race

package main

import (
	"testing"

	"hermes/core/injection"
	"hermes/core/injection/score"
	"hermes/core/testskip"
)

// Training is arithmetic of one goroutine at a time and takes minutes under the race detector: CI
// runs these tests apart, without it.

func tables(t *testing.T) []sample {
	t.Helper()
	samples, err := loadAll("..")
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// TestModelIsMadeFromTheTables trains anew and wants a model that judges as the program's does. The
// bytes may differ: our docs are among the texts, and change more often than the model has to.
func TestModelIsMadeFromTheTables(t *testing.T) {
	testskip.LongWithoutRace(t, "trains the model")
	samples := tables(t)
	anew, shipped := score.NewJudge(learn(samples, usual).quantise()), score.NewJudge(nil)
	other := 0
	for _, s := range samples {
		for _, p := range injection.Sentences(s.text) {
			a, b := anew.Score(anew.Part(p.Text)), shipped.Score(shipped.Part(p.Text))
			if (a > injection.Threshold) != (b > injection.Threshold) {
				other++
				break
			}
		}
	}
	if other*100 > len(samples) {
		t.Fatalf("%d of %d texts are judged in another way than by core/injection/score/model.bin: run go generate "+
			"./core/injection/score and commit it", other, len(samples))
	}
}

// TestUnseenAuthors holds what the model is worth on texts of somebody that it knows nothing of.
// Who changes features or settings compares the figures in the log.
func TestUnseenAuthors(t *testing.T) {
	testskip.LongWithoutRace(t, "trains a model for each author")
	var orders, found, fair, wrong int
	for _, r := range validateByAuthor(tables(t)) {
		t.Log(r)
		orders, found = orders+r.orders, found+r.learnt.found
		fair, wrong = fair+r.fair, wrong+r.learnt.wrong
	}
	if got := shareOf(found, orders); got < floorFound {
		t.Errorf("the model finds %.3f of the orders of authors that it has not seen, the floor is %v", got, floorFound)
	}
	if got := shareOf(wrong, fair); got > ceilingWrong {
		t.Errorf("the model stops %.3f of the honest texts of authors that it has not seen, the ceiling is %v", got, ceilingWrong)
	}
}

// At the threshold that the scan uses the model finds 0.72 and stops 0.051, the hard twins of
// tables c and e included.
const (
	floorFound   = 0.68
	ceilingWrong = 0.06
)
