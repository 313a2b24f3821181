package injection

import (
	"slices"

	"hermes/core/injection/score"
)

// doubt is the score below which a line reads so plainly honest that a rule which only knows a
// phrase is not believed. At this value no order of the unseen tables is lost.
const doubt = -1.0

// phrases are the rules that know phrases which honest texts hold as well: "do not tell the user
// that it is safe before you have tried".
var phrases = []string{"concealment", "approval", "override", "theft", "exfiltration", "agent settings"}

// dropHonest leaves out the hits of rules in lines that read plainly honest.
func (f folded) dropHonest(s string, in []Finding) []Finding {
	if len(in) == 0 || f.noise {
		return in
	}
	var all []Sentence
	judge := score.NewJudge(nil)
	return slices.DeleteFunc(in, func(h Finding) bool {
		if !slices.Contains(phrases, h.Rule) {
			return false
		}
		if all == nil {
			all = f.splitSentences(s)
		}
		top, n := -9.0, 0
		for _, p := range all {
			if p.Start < h.End && h.Start < p.End {
				part := judge.Part(p.Text)
				n += part.Tokens
				top = max(top, judge.Score(part))
			}
		}
		return n >= fewWords && top < doubt
	})
}
