package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/crash"
	"hermes/core/deadline"
)

// Errand is one request beside a conversation: no tools, and nobody watches the answer come.
type Errand struct {
	// Request is what is asked at a leg.
	Request func(l Leg) Request
	// Bytes of the answer that are read; 0: all. More is no answer to what was asked.
	Bytes int
	// Fit says why an answer is of no use; the next model is asked then. nil: every text will do.
	Fit func(text string) error
	// Spent hears what a call used, whatever came of it; nil: nobody.
	Spent func(l Leg, u chat.Usage)
	// Left hears of every failed call; nil: nobody.
	Left func(s Step)
}

// Aside begins a Route for work beside a conversation: along refs in their order, each as Resolve
// takes it. With own, that model and the fallbacks of the settings stand in behind them. What is no
// language model is left out. The error is that of every model, when none of them can be asked.
func (s *Set) Aside(ctx context.Context, refs []string, own string, most int) (*Route, error) {
	refs = slices.Clone(refs)
	if own != "" {
		refs = append(append(refs, own), s.settings.Fallbacks...)
	}
	r := s.newRoute(nil, most)
	var wrong []error
	for _, ref := range refs {
		p, m, err := s.Resolve(ctx, ref)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("%s: %w", ref, err))
		case p.Name() == Offline:
			wrong = append(wrong, fmt.Errorf("%s is no language model", ref))
		case !slices.Contains(r.refs, p.Name()+"/"+m.ID):
			r.refs = append(r.refs, p.Name()+"/"+m.ID)
		}
	}
	if len(r.refs) == 0 {
		return nil, errors.Join(append(wrong, errNoAside)...)
	}
	r.at = -1
	if r.moveToNext(ctx, nil) {
		return r, nil
	}
	return r, r.openStop(ctx, 0) // all of them rest: the first is as good as any
}

var errNoAside = errors.New("no model is set up for it")

// Run does an errand, with the retries, keys and fallbacks of a turn. The error is that of every
// model that was given up, the last one as an *Error.
func (r *Route) Run(ctx context.Context, e Errand) (string, error) {
	var failed []error
	for {
		text, late, err := r.callOnce(ctx, e)
		if err == nil {
			return text, nil
		}
		if ctx.Err() != nil {
			return "", errors.Join(append(failed, err)...)
		}
		step := r.stepAfter(ctx, err, late)
		if e.Left != nil {
			e.Left(step)
		}
		if step.Moved || !step.Again {
			failed = append(failed, err)
		}
		if !step.Again {
			return "", errors.Join(failed...)
		}
		r.whole = step.Whole
		deadline.Sleep(ctx, step.Wait)
	}
}

// errUseless is an answer that came, and is of no use.
type errUseless struct{ why *Error }

func (e errUseless) Error() string { return e.why.Error() }
func (e errUseless) Unwrap() error { return e.why }

// stepAfter says what to do after a call that brought nothing. Late says that it took more than its
// share of the time.
func (r *Route) stepAfter(ctx context.Context, err error, late bool) Step {
	failed := asError(err, r.leg)
	switch useless := (errUseless{}); {
	case errors.As(err, &useless):
		r.Worked() // the server is well
		return r.passOn(ctx, useless.why)
	case failed.Class == ClassFormat: // another server may take it
		return r.passOn(ctx, failed)
	case late:
		return r.Leave(ctx, failed)
	}
	step := r.Failed(ctx, failed)
	if until, ok := ctx.Deadline(); ok && step.Again && time.Until(until) < step.Wait {
		return r.Leave(ctx, failed)
	}
	return step
}

// passOn moves on from a model that need not rest.
func (r *Route) passOn(ctx context.Context, failed *Error) Step {
	from := r.leg
	r.Close()
	moved := r.set != nil && r.moveToNext(ctx, nil)
	return Step{Again: moved, Moved: moved, From: from, Cause: failed}
}

// callOnce is one call. While there is another model to ask it has half of the time that is left.
func (r *Route) callOnce(ctx context.Context, e Errand) (text string, late bool, err error) {
	call, cancel := ctx, context.CancelFunc(func() {})
	if until, ok := ctx.Deadline(); ok && r.lastStop() > r.at {
		call, cancel = context.WithTimeout(ctx, time.Until(until)/2)
	}
	defer cancel()
	q := e.Request(r.leg)
	q.NoStream = q.NoStream || r.whole
	text, usage, err := hearAnswer(call, r.leg.Provider, q, e.Bytes)
	if e.Spent != nil && !usage.Empty() {
		e.Spent(r.leg, usage)
	}
	switch {
	case err != nil && call.Err() != nil && ctx.Err() == nil:
		return "", true, &Error{
			Class: ClassTimeout, Provider: r.leg.Provider.Name(), Model: r.leg.Model.ID, Err: err,
			Message: "it took more than half of the time that was left", Hint: "it may pass",
		}
	case err != nil:
		return "", false, err
	case strings.TrimSpace(text) == "":
		return "", false, r.uselessAnswer(errors.New("it answered with nothing"))
	}
	if e.Fit != nil {
		if err := e.Fit(text); err != nil {
			return "", false, r.uselessAnswer(err)
		}
	}
	r.Worked()
	return text, false, nil
}

func (r *Route) uselessAnswer(why error) error {
	return errUseless{&Error{
		Class: ClassUnknown, Provider: r.leg.Provider.Name(), Model: r.leg.Model.ID, Message: why.Error(), Err: why,
		Hint: "another model may do it",
	}}
}

func asError(err error, l Leg) *Error {
	var failed *Error
	if errors.As(err, &failed) {
		return failed
	}
	return &Error{Class: ClassUnknown, Provider: l.Provider.Name(), Model: l.Model.ID, Message: err.Error(), Err: err}
}

// heard is an answer as far as it came.
type heard struct {
	text  string
	usage chat.Usage
	err   error
}

// hearAnswer is the text of an answer, the first bytes of it when bytes is not 0. A provider that
// ignores its context is left behind.
func hearAnswer(ctx context.Context, p Provider, q Request, bytes int) (string, chat.Usage, error) {
	out := make(chan heard, 1)
	crash.Go("errand "+p.Name(), func() { out <- listenTo(ctx, p, q, bytes) })
	select {
	case h := <-out:
		return h.text, h.usage, h.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(time.Second)
	defer grace.Stop()
	select {
	case h := <-out:
		return h.text, h.usage, h.err
	case <-grace.C:
		return "", chat.Usage{}, Transport(p.Name(), q.Model, ctx.Err())
	}
}

func listenTo(ctx context.Context, p Provider, q Request, bytes int) (h heard) {
	var said strings.Builder
	for chunk, err := range p.Stream(ctx, q) {
		switch {
		case err != nil:
			return heard{usage: h.usage, err: err}
		case chunk.Kind == ChunkText:
			said.WriteString(chunk.Text)
		case chunk.Kind == ChunkEnd:
			h.usage = chunk.Usage
		}
		if bytes > 0 && said.Len() > bytes {
			break // the rest is not read
		}
	}
	h.text = said.String()
	return h
}
