package learn

import (
	"fmt"
	"slices"
	"strings"

	"hermes/skills/procedure"
)

// Metric is something that was measured of the turns that used a text.
type Metric struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Of    int     `json:"of"` // turns
}

// Words tell of a metric.
func (m Metric) Words() string { return fmt.Sprintf("%s %.4g (%d)", m.Name, m.Value, m.Of) }

// measures are how each word of track_metrics is measured; ok is false for a turn that says nothing
// of it. What the words mean stands in skills/procedure/metrics.yaml.
var measures = map[string]func(x Experience, key string) (value float64, ok bool){
	"success_rate": func(x Experience, _ string) (float64, bool) { return share(x.Outcome == Good), x.Outcome != Unknown },
	"failure_rate": func(x Experience, _ string) (float64, bool) { return share(x.Outcome == Bad), x.Outcome != Unknown },
	"user_acceptance": func(x Experience, _ string) (float64, bool) {
		return share(!slices.ContainsFunc(x.Signals, func(s Signal) bool { return s.Says == Bad && s.byPerson() })), x.tellsAcceptance()
	},
	"duration": func(x Experience, _ string) (float64, bool) { return x.Took.Seconds(), x.Ended },
	"steps": func(x Experience, key string) (float64, bool) {
		return countSteps(x, key, func(s RunStep) bool { return s.Status != procedure.StatusSkipped })
	},
	"failed_steps": func(x Experience, key string) (float64, bool) {
		return countSteps(x, key, func(s RunStep) bool { return s.Status == procedure.EndFailed })
	},
}

// tellsAcceptance reports whether a turn says if the person took what was done. One does not whose
// run was refused, nor one of an older version, which kept what the person did and not who it was.
func (x Experience) tellsAcceptance() bool {
	unsigned := func(s Signal) bool { return s.Says == Bad && !s.byPerson() && strings.HasPrefix(s.Why, "the person") }
	refused := func(c Step) bool { return c.Run != nil && c.Run.End == procedure.EndRefused }
	return !slices.ContainsFunc(x.Signals, unsigned) && !slices.ContainsFunc(x.Calls, refused)
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// countSteps counts steps of the runs of a procedure in a turn.
func countSteps(x Experience, key string, counts func(RunStep) bool) (n float64, ok bool) {
	for _, c := range x.Calls {
		if c.Run == nil || c.Run.key() != key {
			continue
		}
		ok = true
		for _, s := range c.Run.Steps {
			n += share(counts(s))
		}
	}
	return n, ok
}

// measureText measures the turns that are kept which used a text.
func (st *state) measureText(key, hash string, names []string) (out []Metric) {
	for _, name := range names {
		of := measures[name]
		if of == nil {
			continue // lint says it
		}
		m := Metric{Name: name}
		sum := 0.0
		for _, x := range st.Experiences {
			if !x.used(key, hash) {
				continue
			}
			if v, ok := of(x, key); ok {
				sum, m.Of = sum+v, m.Of+1
			}
		}
		if m.Of > 0 {
			m.Value = sum / float64(m.Of)
			out = append(out, m)
		}
	}
	return out
}

// Measure returns what track_metrics of a procedure asks for, by the hashes of the texts that turns
// used which are kept. It is empty for a skill.
func (l *Learner) Measure(key string) (map[string][]Metric, error) {
	t := l.ownText(key)
	if t == nil {
		return nil, nil
	}
	st, err := l.file.readState()
	if err != nil {
		return nil, err
	}
	out, names := map[string][]Metric{}, t.metricsOf()
	for hash := range st.Outcomes[key] {
		out[hash] = st.measureText(key, hash, names)
	}
	return out, nil
}
