package injection

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"hermes/core/injection/score"
)

// Rules know orders by their words. Orders in words that nobody thought of are known by how they
// read: package score judges each line of a text, each run of sentences in a long one, and a short
// text as a whole.

// Threshold is the score above which a short text that is to be kept is a hit.
const Threshold = 0.3

// care is how much a text must read like an order to be a hit. The scores were measured by leaving
// one author out (train/main.go).
type care struct {
	whole  float64 // of a short text, or of the line that is all of it
	within float64 // of a part of a longer text: many parts have many chances to look bad by accident
	cued   float64 // of such a part that names what orders to an agent are about (see cues in rules.yaml)
}

var (
	strict  = care{whole: Threshold, within: 1.0, cued: 0.9}
	relaxed = care{whole: 1.5, within: 1.9, cued: 1.2}
	never   = care{}
)

const (
	shortText  = 150 // words of a text that is judged as a whole too
	fewWords   = 5   // below which there is nothing to judge
	someWords  = 9   // below which chance weighs more
	orderRule  = "order"
	orderScore = "reads like an order to the agent"
)

// findOrders are the parts of a reading of s that read like orders.
func (f folded) findOrders(s string, c care) []Finding {
	if c == never || f.noise {
		return nil
	}
	all := f.splitSentences(s)
	judge := score.NewJudge(nil)
	parts := make([]score.Part, len(all))
	words := 0
	for i, p := range all {
		if !isBlockMark(p.Text) {
			parts[i] = judge.Part(p.Text)
		}
		words += parts[i].Tokens
	}
	if words < fewWords {
		return nil
	}
	if words <= shortText {
		if z := lengthAdjusted(judge, sumParts(parts)); z > c.whole {
			return []Finding{bestRun(judge, all, parts, z)}
		}
	}
	var out []Finding
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && !all[to].Line {
			to++
		}
		if hit, ok := judgeLine(judge, all[from:to], parts[from:to], c); ok && isLocated(hit, sumParts(parts[from:to])) {
			out = append(out, hit)
		}
		from = to
	}
	return out
}

// judgeLine judges the sentences of one line, as a whole when it is short, and by its windows.
func judgeLine(judge *score.Judge, all []Sentence, parts []score.Part, c care) (Finding, bool) {
	whole := sumParts(parts)
	if whole.Tokens < fewWords {
		return Finding{}, false
	}
	top := c.within - 1
	if whole.Tokens <= shortText {
		top = lengthAdjusted(judge, whole)
	}
	tokens := make([]int, len(parts))
	for i := range parts {
		tokens[i] = parts[i].Tokens
	}
	score.Windows(tokens, func(i, j int) {
		if w := sumParts(parts[i:j]); w.Tokens >= fewWords {
			top = max(top, lengthAdjusted(judge, w))
		}
	})
	if top <= c.cued || top <= c.within && !slices.ContainsFunc(all, hasCue) {
		return Finding{}, false
	}
	return bestRun(judge, all, parts, top), true
}

// hasCue reports whether a sentence names what orders to an agent are about.
func hasCue(s Sentence) bool { return cues().MatchString(s.Text) }

// isLocated reports whether a hit is where its words are: a reading that lost the place of its
// words points at all of a text, and nobody is to lose a document for a guess at one line.
func isLocated(hit Finding, p score.Part) bool {
	return hit.End-hit.Start <= min(4000, 200+40*p.Tokens)
}

// lengthAdjusted is the score, less what a text is too short to be sure of.
func lengthAdjusted(judge *score.Judge, p score.Part) float64 {
	return judge.Score(p) - 0.15*float64(max(0, someWords-p.Tokens))
}

// bestRun is the hit for a text that scored z: the run of sentences that reads most like an order.
func bestRun(judge *score.Judge, all []Sentence, parts []score.Part, z float64) Finding {
	tokens := make([]int, len(parts))
	for i := range parts {
		tokens[i] = parts[i].Tokens
	}
	from, to, top := 0, len(all), 0.0
	score.Windows(tokens, func(i, j int) {
		if w := sumParts(parts[i:j]); w.Tokens >= fewWords {
			if s := judge.Score(w); s > top {
				from, to, top = i, j, s
			}
		}
	})
	p := score.Probability(max(z, top))
	return Finding{
		Rule: orderRule, Reason: fmt.Sprintf("%s (score %.2f)", orderScore, min(p, 0.99)), Start: all[from].Start, End: all[to-1].End, Score: p,
	}
}

func sumParts(parts []score.Part) score.Part {
	var p score.Part
	for _, q := range parts {
		p = p.Add(q)
	}
	return p
}

// isBlockMark tells the marks that Block leaves in a text.
func isBlockMark(sentence string) bool {
	inner, ok := strings.CutPrefix(sentence, "[blocked: ")
	if !ok {
		return false
	}
	inner, ok = strings.CutSuffix(inner, "]")
	return ok && (reasons()[inner] || strings.HasPrefix(inner, orderScore+" (score 0.") && len(inner) == len(orderScore)+len(" (score 0.99)"))
}

var reasons = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, r := range rules() {
		out[normalise(r.reason).text] = true
	}
	return out
})

// Rules is Scan without the model: for its training, which is measured beside them.
func Rules(s string) []Finding { return scanText(s, never) }
