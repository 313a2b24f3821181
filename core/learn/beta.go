package learn

import "math"

// probabilityWorse is the probability that the new rate of good outcomes lies below the old one,
// each known by its counts alone (Beta with a uniform prior).
func probabilityWorse(newGood, newBad, oldGood, oldBad float64) float64 {
	const steps = 1000
	below, sum := 0.0, 0.0 // of the new rate up to x; of the answer
	newAt, oldAt := betaDensity(newGood+1, newBad+1), betaDensity(oldGood+1, oldBad+1)
	total := 0.0
	for i := range steps {
		x := (float64(i) + 0.5) / steps
		n, o := newAt(x)/steps, oldAt(x)/steps
		sum += o * (below + n/2)
		below += n
		total += o
	}
	if below == 0 || total == 0 {
		return 0
	}
	return sum / (below * total)
}

func betaDensity(a, b float64) func(x float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return func(x float64) float64 {
		return math.Exp(lab - la - lb + (a-1)*math.Log(x) + (b-1)*math.Log(1-x))
	}
}
