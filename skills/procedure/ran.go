package procedure

import (
	"context"
)

// How a run ended, as exit codes and postconditions say it.
const (
	EndDone        = "done"
	EndFailed      = "failed"       // a step failed, or took too long
	EndUnmet       = "unmet"        // a postcondition did not hold
	EndUnchecked   = "unchecked"    // a postcondition could not be asked
	EndNotBegun    = "not begun"    // a precondition did not hold, or a parameter is missing
	EndRefused     = "refused"      // somebody said no, or nobody was there to say yes
	EndInterrupted = "interrupted"  // the turn was stopped
	maxReported    = 2 * maxSteps   // steps that are told of a run
	maxStepSaid    = 600            // bytes
	StatusSkipped  = "skipped"      // of a step: its condition did not hold
	statusFailed   = "failed"       // of a step
	statusRefused  = EndRefused     // of a step
	statusStopped  = EndInterrupted // of a step
)

// Ran is a step as it came out: what a run is judged by.
type Ran struct {
	Name    string
	Status  string // done, skipped, failed, refused, interrupted
	Command string // of a command step, as it ran
	Exit    *int   // of a command step
	Said    string // the end of why it failed
}

// endError is an error that says how a run ends by it.
type endError struct {
	error
	end string
}

func (e endError) Unwrap() error { return e.error }

// endOf is how a run ends with an error.
func endOf(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return EndDone
	case ctx.Err() != nil: // of the turn, not of a clock
		return EndInterrupted
	default:
		return saidEnd(err)
	}
}

// saidEnd is how an error says that a run ends. Of several at once a failure counts most, and a
// refusal least: what failed did so whatever was refused beside it.
func saidEnd(err error) string {
	if said, ok := err.(endError); ok { //nolint:errorlint // each layer is looked at
		return said.end
	}
	switch x := err.(type) { //nolint:errorlint // the same
	case interface{ Unwrap() []error }:
		end := EndFailed
		for i, part := range x.Unwrap() {
			if of := saidEnd(part); of == EndFailed {
				return of
			} else if i == 0 || end == EndRefused {
				end = of
			}
		}
		return end
	case interface{ Unwrap() error }:
		if inner := x.Unwrap(); inner != nil {
			return saidEnd(inner)
		}
	}
	return EndFailed
}

// noteRan keeps how a step came out.
func (r *Run) noteRan(turn context.Context, s *stepRun, status string, err error) {
	out := Ran{Name: s.step.Name, Status: status, Command: s.command, Exit: s.exit}
	if err != nil {
		out.Status = map[string]string{EndRefused: statusRefused, EndInterrupted: statusStopped}[endOf(turn, err)]
		if out.Status == "" {
			out.Status = statusFailed
		}
		out.Said = err.Error()
		if n := len(out.Said) - maxStepSaid; n > 0 {
			out.Said = "…" + out.Said[n:]
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ran) < maxReported {
		r.ran = append(r.ran, out)
	}
}
