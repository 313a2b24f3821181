package learn

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Spent is what models cost today, in millionths of a US dollar.
type Spent struct {
	Reviews int64
	All     int64 // reviews too
}

// tooSoon is the one ceiling that is not worth telling: it is gone in a while.
const tooSoon = "the last review was a moment ago"

// whyNoReview says why no review may begin now; "" when one may.
func (l *Learner) whyNoReview(ctx context.Context, st *state, asked bool) string {
	s, now := l.o.Settings(), l.o.Now()
	st.Reviews = slices.DeleteFunc(st.Reviews, func(t time.Time) bool { return now.Sub(t) > 24*time.Hour })
	n := len(st.Reviews)
	switch why := l.costGate(ctx, s); {
	case st.countOpen() >= s.Open:
		return fmt.Sprintf("%d proposals wait for a word; `hermes learn` shows them", st.countOpen())
	case n >= s.PerDay:
		return fmt.Sprintf("there were %d reviews today, at most learning.max_reviews_per_day", n)
	case why != "":
		return why
	case !asked && n > 0 && now.Sub(st.Reviews[n-1]) < s.Every:
		return tooSoon
	default:
		return ""
	}
}

// costGate says why reviews have cost enough today. The first one of a day may cost more than its
// share of what little was spent by then; the next one waits until it is a share again.
func (l *Learner) costGate(ctx context.Context, s Settings) string {
	if l.o.Spent == nil {
		return ""
	}
	spent, err := l.o.Spent(ctx)
	switch {
	case err != nil && (s.Cost > 0 || s.Share > 0):
		return "what models cost today is not known, so that learning.max_cost_per_day and max_share_of_cost cannot be kept: " + oneLine(err.Error())
	case s.Cost > 0 && dollars(spent.Reviews) >= s.Cost:
		return "reviews have cost as much today as learning.max_cost_per_day allows"
	case s.Share > 0 && float64(spent.Reviews) > s.Share*float64(spent.All):
		return fmt.Sprintf("reviews are %.0f %% of what was spent today, at most learning.max_share_of_cost (%.4g %%)",
			100*float64(spent.Reviews)/float64(max(spent.All, 1)), 100*s.Share)
	default:
		return ""
	}
}

func dollars(micro int64) float64 { return float64(micro) / 1e6 }

// Status is how learning stands.
type Status struct {
	Mode    Mode       `json:"mode"`
	Reviews int        `json:"reviews"` // in the last 24 hours
	PerDay  int        `json:"max_reviews_per_day"`
	Last    *time.Time `json:"last_review,omitempty"`
	Next    *time.Time `json:"next_review,omitempty"` // the earliest moment, where the interval is not over
	Cost    *float64   `json:"cost,omitempty"`        // of reviews today, US dollars; nil: not known
	AllCost *float64   `json:"all_cost,omitempty"`    // of everything today
	MaxCost float64    `json:"max_cost_per_day"`
	Share   float64    `json:"max_share_of_cost"`
	Open    int        `json:"open"`
	MaxOpen int        `json:"max_open"`
	Due     int        `json:"due"`   // reviews that are wanted
	Turns   int        `json:"turns"` // that are kept
	Marked  int        `json:"marked"`
	// Ceiling says why nothing more is learned now; "" when the next review may begin.
	Ceiling string `json:"ceiling,omitempty"`
}

// Status tells how learning stands, and whether a ceiling is reached.
func (l *Learner) Status(ctx context.Context) (Status, error) {
	st, err := l.file.readState()
	if err != nil {
		return Status{}, err
	}
	s := l.o.Settings()
	out := Status{
		Mode: s.Mode, PerDay: s.PerDay, MaxCost: s.Cost, Share: s.Share, Open: st.countOpen(), MaxOpen: s.Open, Due: len(st.Due), Turns: len(st.Experiences),
		Ceiling: l.whyNoReview(ctx, st, true),
	}
	if n := len(st.Reviews); n > 0 {
		last := st.Reviews[n-1]
		out.Reviews, out.Last = n, &last
		if next := last.Add(s.Every); next.After(l.o.Now()) {
			out.Next = &next
		}
	}
	for _, x := range st.Experiences {
		if slices.ContainsFunc(x.Signals, isMark) {
			out.Marked++
		}
	}
	if l.o.Spent != nil {
		if spent, err := l.o.Spent(ctx); err == nil { // else the ceiling says it
			reviews, all := dollars(spent.Reviews), dollars(spent.All)
			out.Cost, out.AllCost = &reviews, &all
		}
	}
	return out, nil
}

// Words are the status in lines for people.
func (s Status) Words() []string {
	mode := map[Mode]string{Off: "nothing is learned", Propose: "what is learned waits for your word", Auto: "what is clean is done at once"}[s.Mode]
	out := []string{fmt.Sprintf("mode %s: %s", s.Mode, mode)}
	if s.Ceiling != "" {
		out = append(out, "a ceiling is reached: "+s.Ceiling)
	}
	looks := fmt.Sprintf("%d of %d looks in the last 24 hours", s.Reviews, s.PerDay)
	if s.Next != nil {
		looks += ", the next not before " + s.Next.Local().Format("15:04")
	}
	out = append(out, looks)
	if s.Cost != nil {
		cost := fmt.Sprintf("they cost $%.4f today", *s.Cost)
		if s.MaxCost > 0 {
			cost += fmt.Sprintf(", at most $%.2f", s.MaxCost)
		}
		if s.Share > 0 {
			cost += fmt.Sprintf(" and %.4g %% of all ($%.4f)", 100*s.Share, *s.AllCost)
		}
		out = append(out, cost)
	}
	return append(out, fmt.Sprintf("%d of %d proposals wait, %d looks are wanted, %d turns are kept, %d marked by you", s.Open, s.MaxOpen, s.Due, s.Turns, s.Marked))
}
